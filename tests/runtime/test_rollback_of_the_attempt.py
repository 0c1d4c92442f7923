"""An automatic rollback takes back the attempt: sources and tracked files, never what calls produced."""

import subprocess
from itertools import count

import pytest

from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.core import LADDER, ManualClock
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.runtime.workspace import is_source
from tests.runtime.scripted import START

FAILURE = "FAILED tests/test_a.py::test_total - assert 5 == 6\n1 failed, 3 passed in 0.1s"
ROLLBACK = LADDER[3]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/app.py", True),
        ("Makefile", True),
        ("notes/plan.md", True),
        ("build/app.py", False),
        ("a.o", False),
        ("results.json", False),
        ("node_modules/x/index.js", False),
        (".venv/lib/x.py", False),
        ("data/rows.csv", False),
    ],
)
def test_which_files_are_sources(path, source):
    assert is_source(path) is source


def stubborn(tmp_path, change):
    """An agent that runs one failing check until it is stopped; `change` is what each of its edits does to the disk."""
    work, clock = tmp_path / "work", ManualClock(START)
    work.mkdir()
    (work / "app.py").write_text("value = 0\n")
    (work / "rows.dat").write_text("0\n")
    for command in (("init", "-q"), ("add", "rows.dat")):
        subprocess.run(("git", *command), cwd=work, check=True)
    with Supervisor.open(
        task="t", workspace=work, store=Store(tmp_path / "runs"), checkpoint_store=tmp_path / "kept", clock=clock,
        config=Config(runtime=Runtime(step_timeout_ms=60_000)),
    ) as supervisor:  # fmt: skip
        for number in count():
            for command, text in ((f"sed -i s/a/{number}/ app.py", ""), ("pytest tests/test_a.py", FAILURE)):
                clock.advance(15)
                if supervisor.before(supervisor.call("bash", {"command": command})).action not in (
                    "proceed",
                    "rewrite",
                ):
                    continue
                if not text:
                    change(work, number)
                supervisor.after(supervisor.result(text, error=bool(text), exit_code=int(bool(text))))
            made = [one for one in supervisor.pipeline.state(clock.time()).interventions if one.type == ROLLBACK]
            done = [one for one in made if one.outcome != "held_back"]
            if done or number > 60:
                break
    return work, done


def build_and_edit(work, number):
    (work / "app.py").write_text(f"value = {number}\n")
    (work / "build").mkdir(exist_ok=True)
    (work / "build" / f"part{number}.o").write_bytes(b"object" * number)


def test_sources_go_back_and_what_the_build_made_stays(tmp_path):
    work, (made, *_) = stubborn(tmp_path, build_and_edit)
    assert made.outcome in ("pending", "failure")
    assert (work / "app.py").read_text() != f"value = {len(list((work / 'build').iterdir())) - 1}\n"
    assert len(list((work / "build").iterdir())) > 3


def test_without_an_attempt_the_rung_is_skipped_and_says_so(tmp_path):
    def build(work, number):
        (work / "build").mkdir(exist_ok=True)
        (work / "build" / f"part{number}.o").write_bytes(b"object" * number)

    work, (made, *_) = stubborn(tmp_path, build)
    assert (made.outcome, made.reason) == ("not_applied", "nothing to go back to")
    assert len(list((work / "build").iterdir())) > 3


def test_a_file_that_git_tracks_is_part_of_the_attempt_whatever_its_name(tmp_path):
    _, (made, *_) = stubborn(tmp_path, lambda work, number: (work / "rows.dat").write_text(f"{number}\n"))
    assert made.outcome in ("pending", "failure")
