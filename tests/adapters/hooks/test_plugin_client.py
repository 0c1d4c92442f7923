"""An agent client that a package of its own adds: recognised, wired in, supervised, listed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.adapters.hooks.clients import adapter_named, hook_clients, new_dialects, plan_install
from interlock.adapters.hooks.recognition import recognise
from interlock.core import BadInput

PACKAGE = '''
"""A client whose hook is a command in an environment variable."""

from interlock.adapters.hooks import Dialect, HookEvent, HookClient, HookWords, RunAddress, Wired, hook_command
from interlock.core import Tool


class Tiny:
    name = "tiny-agent"
    capabilities = frozenset({"deny", "hold", "stop"})

    def read(self, payload):
        call = Tool("bash", {"command": payload["command"]}, payload["id"])
        return HookEvent(client=self.name, name="call", moment="before", session="s", tool=call)

    def reply(self, event, decision):
        return {"run": decision.action in ("proceed", "rewrite"), "why": decision.reason}

    def carries(self, event):
        return False

    def hear(self, line):
        return None


class Wiring:
    client = Tiny.name

    def __init__(self, command, arguments):
        self._argv, self.task = (*command, *arguments), " ".join(arguments)

    def wire(self, place):
        return Wired(argv=self._argv, environment={"TINY_HOOK": HookWords(hook_command(), place, self.client).line(before=True)})


client = HookClient(dialect=Tiny, program="tiny", wiring=Wiring, title="Tiny", packages=("@tiny/agent",))
'''

PROGRAM = """#!{python}
import json, os, subprocess, sys

for number, command in enumerate(sys.argv[1:]):
    call = json.dumps({{"id": f"c{{number}}", "command": command}})
    reply = subprocess.run(["sh", "-c", os.environ["TINY_HOOK"]], input=call, capture_output=True, text=True).stdout
    if json.loads(reply)["run"]:
        print("ran", command, flush=True)
    else:
        print("refused", command, flush=True)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "site"
    info = place / "tiny-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "tiny_client.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[interlock.hook_clients]\ntiny = tiny_client:client\n")
    monkeypatch.syspath_prepend(str(place))
    yield place
    sys.modules.pop("tiny_client", None)


@pytest.mark.usefixtures("package")
def test_a_client_of_an_installed_package_is_known_like_one_of_ours() -> None:
    assert [client.name for client in hook_clients()][-1] == "tiny-agent"
    assert "tiny-agent" in {dialect.name for dialect in new_dialects()}
    for argv in (("tiny", "fix", "it"), ("npx", "@tiny/agent@2", "fix", "it"), ("env", "A=b", "tiny", "fix", "it")):
        wiring = recognise(argv)
        assert wiring is not None and (wiring.client, wiring.task) == ("tiny-agent", "fix it")
    assert adapter_named("tiny-agent").capabilities == {"deny", "hold", "stop"}
    with pytest.raises(BadInput, match="no hooks to install for 'tiny-agent'"):
        plan_install("tiny-agent", None)


def test_an_entry_point_to_something_else_is_an_error_that_says_what_is_wanted(package: Path) -> None:
    list_of_points = package / "tiny-1.0.dist-info" / "entry_points.txt"
    list_of_points.write_text("[interlock.hook_clients]\ntiny = tiny_client:Tiny\n")
    with pytest.raises(BadInput) as wrong:
        hook_clients()
    assert "HookClient" in str(wrong.value.todo)


def test_calls_of_such_a_client_are_judged(package: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tiny"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "work").mkdir()
    (tmp_path / "run").mkdir(mode=0o700)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONPATH": str(package),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "run", "--", str(program), "ls", "rm -rf /"],
        cwd=tmp_path / "work",
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.splitlines() == ["ran ls", "refused rm -rf /"], done.stderr
