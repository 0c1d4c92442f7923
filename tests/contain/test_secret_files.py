"""The keys with which a person signs: a contained agent cannot read them, wherever they are; without, review says no."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from interlock.config import Config
from interlock.config.schema import Hub
from interlock.config.trust import named_files
from interlock.contain import why_not
from interlock.core import Context, Step, Tool
from interlock.core.keys import create_key, key_path, load_key
from interlock.review import Reviewer

from ..e2e.running import Place, until

READER = """
import json, pathlib, sys, time
pathlib.Path("began").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
found = {}
try:
    with pathlib.Path("keys/trusted").open("a") as trusted:
        trusted.write("a key of its own")
except OSError:
    found["refused"] = True
for name in sys.argv[1:]:
    try:
        found[name] = pathlib.Path(name).read_text()
    except OSError as error:
        found[name] = ""
pathlib.Path("found.tmp").write_text(json.dumps(found))
pathlib.Path("found.tmp").rename("found")
"""


@pytest.mark.parametrize(("level", "old"), [("guard", True), ("guard", False), ("fence", False)])
def test_a_contained_agent_reads_no_key(tmp_path: Path, level: str, old: bool) -> None:
    if missing := why_not(fenced=level == "fence"):
        pytest.skip(f"no {level} here: {missing}")
    given, creds = tmp_path / "workspace" / "keys" / "hub.key", tmp_path / "workspace" / "hub.creds"
    place = Place(
        tmp_path,
        {
            "hub": {
                "key_file": str(given),
                "credentials_file": str(creds),
                "trusted_file": str(given.with_name("trusted")),
            }
        },
    )
    creds.write_text("secret words")
    before, after = tmp_path / "config" / "interlock" / "key", tmp_path / "state" / "interlock" / "key"
    if old:
        create_key(before)
    names = [str(path) for path in (given, creds, before, after, place.store.root / ".key")]
    names.append(str(tmp_path / "interlock.yaml"))
    run = place.start(sys.executable, "-c", READER, *names, options=("--contain", level))
    until("the agent runs", (place.workspace / "began").exists)
    if not old:
        create_key(after)
    (place.workspace / "go").touch()
    _, err = run.communicate(timeout=150)
    assert run.returncode == 0, err
    found = json.loads((place.workspace / "found").read_text())
    assert [name for name in names[:-1] if found[name]] == []
    assert level == "fence" or found[names[-1]], "what is not secret can be read"
    assert load_key(given) is not None, "it was made before the agent, for nobody can hide what is not there"
    assert creds.read_text() == "secret words"
    assert found["refused"] and given.with_name("trusted").read_text() == "", "nobody inside adds a key"
    place.close()


def test_a_key_file_that_cannot_be_made_is_an_error_before_the_command_starts(tmp_path: Path) -> None:
    if missing := why_not():
        pytest.skip(f"no guard here: {missing}")
    (tmp_path / "file").touch()
    place = Place(tmp_path, {"hub": {"key_file": str(tmp_path / "file" / "key")}})
    status, _, err = place.run("touch", "ran", options=("--contain", "guard"))
    assert (status, (place.workspace / "ran").exists()) == (2, False), err
    assert b"private key" in err and b"Traceback" not in err
    place.close()


def test_the_key_is_made_in_the_state_folder_and_an_older_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert key_path() == tmp_path / "state" / "interlock" / "key"
    create_key(tmp_path / "config" / "interlock" / "key")
    assert key_path() == tmp_path / "config" / "interlock" / "key"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("cat /srv/keys/alice", "block"),
        ("cd /srv && base64 keys/alice", "block"),
        ("cp /srv/nats/hub.creds /tmp/x", "block"),
        ("cat ~/.local/state/interlock/key", "block"),
        ("cat src/alice", "allow"),
    ],
)
def test_without_a_wall_review_blocks_what_reads_a_key(command: str, verdict: str) -> None:
    config = Config(hub=Hub(key_file="/srv/keys/alice", credentials_file="/srv/nats/hub.creds"))
    reviewer = Reviewer(config.review, Context(), private=named_files(config))
    step = Step(
        index=1, run_id="r", role="assistant", kind="tool_call", tool=Tool(name="Bash", arguments={"command": command})
    )
    assert reviewer.review(step).verdict == verdict
