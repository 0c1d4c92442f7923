"""Checkpoints around a changing call in workspaces of different sizes; the first checkpoint, and a restore."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from checkpoint import Git, _restore, _say, bare_walk
from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import SystemClock

NOTES = """\
Milliseconds, medians of the rounds, in one run on one machine. `before + after`: the two checkpoints around a call that
changes this many files, in a watched workspace as in `interlock run`; `cpu` is the CPU time of the whole
process. The floor of each row is what git (`add -A`, `write-tree`; for a restore also `read-tree --reset -u`)
or a plain walk (`scandir` and `stat` of everything, in Python) takes in the same workspace. `start, unchanged`: the
first checkpoint of a new run in a workspace that is unchanged since the last run; its command waits for it."""

HEADER = ["files", "operation", "interlock", "cpu", "git", "plain walk", "x git", "goal"]


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    rows: list[list[str]] = []
    sizes = (100, 2_000, 10_000) if quick else (100, 10_000, 200_000)
    for files in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-call-") as folder:
            _say(f"{files:,} files: making them")
            work = Path(folder) / "work"
            make_files(work, files)
            rows += Case(files, work, Path(folder), 10 if quick else 30).run()
            for row in rows[-5:]:
                _say("  ".join(cell or "-" for cell in row))
    smallest, largest = rows[3], rows[-2]
    grown = [f"{float(largest[at].replace(',', '')) / float(smallest[at].replace(',', '')):.2f}" for at in (2, 3)]
    rows.append([f"{sizes[-1]:,}", f"x {sizes[0]:,} files, 50 changed", *grown, "", "", "", "at most 1.5"])
    return "Checkpoints: a changing call", HEADER, rows


class Case:
    """One workspace."""

    def __init__(self, files: int, work: Path, folder: Path, rounds: int) -> None:
        self._files, self._work, self._folder, self._rounds = files, work, folder, rounds
        self._draw = random.Random(files)
        self._paths = [path for path in work.rglob("*") if path.is_file()]

    def run(self) -> list[list[str]]:
        git = Git(self._work, self._folder / "git", tuned=False)
        git.save()
        with self._open("first") as checkpoints:
            checkpoints.create("", 0, "start")
            checkpoints.settle()
        time.sleep(0.1)
        with self._open("second") as checkpoints:
            start = timed(lambda: checkpoints.create("", 0, "start"))
            checkpoints.create("", 0, "before step")
            rows = [self._row("start, unchanged", start, timed(git.save), timed(lambda: bare_walk(self._work)))]
            rows += [self._calls(checkpoints, git, changes) for changes in (1, 5, 50)]
            rows.append(self._restores(checkpoints, git))
        return rows

    def _open(self, run_id: str) -> Checkpoints:
        settings = Settings(budget_ms=600_000)
        store = self._folder / "store"
        return Checkpoints.open(self._work, store, config=settings, clock=SystemClock(), run_id=run_id, watch=True)

    def _calls(self, checkpoints: Checkpoints, git: Git, changes: int) -> list[str]:
        ours: list[tuple[float, float]] = []
        for _ in range(self._rounds):
            before = timed(lambda: checkpoints.create("", 0, "before step"))
            self._change(changes)
            after = timed(lambda: checkpoints.create("", 0, "after step", own=True))
            ours.append((before[0] + after[0], before[1] + after[1]))
        theirs, walks = [], []
        for _ in range(3):
            self._change(changes)
            theirs.append(timed(git.save))
            walks.append(timed(lambda: bare_walk(self._work)))
        checkpoints.create("", 0, "before step")
        return self._row(f"before + after, {changes} changed", median(ours), median(theirs), median(walks))

    def _restores(self, checkpoints: Checkpoints, git: Git) -> list[str]:
        ours, theirs = [], []
        for _ in range(3):
            saved, tree = checkpoints.create("saved"), git.save()
            self._change(50)
            ours.append(timed(lambda saved=saved: _restore(checkpoints, saved.id)))
            self._change(50)
            theirs.append(timed(lambda tree=tree: (git.save(), git.restore(tree))))
        return self._row("restore 50, whole", median(ours), median(theirs), None)

    def _change(self, count: int) -> None:
        for path in self._draw.sample(self._paths, count):
            path.write_bytes(self._draw.randbytes(800))

    def _row(
        self, what: str, ours: tuple[float, float], git: tuple[float, float], walk: tuple[float, float] | None
    ) -> list[str]:
        goal = "at most 1,000 ms" if what.startswith("start") else "at most 5 ms" if "changed" in what else "x git 1.0"
        return [
            f"{self._files:,}",
            what,
            f"{ours[0] * 1000:,.1f}",
            f"{ours[1] * 1000:,.1f}",
            f"{git[0] * 1000:,.1f}",
            f"{walk[0] * 1000:,.1f}" if walk is not None else "",
            f"{ours[0] / git[0]:.2f}",
            goal,
        ]


def make_files(root: Path, count: int) -> None:
    """Small files, twenty to a folder."""
    for number in range(count):
        folder = root / f"a{number // 10_000}" / f"b{number // 200 % 50}" / f"c{number // 20 % 10}"
        if number % 20 == 0:
            folder.mkdir(parents=True)
        (folder / f"f{number}.txt").write_text(f"file {number}\n" * 20)


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of CPU time."""
    start, used = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - start, time.process_time() - used


def median(times: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in times), statistics.median(cpu for _, cpu in times)
