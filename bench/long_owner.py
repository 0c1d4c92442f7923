"""The owner of a long run: what a call costs early and late, its memory, and how soon another owner answers.

Example: python bench/long_owner.py [--quick]
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from interlock.core import from_json
from interlock.journal import RunFolder, Store
from interlock.journal_records import SnapshotRecord, StepRecord
from interlock.report import Story
from interlock.runtime import Run

NOTES = (
    "A real `interlock run` of an agent that asks before each call and reports its result, two steps a call. Memory is "
    "the owner's alone (PSS). The journal is then filled up with copies of these steps and snapshots, and the owner is "
    "killed with -9 several times while the agent carries on: the time until the next owner answers, and the processor "
    "time it has used by then, interpreter start included. The goal is 1 s."
)

AGENT = r"""
import sys, time
from interlock.adapters.steps.client import Steps
steps, count = Steps(patience_s=3600), int(sys.argv[1])
text = "def work(value):\n    return value + 1\n" * 10
turn = 0
while True:
    began = time.monotonic()
    command = f"sed -n '{turn % 300},+20p' src/m{turn}.py" if turn % 2 else f"grep -rn name_{turn} src"
    answer = steps.before("bash", {"command": command}, content=f"I look at module {turn}.")
    assert answer["action"] == "proceed" and "not supervised" not in answer.get("reason", ""), answer
    ended = time.monotonic()
    steps.after(f"module_{turn}.py: line {turn * 7 % 400}\n{text}", exit_code=0)
    turn += 1
    if 2 * turn >= count:
        print(2 * turn, began, ended, flush=True)
        time.sleep(0.02)
    elif turn % 500 == 0:
        print(2 * turn, began, ended, flush=True)
"""

KILLS = 5
SNAPSHOT_EVERY = 500
GAP_S = 15
"""Between two kills: of many within a minute, a run would go on without an owner."""


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    told, steps = (2_000, 20_000) if quick else (100_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as root:
        base = Path(root)
        (base / "workspace").mkdir()
        config = base / "interlock.yaml"
        config.write_text(f"store: {{dir: {base / 'runs'}}}\nruntime: {{step_timeout_ms: 30000}}\n")
        command = [sys.executable, "-m", "interlock", "run", "--config", str(config), "--"]
        env = {**os.environ, "XDG_STATE_HOME": root, "XDG_CONFIG_HOME": root}
        agent = [sys.executable, "-c", AGENT, str(told)]
        with subprocess.Popen(
            [*command, *agent], cwd=base / "workspace", env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as run:
            try:
                rows = _follow(run, Store(base / "runs"), told, steps, 2 if quick else KILLS)
            finally:
                run.send_signal(signal.SIGCONT)
                run.send_signal(signal.SIGTERM)
                run.wait()
    header = [f"{steps:,} steps", "ms per call", "owner memory, MB", "seconds", "CPU seconds"]
    return "A long run: its owner", header, rows


def _follow(run: subprocess.Popen[bytes], store: Store, told: int, steps: int, kills: int) -> list[list[str]]:
    answers = _answers(run)
    rows = [
        [f"at step {step:,}", f"{cost:.2f}", f"{_memory(_owner(store.folders()[0])):.0f}", "", ""]
        for step, cost in _marks(answers, [told // 100, told // 10, told // 2, told])
    ]
    (folder,) = store.folders()
    run.send_signal(signal.SIGSTOP)
    _kill(folder, answers, lambda: _fill(run, folder, steps))
    rows.append([f"at step {steps:,}", "", f"{_memory(_owner(folder)):.0f}", "", ""])
    begin, used = time.perf_counter(), time.process_time()
    with Story.open(folder) as story:
        story.series(500)
        assert story.sums.steps >= steps
    spent = [f"{time.perf_counter() - begin:.2f}", f"{time.process_time() - used:.2f}"]
    rows.append(["series, first read", "", "", *spent])
    waits = [_kill(folder, answers) for _ in range(kills)]
    for name, at in (("median", kills // 2), ("max", -1)):
        spent = [f"{sorted(column)[at]:.2f}" for column in zip(*waits, strict=True)]
        rows.append([f"kill -9 to the next answer, {name}", "", "", *spent])
    return rows


def _marks(answers: Iterator[tuple[int, float, float]], marks: list[int]) -> Iterator[tuple[int, float]]:
    """The median cost of a call up to each of these steps."""
    costs: list[float] = []
    while marks:
        step, began, ended = next(answers)
        costs.append((ended - began) * 1000)
        if step >= marks[0]:
            yield step, statistics.median(costs)
            costs.clear()
            del marks[0]


def _fill(run: subprocess.Popen[bytes], folder: RunFolder, steps: int) -> None:
    """Write further steps, and a snapshot every so many, in place of an owner; then let the front go on."""
    with Run.reopen(folder) as filling, filling.journal.reader() as reader:
        newest = reader.last("snapshot")
        assert newest is not None
        saved = from_json(newest.body, SnapshotRecord)
        models = [from_json(each.body, StepRecord) for each in reader.read(newest.seq - SNAPSHOT_EVERY, {"step"})]
        for index in range(models[-1].step.index + 1, steps, len(models)):
            bodies = [_copy(model, index + at) for at, model in enumerate(models)]
            filling.append([*bodies, replace(saved, next_index=index + len(models))], durable=True)
    run.send_signal(signal.SIGCONT)


def _copy(model: StepRecord, index: int) -> StepRecord:
    tool = model.step.tool
    tool = replace(tool, call_id=f"filled-{index // 2}") if tool is not None else None
    return replace(model, step=replace(model.step, index=index, tool=tool))


def _kill(
    folder: RunFolder, answers: Iterator[tuple[int, float, float]], meanwhile: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Seconds from the end of an owner to the first answer of the next, and the CPU time of that one."""
    os.kill(_owner(folder), signal.SIGKILL)
    begin = time.monotonic()
    meanwhile()
    # What came within 20 ms was under way.
    waited = next(ended - begin for _, _, ended in answers if ended > begin + 0.02)
    fields = Path(f"/proc/{_owner(folder)}/stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    time.sleep(GAP_S)
    return waited, used


def _answers(run: subprocess.Popen[bytes]) -> Iterator[tuple[int, float, float]]:
    assert run.stdout is not None
    for line in run.stdout:
        words = line.split()
        if len(words) == 3:
            yield int(words[0]), float(words[1]), float(words[2])
    raise SystemExit(f"the run ended with status {run.wait()}")


def _owner(folder: RunFolder) -> int:
    owner = folder.owner()
    assert owner is not None
    return owner.pid


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    from table import print_measured

    print_measured(measure, __doc__, NOTES)
