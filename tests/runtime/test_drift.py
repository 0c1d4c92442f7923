"""Drift: files that have nothing to do with what the task names, found on the disk."""

import pytest

from interlock.core import ManualClock
from interlock.journal import JournalReader, Store
from interlock.journal_records import read_body
from interlock.runtime import Supervisor
from tests.runtime.scripted import PATIENT, START

CART = "def total(cart):\n    return round(cart.price * cart.discount)\n"


def changed(tmp_path, task, files):
    """The findings about drift of a run that writes these files one after the other."""
    work, clock = tmp_path / "work", ManualClock(START)
    (work / "src").mkdir(parents=True)
    (work / "src/cart.py").write_text(CART)
    (work / "pyproject.toml").write_text("[tool.mypy]\nstrict = true\n")
    with Supervisor.open(
        task=task, workspace=work, store=Store(tmp_path / "runs"), checkpoint_store=tmp_path / "kept", clock=clock,
        config=PATIENT,
    ) as supervisor:  # fmt: skip
        for name, text in files:
            clock.advance(15)
            supervisor.before(supervisor.call("Edit", {"file_path": str(work / name), "old_string": "a"}))
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
            supervisor.after(supervisor.result("The file has been updated."))
        supervisor.before(supervisor.call("Read", {"file_path": str(work / "src/cart.py")}))
        supervisor.run.journal.flush()
        rungs = [made.type for made in supervisor.pipeline.state(clock.time()).interventions]
        with JournalReader.open(supervisor.run.folder) as reader:
            issues = [read_body(record) for record in reader.read(kinds={"issue"})]
    return [(issue.severity, issue.details["changed"]) for issue in issues if issue.type == "goal_drift"], rungs


def modules(count, text="VALUE{n} = {n}\n", name="src/part{n}/module{n}.py"):
    return [(name.format(n=n), text.format(n=n)) for n in range(count)]


TASK = "Fix the rounding in src/cart.py"


def test_tidying_modules_that_the_task_never_names_is_noted_by_15_files_and_an_issue_by_30(tmp_path):
    assert changed(tmp_path / "a", TASK, modules(15)) == ([("low", 13)], [])
    assert changed(tmp_path / "b", TASK, modules(30)) == ([("low", 13), ("medium", 28)], ["soft_correction"])


def test_it_never_gets_more_than_a_hint(tmp_path):
    assert changed(tmp_path, TASK, modules(80))[1] == ["soft_correction"]


@pytest.mark.parametrize(
    ("task", "files"),
    [
        ("Fix everything that ruff reports", modules(40)),
        ("Add type hints so that mypy --strict passes, see pyproject.toml", modules(40)),
        ("Modernise all modules below src/", modules(40)),
        ("Fix the modules of the shop, like src/cart.py", modules(40, name="shop/part{n}/page{n}.py")),
        (TASK, modules(40, text="from cart import total\n")),
        ("Rename get_total to cart_total", modules(40, text="print(cart_total({n}))\n")),
        (TASK, modules(40, text="def step{n}():\n    return step{n}\n\n\nprint(total)\n")),
        (TASK, modules(40, name="build/part{n}.py")),
    ],
)
def test_work_that_is_connected_with_the_task_or_a_task_that_names_nothing_is_silent(tmp_path, task, files):
    assert changed(tmp_path, task, files) == ([], [])


def test_files_are_connected_through_other_changed_files(tmp_path):
    chain = [(f"src/part{n}.py", f"def step{n + 1}():\n    step{n}()\n") for n in range(1, 40)]
    assert changed(tmp_path, TASK, [("src/part0.py", "import cart\n\ndef step1():\n    total()\n"), *chain]) == ([], [])
