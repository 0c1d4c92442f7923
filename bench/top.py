"""How fast `interlock top` opens on a long run and on many runs, its memory, and how soon it shows updates."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from interlock.core import Issue, RunSpec, Step, Tool, Usage
from interlock.journal import Journal, JournalEntry, RunFolder, RunSummary, Store
from interlock.journal_records import StepRecord

NOTES = (
    "A real process in a pseudo-terminal of 120 x 40, with 200 runs of which one has 100,000 steps (quick: 20 and "
    "5,000). Opening counts from the start of the process to the first row; an update from the commit of a record to "
    "its words on the terminal. Goals: 2 s, 300 MB, 250 ms; the empty program is the floor, in the same run."
)
PATIENCE_S = 60.0
BARE = """
from textual.app import App
from textual.widgets import Label


class Bare(App):
    def compose(self):
        yield Label("here it is")


Bare().run()
"""
COLUMNS, ROWS = 120, 40


class Terminal:
    """A program in a terminal that nobody looks at."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.begun = time.perf_counter()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self._master = master

    def wait_for(self, text: str) -> float:
        """When the text has come, on the clock of `perf_counter`."""
        wanted, seen, until = text.encode(), b"", time.perf_counter() + PATIENCE_S
        while wanted not in seen:
            ready, _, _ = select.select([self._master], [], [], PATIENCE_S)
            if not ready or time.perf_counter() > until:
                raise RuntimeError(f"{text!r} never came")
            seen = seen[-4096:] + os.read(self._master, 65536)
        return time.perf_counter()

    def idle(self, seconds: float) -> None:
        """Let it draw."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            if select.select([self._master], [], [], left)[0]:
                os.read(self._master, 65536)

    def memory_mb(self) -> float:
        """The most that it has had at a time."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def cpu_s(self) -> float:
        """Seconds of CPU time so far: other work on the machine does not count."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._master)


def write_run(store: Store, name: str, steps: int) -> RunFolder:
    """A run as its owner leaves it: calls and results, an issue now and then."""
    folder = store.create(RunSpec(run_id=name, name=name, task="Fix the parser", model="claude-sonnet-4-5"))
    with Journal.open(folder) as journal:
        for first in range(0, steps, 2000):
            entries = [each for at in range(first, min(first + 2000, steps)) for each in _entries(name, at)]
            journal.append(entries, durable=True)
        summary = RunSummary(run_id=name, name=name, status="done", iter=steps // 2, steps=steps, started=time.time())
        journal.append((), summary=summary)
    return folder


def _entries(name: str, at: int) -> list[JournalEntry]:
    call = at % 2 == 0
    step = Step(
        run_id=name,
        index=at,
        role="assistant" if call else "tool",
        kind="tool_call" if call else "tool_result",
        content="" if call else f"line {at}: " + "some output " * 12,
        tool=Tool("bash", {"command": f"sed -i s/a/b/ src/part{at}.py"}) if call else None,
        usage=Usage(1000, 200, 0.001),
        error=at % 40 == 1,
    )
    made = [JournalEntry("step", StepRecord(step))]
    if at % 200 == 199:
        made.append(
            JournalEntry("issue", Issue(id=f"loop:{at}", type="loop", step=at, description="the same call again"))
        )
    return made


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    runs, steps, repeats = (20, 5_000, 2) if quick else (200, 100_000, 3)
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as temporary:
        store = Store(Path(temporary) / "runs")
        for number in range(runs - 1):
            write_run(store, f"run-{number:03}", 60)
        long = write_run(store, "long-run", steps)
        environment = {**os.environ, "INTERLOCK_STORE__DIR": str(store.root), "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        words = [sys.executable, "-m", "interlock", "top"]
        opened, inside, memory, updates, newest = [], [], [], [], f"line {steps - 1}"
        bare, used = [], []
        for _ in range(repeats):
            terminal = Terminal([sys.executable, "-c", BARE], environment)
            bare.append(terminal.wait_for("here it is") - terminal.begun)
            terminal.close()
            terminal = Terminal(words, environment)
            opened.append(terminal.wait_for(f"run-{runs - 2:03}") - terminal.begun)
            used.append(terminal.cpu_s())
            terminal.close()
        for _ in range(repeats):
            terminal = Terminal([*words, "long-run"], environment)
            inside.append(terminal.wait_for(newest) - terminal.begun)
            terminal.idle(1.0 if quick else 6.0)
            memory.append(terminal.memory_mb())
            times, newest = _updates(terminal, long, 5 if quick else 12)
            updates += times
            terminal.close()
    rows = [
        ["empty Textual program: first text", f"{statistics.median(bare):.2f} s", f"{max(bare):.2f} s"],
        [f"{runs} runs: first row", f"{statistics.median(opened):.2f} s", f"{max(opened):.2f} s"],
        [f"run of {steps:,} steps: timeline", f"{statistics.median(inside):.2f} s", f"{max(inside):.2f} s"],
        [f"{runs} runs: CPU time until then", f"{statistics.median(used):.2f} s", f"{max(used):.2f} s"],
        ["memory, charts included", f"{statistics.median(memory):.0f} MB", f"{max(memory):.0f} MB"],
        ["update of a live run", f"{statistics.median(updates) * 1000:.0f} ms", f"{max(updates) * 1000:.0f} ms"],
    ]
    return "Terminal UI", ["measurement", "median", "worst"], rows


def _updates(terminal: Terminal, folder: RunFolder, count: int) -> tuple[list[float], str]:
    """How long records took to the terminal, and the words of the last one."""
    times, mark = [], ""
    with Journal.open(folder) as journal:
        for number in range(count):
            mark = f"mark-{time.time_ns()}"
            step = Step(run_id=folder.run_id, index=10**6 + number, role="assistant", content=mark)
            journal.append([JournalEntry("step", StepRecord(step))], durable=True)
            committed = time.perf_counter()
            times.append(terminal.wait_for(mark) - committed)
            terminal.idle(0.05 + 0.017 * number)
    return times, mark


def main() -> None:
    from table import print_table

    print_table(*measure("--quick" in sys.argv), NOTES)


if __name__ == "__main__":
    main()
