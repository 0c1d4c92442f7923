"""Reading a long run and many runs, as every UI does, compared with one plain pass over the same SQLite file.

Example: python bench/story.py [--quick]
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from interlock.core import CheckpointInfo, Inject, Intervention, Issue, Message, Review, RunSpec, Step, Tool, Usage
from interlock.journal import JournalEntry, RunFolder, Store
from interlock.journal_records import InterventionRecord, StepRecord
from interlock.report import Fleet, Story
from interlock.report.document import gather
from interlock.report.markdown import render
from interlock.report.metrics import JournalMetrics
from interlock.runtime import Run

NOTES = (
    "A journal of 100,000 steps with checkpoints, issues and interventions, and 200 further runs. The floor is one "
    "pass of SQLite over all bodies of that journal. Opening is to take less than 2 s."
)

START = 1_700_000_000.0


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    steps, runs = (10_000, 20) if quick else (100_000, 200)
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as temporary:
        store = Store(Path(temporary) / "runs")
        folder = write_run(store, "long", steps)
        for number in range(runs):
            write_run(store, f"run{number}", 60)
        floor = took(lambda: pass_over(folder))
        story = Story.open(folder)
        fleet, metrics = Fleet(store), JournalMetrics(store)
        calls: dict[str, Callable[[], object]] = {
            "open the story": lambda: Story.open(folder).close(),
            "the newest 200 lines": story.page,
            "the newest 200 of two kinds": lambda: story.page(kinds=frozenset(("issue", "intervention"))),
            "200 blocked calls (none exist)": lambda: story.page(kinds=frozenset(("review",))),
            "search for absent text": lambda: story.page(text="nothing like this"),
            "poll without changes": story.update,
            "series, first read": lambda: story.series(400),
            "series, cached": lambda: story.series(400),
            "the report as HTML": lambda: render(gather(story), "html"),
            f"{runs + 1} runs listed, first time": fleet.rows,
            f"{runs + 1} runs listed, again": fleet.rows,
            "metrics of all journals, the first time": metrics.render,
        }
        rows = [["one pass over all bodies (floor)", f"{floor * 1000:.1f}", "1.00"]]
        for name, call in calls.items():
            seconds = took(call)
            rows.append([name, f"{seconds * 1000:.1f}", f"{seconds / floor:.2f}"])
        story.close()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows.append(["peak memory, MB", f"{memory:.0f}", ""])
    return f"Reading runs: {steps:,} steps, {runs} runs", ["measurement", "ms", "ratio to the floor"], rows


def took(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def pass_over(folder: RunFolder) -> None:
    connection = apsw.Connection(str(folder.journal), flags=apsw.SQLITE_OPEN_READONLY)
    connection.execute("SELECT sum(length(body)), max(time) FROM record").fetchall()
    connection.close()


def write_run(store: Store, name: str, steps: int) -> RunFolder:
    """A run as supervision writes it: calls with a review and a checkpoint, results, now and then an issue."""
    with Run.create(RunSpec(run_id=name, name=name, task="Fix the parser"), store) as run:
        for first in range(0, steps, 1000):
            entries = [entry for index in range(first, min(first + 1000, steps)) for entry in at_step(name, index)]
            run.append_entries(entries, durable=True)
    return store.find(name)


def at_step(run_id: str, index: int) -> list[JournalEntry]:
    now = START + index
    if index % 2:
        content = "def parse(text):\n    return text\n" * 15
        step = Step(run_id=run_id, index=index, role="tool", kind="tool_result", content=content, error=index % 7 == 0)
        return [JournalEntry("step", StepRecord(step), now)]
    tool = Tool("bash", {"command": f"sed -n {index},{index + 20}p src/parser.py"}, f"c{index}")
    usage = Usage(1000, 200, 0.01)
    step = Step(run_id=run_id, index=index, role="assistant", kind="tool_call", tool=tool, usage=usage)
    info = CheckpointInfo(id=f"c{index}", time=now, step=index, cause="before step", files=100)
    entries = [
        JournalEntry("step", StepRecord(step, Review("allow", 0.1, action="read")), now),
        JournalEntry("checkpoint", info, now),
    ]
    if index % 50 == 0:
        issue = Issue(id=f"i{index}", type="loop", step=index, description="again and again", severity="medium")
        made = Intervention(
            id=f"v{index}", type="soft_correction", level=0, issue_id=issue.id, issue_type="loop", step=index, time=now
        )
        said = InterventionRecord(intervention=made, score=0.5, combined=0.5, directives=(Inject(Message("hint")),))
        entries += [JournalEntry("issue", issue, now), JournalEntry("intervention", said, now)]
    return entries


if __name__ == "__main__":
    from table import print_measured

    print_measured(measure, __doc__, NOTES)
