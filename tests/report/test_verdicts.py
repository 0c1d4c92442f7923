"""A call that was refused is told as refused, though its review only asked for a change."""

import pytest

from interlock.core import Decision, Review, RunSpec, Step, Tool
from interlock.journal import JournalEntry, Store
from interlock.journal_records import StepRecord
from interlock.report import Story
from tests.report.runs import add

REWRITE = {"command": "chmod 755 x"}


@pytest.mark.parametrize(
    ("verdict", "decision", "title", "counted"),
    [
        ("modify", Decision("deny", reason="no"), "deny: bash chmod 777 x", "deny"),
        ("modify", Decision("rewrite", arguments=REWRITE), "modify: bash chmod 777 x", "modify"),
        ("block", Decision("deny", reason="no"), "block: bash chmod 777 x", "block"),
    ],
)
def test_the_word_fits_what_was_done(tmp_path, verdict, decision, title, counted):
    folder = Store(tmp_path).create(RunSpec(run_id="r"))
    call = Tool("bash", {"command": "chmod 777 x"}, "1")
    step = Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=call, time=1.0)
    add(folder, [JournalEntry("step", StepRecord(step, Review(verdict, 0.8), decision))])
    with Story.open(folder) as story:
        (line,) = story.page()
        assert line.title == title
        assert story.sums.verdicts == {counted: 1}
