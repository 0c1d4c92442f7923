"""Which level a run gets: guard where it works, else a clear line; guard by name: or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.adapters.command.containment_choice import decide_containment, resolve
from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.contain import bubblewrap_check as bubblewrap
from interlock.core import BadInput

from ..e2e.running import Place


def asked(level: str) -> Config:
    return Config(runtime=Runtime(contain=level))  # type: ignore[arg-type]


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)


@pytest.mark.usefixtures("no_bubblewrap")
def test_without_bubblewrap_the_run_says_what_is_missing_and_how_to_get_it() -> None:
    decided = decide_containment(asked("auto"))
    assert decided.level == "off"
    assert "bubblewrap is not installed" in decided.line and "apt-get install bubblewrap" in decided.line


@pytest.mark.usefixtures("no_bubblewrap")
def test_guard_that_was_asked_for_and_cannot_be_had_is_an_error() -> None:
    with pytest.raises(BadInput, match="bubblewrap is not installed") as error:
        decide_containment(asked("guard"))
    assert error.value.exit_status == 2


def test_a_bubblewrap_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: str(fake))
    assert "No permissions to create new namespace" in bubblewrap.why_not()


def test_guard_is_the_default_where_it_works_and_off_says_nothing() -> None:
    assert decide_containment(Config()) == decide_containment(asked("auto"))
    assert decide_containment(Config()).level == ("off" if bubblewrap.why_not() else "guard")
    assert (decide_containment(asked("off")).level, decide_containment(asked("off")).line) == ("off", "")


@pytest.mark.parametrize(("attended", "answer"), [(True, "pause"), (False, "stop")])
def test_under_guard_tampering_pauses_where_a_person_is_there_and_stops_where_not(attended: bool, answer: str) -> None:
    assert resolve(Config(), "guard", attended=attended).runtime.on_tamper == answer
    assert resolve(Config(), "off", attended=attended).runtime.on_tamper == "warn"
    chosen = Config(runtime=Runtime(on_tamper="pause"))
    assert resolve(chosen, "guard", attended=attended).runtime.on_tamper == "pause"


def test_the_command_does_not_start_where_guard_cannot_work(place: Place) -> None:
    tools = place.root / "tools"
    tools.mkdir()
    for name in ("sh", "touch"):
        (tools / name).symlink_to(f"/bin/{name}")
    environment = {**place.environment, "PATH": str(tools)}
    words = place.command("touch", "ran", options=("--contain", "guard"))
    run = place.begin(words, env=environment)
    _, err = run.communicate(timeout=150)
    assert run.returncode == 2 and b"bubblewrap is not installed" in err
    assert not (place.workspace / "ran").exists()
    run = place.begin(place.command("touch", "ran", options=("--contain", "auto")), env=environment)
    _, err = run.communicate(timeout=150)
    assert run.returncode == 0 and b"not contained" in err.splitlines()[0]
    assert (place.workspace / "ran").exists()


def test_an_unknown_level_and_an_unknown_name_are_errors(place: Place) -> None:
    status, _, err = place.run("true", options=("--contain", "moat"))
    assert status == 2 and b"moat" in err
    run = place.begin(place.command("true"), env={**place.environment, "INTERLOCK_CONTAIN__ALLOW": "[dokcer]"})
    _, err = run.communicate(timeout=150)
    assert run.returncode == 2 and b"contain.allow" in err


def test_a_fence_without_its_network_or_the_proxy_is_an_error_before_the_command_starts(place: Place) -> None:
    """A bubblewrap that can build everything but a network, and an interpreter without the extra `proxy`."""
    if bubblewrap.why_not(fenced=True):
        pytest.skip("no fence here")
    tools = place.root / "tools"
    tools.mkdir()
    no_network = (
        '#!/bin/sh\ncase " $* " in *" --unshare-net "*)'
        " echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1;; esac\n"
        f'exec {bubblewrap.find_bubblewrap()} "$@"\n'
    )
    (tools / "bwrap").write_text(no_network)
    (tools / "bwrap").chmod(0o755)
    path = f"{tools}:{place.environment['PATH']}"
    words = place.command("touch", "ran", options=("--contain", "fence"))
    _, err = (run := place.begin(words, env={**place.environment, "PATH": path})).communicate(timeout=150)
    assert run.returncode == 2, err
    assert b"fence does not work here: bwrap: loopback: Failed RTM_NEWADDR" in err and b"--contain off" in err
    assert not (place.workspace / "ran").exists() and place.store.runs() == []
