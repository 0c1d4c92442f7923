"""What supervision costs per step: review + detect + decide early and late in one run, and the journal beside it."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from interlock.config import Config
from interlock.core import Context, RunSpec, Step, SystemClock, Tool, Usage
from interlock.journal import Journal, JournalEntry, Store, new_run_id
from interlock.journal_records import StepRecord
from interlock.runtime import DecisionPipeline

NOTES = "The cost at step 20,000 may be at most 1.2 times that at step 100. Medians over 200 steps around each."

MILESTONES = (100, 1_000, 20_000)
WINDOW = 200


def script(index: int) -> Step:
    """A healthy agent: reads, edits, tests, each time something new."""
    turn, kind = divmod(index, 2)
    now = 1_700_000_000.0 + index * 3
    if kind:
        text = f"module_{turn}.py: line {turn * 7 % 400}\n" + "def work(value):\n    return value + 1\n" * 10
        return Step(run_id="r", index=index, role="tool", kind="tool_result", content=text, error=False, time=now)
    command = (
        f"sed -n '{turn % 300},+20p' src/module_{turn}.py",
        f"grep -rn name_{turn} src | head -20",
        f"python -m pytest -q tests/test_{turn % 50}.py",
    )[turn % 3]
    tool = Tool("bash", {"command": command}, f"c{turn}")
    said = f"Now I look at module {turn} to see how name_{turn} is used."
    usage = Usage(2000 + turn % 500, 150)
    return Step(
        run_id="r", index=index, role="assistant", kind="tool_call", content=said, tool=tool, usage=usage, time=now
    )


def cost_at(milestones: tuple[int, ...]) -> dict[int, float]:
    """Median microseconds per step around each milestone of one run."""
    task = "Rename name_1 in every module of src and keep the tests green"
    watch = DecisionPipeline("r", Config(), Context(original_prompt=task))
    spent: dict[int, list[float]] = {milestone: [] for milestone in milestones}
    for index in range(max(milestones) + WINDOW // 2):
        step = script(index)
        begin = time.perf_counter_ns()
        watch.count(step)
        watch.observe(step, watch.review(step))
        took = (time.perf_counter_ns() - begin) / 1000
        for milestone in milestones:
            if abs(index - milestone) <= WINDOW // 2:
                spent[milestone].append(took)
    return {milestone: statistics.median(times) for milestone, times in spent.items()}


def journal_cost(count: int) -> float:
    """Microseconds per step for handing a record to the journal."""
    with tempfile.TemporaryDirectory() as root:
        folder = Store(Path(root)).create(RunSpec(run_id=new_run_id()))
        with Journal.open(folder, SystemClock()) as journal:
            records = [StepRecord(script(index)) for index in range(count)]
            begin = time.perf_counter_ns()
            for record in records:
                journal.append([JournalEntry("step", record)])
            took = (time.perf_counter_ns() - begin) / 1000 / count
            journal.flush()
    return took


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    milestones = (100, 1_000, 4_000) if quick else MILESTONES
    costs = cost_at(milestones)
    rows = [
        [f"review + detect + decide at step {milestone:,}", f"{cost:.1f}", f"{cost / costs[milestones[0]]:.2f}"]
        for milestone, cost in costs.items()
    ]
    rows.append(["journal, handing a step over (group commit)", f"{journal_cost(2_000 if quick else 10_000):.1f}", ""])
    return "Cost per step", ["measurement", "µs per step (median)", "ratio to the first"], rows


def main() -> None:
    from table import print_table

    print_table(*measure(), NOTES)


if __name__ == "__main__":
    main()
