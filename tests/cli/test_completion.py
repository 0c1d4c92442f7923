"""Tab offers what there is: runs by name, those that can be steered, open incidents; and never an error."""

from pathlib import Path

from interlock.config import Config
from interlock.journal import Store
from interlock.runtime import Supervisor
from tests.cli.calling import interlock


def offered(home: Path, *words: str) -> list[str]:
    asked = {
        "_INTERLOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("interlock", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = interlock(home=home, **asked)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_runs_are_offered_by_name_and_the_live_ones_to_those_who_steer(tmp_path: Path) -> None:
    store = Store(tmp_path / "state" / "interlock" / "runs")
    with Supervisor.open(name="fix-old", config=Config(), store=store):
        pass
    with Supervisor.open(name="fix-tests", config=Config(), store=store) as live:
        assert offered(tmp_path, "show", "") == ["fix-tests", "fix-old"]
        assert offered(tmp_path, "report", "fix-o") == ["fix-old"]
        assert offered(tmp_path, "pause", "") == ["fix-tests"]
        assert offered(tmp_path, "cancel", live.run.spec.run_id[:6]) == [live.run.spec.run_id]
    assert offered(tmp_path, "pause", "") == []
    assert offered(tmp_path, "incident", "show", "") == []


def test_a_broken_configuration_offers_what_it_can(tmp_path: Path) -> None:
    (tmp_path / "interlock.yaml").write_text("store: {dir: [\n")
    assert offered(tmp_path, "show", "") == []
