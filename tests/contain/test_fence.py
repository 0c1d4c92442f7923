"""Inside a fence: the workspace, the model and allowed hosts work; everything else fails, and refused hosts are told."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.contain import why_not
from interlock.contain.write_limits import limit_writes
from interlock.demo.model import ScriptedModel, turns

from ..adapters.proxy.tls_server import TlsServer
from ..e2e.running import Place, until

AGENT = Path(__file__).with_name("fenced_agent.py")
KEY = "sk-real-" + "k" * 23
pytestmark = [
    pytest.mark.skipif(bool(why_not(fenced=True)), reason=f"no fence here: {why_not(fenced=True)}"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl"),
]


class Fenced:
    """One run of the agent; what it says, and what can be seen outside."""

    def __init__(self, root: Path) -> None:
        self.server = TlsServer(root)
        hosts = [f"localhost:{self.server.port}"]
        self.place = Place(root, {"contain": {"hosts": hosts, "write": ["~/given"], "hide": ["~/private"]}})
        self.home = root / "home"
        for name in (".ssh/id_ed25519", ".netrc", "private/secret", ".claude/settings.json", "given/x"):
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text("secret words")
        (root / "outside").mkdir()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.home / "server.sock"))
        self.listener.listen()
        shutil.copy(AGENT, self.place.workspace)
        with ScriptedModel(turns("Hello.")) as self.model:
            environment = {
                **self.place.environment, "HOME": str(self.home), "ANTHROPIC_API_KEY": KEY,
                "ANTHROPIC_BASE_URL": self.model.url, "AWS_SECRET_ACCESS_KEY": "aws-secret",
            }  # fmt: skip
            model_port = self.model.url.rpartition(":")[2]
            words = self.place.command(
                sys.executable, AGENT.name, str(root / "outside"), str(self.server.port), model_port, model_port,
                options=("--contain", "fence"),
            )  # fmt: skip
            run = self.place.begin(words, env=environment)
            _, self.err = run.communicate(timeout=120)
        assert run.returncode == 0, self.err
        self.said: dict[str, Any] = json.loads((self.place.workspace / "results.json").read_text())
        self.outside = root / "outside"


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fenced]:
    made = Fenced(tmp_path_factory.mktemp("fenced"))
    yield made
    made.place.close()
    made.server.close()
    made.listener.close()


@pytest.mark.parametrize(
    "what",
    ["write in the workspace", "write to the temporary folder", "write to a given place", "write the client's own"],
)
def test_what_may_be_written_can_be(fenced: Fenced, what: str) -> None:
    assert fenced.said[what] == 1


@pytest.mark.parametrize(
    "what", ["write to the home", "write outside", "write to the machine", "write the client's settings"]
)
def test_nothing_else_can_be_written(fenced: Fenced, what: str) -> None:
    assert "Error" in str(fenced.said[what])
    assert list(fenced.outside.iterdir()) == [] and not (fenced.home / "made").exists()
    assert not Path("/etc/made").exists() and (fenced.home / ".claude/settings.json").read_text() == "secret words"


@pytest.mark.parametrize("what", ["read a key", "read credentials", "read what is hidden"])
def test_secrets_are_not_there(fenced: Fenced, what: str) -> None:
    assert "secret words" not in str(fenced.said[what])
    assert "aws-secret" not in fenced.said["environment"]


@pytest.mark.parametrize(
    "what",
    ["a service outside", "the model outside", "an address", "an address of IPv6", "a neighbour of IPv6", "a name",
     "a name server by TCP", "a name server by UDP", "every neighbour", "a proxy of its own",
     "a plain request", "a host that is not allowed", "another name behind it", "the model's host directly",
     "a server's unix socket", "a socket to the hypervisor", "the kernel's keyrings", "io_uring"],
)  # fmt: skip
def test_there_is_no_other_way_out(fenced: Fenced, what: str) -> None:
    said = str(fenced.said[what])
    assert "rror:" in said or "403" in said, said


def test_new_settings_of_a_client_are_reported(fenced: Fenced) -> None:
    """Nothing can be mounted on what is not there; the client's folder is its own to write."""
    made = str(fenced.home / ".claude" / "settings.local.json")
    assert fenced.said["make settings of the client"] == 2
    noticed = [(one["path"], one["answer"]) for one in fenced.place.records("tamper")]
    assert noticed == [(made, "warn")]


def test_an_allowed_host_and_the_model_are_reached(fenced: Fenced) -> None:
    assert fenced.said["an allowed host"] == "HTTP/1.1 200 OK"
    assert fenced.said["ask the model"] == "Hello."


def test_the_key_is_worthless_elsewhere_and_the_api_gets_the_real_one(fenced: Fenced) -> None:
    assert fenced.said["key"].startswith("interlock-") and KEY not in fenced.said["environment"]
    assert [one.headers["x-api-key"] for one in fenced.model.requests if one.method == "POST"] == [
        f"({len(KEY)} characters)"
    ]
    assert len(fenced.said["key"]) != len(KEY)
    assert not [
        path for path in fenced.place.folder.path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]


def test_refused_hosts_are_recorded_with_their_step(fenced: Fenced) -> None:
    refused = {(one["host"], one["port"]): one for one in fenced.place.records("fence")}
    assert ("example.test", 443) in refused and ("example.test", 80) in refused
    assert "TLS server name is other.test" in refused["localhost", fenced.server.port]["why"]
    assert all(isinstance(one["step"], int) for one in refused.values())
    status, out, _ = fenced.place.interlock("show", fenced.place.folder.run_id)
    assert status == 0 and b"the fence blocked example.test:443" in out


def test_the_first_line_says_what_holds_and_nothing_is_left(fenced: Fenced) -> None:
    assert fenced.err.startswith(b"interlock: fence: ")
    assert fenced.place.processes() == []


TELLING = """
import subprocess, sys
sys.path[:0] = sys.argv[1].split(":")
from interlock.adapters.command import Steps
steps = Steps()
connect = "import socket; socket.create_connection(('192.0.2.1', 443), 5)"
for words in (["touch", sys.argv[2]], ["touch", "/proc/1/x"], [sys.executable, "-c", connect], ["touch", "mine"]):
    steps.before("bash", {"command": " ".join(words)})
    done = subprocess.run(words, capture_output=True, text=True)
    steps.after(done.stderr, exit_code=done.returncode)
"""


def test_what_mounts_and_missing_routes_refuse_is_recorded_where_a_result_shows_it(place: Place) -> None:
    (place.workspace / "agent.py").write_text(TELLING)
    home = place.root / "home"
    home.mkdir()
    words = (sys.executable, "agent.py", place.environment["PYTHONPATH"], str(home / "made"))
    environment = {**place.environment, "HOME": str(home)}
    run = place.begin(place.command(*words, options=("--contain", "fence")), env=environment)
    _, err = run.communicate(timeout=150)
    assert run.returncode == 0, err
    told = [(one["step"], one["why"]) for one in place.records("fence") if not one["host"]]
    assert [step for step, _ in told] == [1, 5], told
    assert "Read-only file system" in told[0][1] and "unreachable" in told[1][1]
    status, out, _ = place.interlock("show", place.folder.run_id)
    assert status == 0 and b"the sandbox blocked an action of a tool" in out


ASKING = """
import sys
sys.path[:0] = sys.argv[1].split(":")
from interlock.adapters.command import Steps
import urllib.error, urllib.request
steps = Steps()
for _ in range(2):
    steps.before("bash", {"command": "curl http://example.test/"})
    try:
        urllib.request.urlopen("http://example.test/", timeout=60)
    except urllib.error.HTTPError as error:
        print([one["content"] for one in steps.after(str(error), exit_code=22).get("messages", ())])
"""


def test_a_host_that_is_refused_is_explained_to_the_agent_once_and_counted(place: Place) -> None:
    (place.workspace / "agent.py").write_text(ASKING)
    words = (sys.executable, "agent.py", place.environment["PYTHONPATH"])
    status, out, err = place.run(*words, options=("--contain", "fence"))
    assert status == 0, err
    first, second = out.decode().splitlines()
    assert "did not let this run reach example.test:80" in first and "contain.hosts" in first
    assert "example.test" not in second and b"example.test:80 (2 times)" in err


def test_a_killed_front_leaves_no_temporary_folder(place: Place) -> None:
    temporary = place.root / "temporary"
    temporary.mkdir()
    run = place.begin(
        place.command("sh", "-c", "touch /tmp/mine ready; exec sleep 600", options=("--contain", "fence")),
        env={**place.environment, "TMPDIR": str(temporary)},
    )
    place.wait_for("ready")
    assert "mine" in [path.name for path in temporary.glob("interlock-*/*")]
    until("the owner has the command", lambda: place.records("started"))
    run.kill()
    run.wait()
    assert place.interlock("cancel", place.folder.run_id)[0] == 0
    until("the owner has tidied up", lambda: not list(temporary.glob("interlock-*")))


def test_what_is_given_for_writing_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".aws").mkdir()
    limits = limit_writes((tmp_path / "work",), ("~/.ssh",), temporary=tmp_path, fenced=True)
    assert tmp_path / ".ssh" in limits.write and tmp_path / ".ssh" not in limits.hidden
    assert tmp_path / ".aws" in limits.hidden


def test_a_bad_host_and_a_bad_place_are_errors_before_the_command_starts(place: Place) -> None:
    for key, value in (("HOSTS", '["*"]'), ("HOSTS", '["https://x"]'), ("WRITE", '["~/x*"]'), ("HIDE", '["x"]')):
        run = place.begin(place.command("touch", "ran"), env={**place.environment, f"INTERLOCK_CONTAIN__{key}": value})
        _, err = run.communicate(timeout=150)
        assert run.returncode == 2 and f"contain.{key.lower()}".encode() in err, err
    assert not (place.workspace / "ran").exists()
