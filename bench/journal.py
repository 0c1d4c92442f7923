"""What the journal costs a step, against the same bytes in a plain file and a plain SQLite insert."""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import msgspec

from interlock.core import RunSpec, Step, Tool
from interlock.journal import Journal, JournalEntry, Store, new_run_id

NOTES = """One step of about 1 KB of JSON. Rounds are interleaved, so that other load affects all alike.
"not waiting" is the caller's cost of an append that nobody waits for; "until visible to a reader" is the time until
another connection sees it (it is fsynced by then), with the appending thread idle and busy."""

STEP = Step(
    run_id="bench",
    index=1,
    role="assistant",
    kind="tool_call",
    content="I will look at the failing test first, then at the code. " * 12,
    tool=Tool("bash", {"command": "python -m pytest tests/test_parser.py -x -q 2>&1 | tail -40", "timeout": 120}),
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Median and 99th percentile in microseconds, and the ratio of the medians to the floor."""
    rounds, each = (3, 40) if quick else (10, 100)
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        journal = stack.enter_context(Journal.open(Store(base / "runs").create(RunSpec(run_id=new_run_id()))))
        write = stack.enter_context(_plain_file(base / "plain", sync=False))
        sync = stack.enter_context(_plain_file(base / "synced", sync=True))
        insert = stack.enter_context(_plain_sqlite(base / "plain.db"))
        entry = (JournalEntry("step", STEP),)
        calls: dict[str, Callable[[], object]] = {
            "write, not synced (floor)": write,
            "append, not waiting": lambda: journal.append(entry),
            "write + fdatasync (floor)": sync,
            "plain SQLite insert, WAL, FULL": insert,
            "durable append": lambda: journal.append(entry, durable=True),
        }
        spent = _interleave(calls, rounds, each)
        spent["append, until visible to a reader"] = _until_seen(journal, each // 2, busy=False)
        spent["append, until visible to a reader, busy caller"] = _until_seen(journal, each // 2, busy=True)
        spent["list 200 runs"] = _list_runs(base / "many", 3 if quick else 10)
        floors = {name: statistics.median(times) for name, times in spent.items()}
    against = {
        "append, not waiting": floors["write, not synced (floor)"],
        "plain SQLite insert, WAL, FULL": floors["write + fdatasync (floor)"],
        "durable append": floors["write + fdatasync (floor)"],
    }
    rows = []
    for name, times in spent.items():
        median, high = statistics.median(times), sorted(times)[int(len(times) * 0.99)]
        ratio = f"{median / against[name]:.2f}" if name in against else ""
        rows.append([name, f"{median * 1e6:,.1f}", f"{high * 1e6:,.1f}", ratio])
    return "Journal", ["measurement", "median us", "p99 us", "x floor"], rows


def main() -> None:
    title, header, rows = measure()
    print(title)
    for row in [header, *rows]:
        print(f"{row[0]:46}" + "".join(f"{cell:>14}" for cell in row[1:]))


def _interleave(calls: dict[str, Callable[[], object]], rounds: int, each: int) -> dict[str, list[float]]:
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(each):
                start = time.perf_counter()
                call()
                spent[name].append(time.perf_counter() - start)
    return spent


def _until_seen(journal: Journal, count: int, busy: bool) -> list[float]:
    """Seconds from an append until a reader that looks all the time has the record."""
    spent: list[float] = []
    stop = threading.Event()

    def compute() -> None:
        number = 0
        while not stop.is_set():
            number = (number * 31 + 7) % 1_000_003

    worker = threading.Thread(target=compute)
    if busy:
        worker.start()
    with journal.reader() as reader:
        for _ in range(count):
            start = time.perf_counter()
            seq = journal.append((JournalEntry("step", STEP),))
            while (last := reader.last()) is None or last.seq < seq:
                time.sleep(0.001)
            spent.append(time.perf_counter() - start)
    stop.set()
    if busy:
        worker.join()
    return spent


def _list_runs(root: Path, times: int) -> list[float]:
    store = Store(root)
    for _ in range(200):
        store.create(RunSpec(run_id=new_run_id(), name="bench"))
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        assert len(store.runs()) == 200
        spent.append(time.perf_counter() - start)
    return spent


@contextmanager
def _plain_file(path: Path, sync: bool) -> Iterator[Callable[[], None]]:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write() -> None:
        os.write(handle, msgspec.json.encode(STEP))
        if sync:
            os.fdatasync(handle)

    yield write
    os.close(handle)


@contextmanager
def _plain_sqlite(path: Path) -> Iterator[Callable[[], None]]:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute("CREATE TABLE t(seq INTEGER PRIMARY KEY, body TEXT)")

    def insert() -> None:
        connection.execute("INSERT INTO t(body) VALUES (?)", (msgspec.json.encode(STEP).decode(),))

    yield insert
    connection.close()


if __name__ == "__main__":
    main()
