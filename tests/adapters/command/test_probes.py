"""Who waits for a person: real processes that ask through a pipe, and such that read from one and ask nobody."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.adapters.command.probes import ProbeReader, question_on
from interlock.process.proc import read_process, read_processes

from ...waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

POLLS = {
    "poll": "p = select.poll(); p.register(0, select.POLLIN); p.poll()",
    "select": "select.select([0], [], [])",
    "epoll": "p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()",
    "read": "sys.stdin.readline()",
    "a thread": "t = threading.Thread(target=sys.stdin.readline); t.start(); t.join()",
}

PIPE_READS = ("pipe_read", "anon_pipe_read", "pipe_wait")

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    made: list[subprocess.Popen[bytes]] = []

    def begin(*words: str, **streams: int) -> subprocess.Popen[bytes]:
        made.append(
            subprocess.Popen(words, **{"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, **streams})  # type: ignore[call-overload]
        )
        return made[-1]

    yield begin
    for process in made:
        for pid in (*descendants(process.pid), process.pid):
            subprocess.run(["kill", "-9", str(pid)], capture_output=True, check=False)
        process.communicate()


def descendants(pid: int) -> tuple[int, ...]:
    found = [each for each in read_processes() if (seen := read_process(each)) is not None and seen.parent == pid]
    return tuple(found) + tuple(below for each in found for below in descendants(each))


def sleeps_in(pid: int, *places: str) -> bool:
    try:
        return Path(f"/proc/{pid}/wchan").read_text() in places
    except OSError:
        return False


@pytest.mark.parametrize("way", POLLS)
def test_a_process_that_waits_for_its_standard_input_after_a_question_is_found(start: Start, way: str) -> None:
    process = start(sys.executable, "-c", f"import select, sys, threading\n{POLLS[way]}")
    reader = ProbeReader()
    eventually(lambda: reader.find_reader((process.pid,), "Overwrite? [y/N] ", process.pid) is not None)
    found = reader.find_reader((process.pid,), "Overwrite? [y/N] ", process.pid)
    assert found is not None
    assert (found.pid, found.text, found.client, found.piped) == (process.pid, "Overwrite? [y/N]", True, True)
    # Another line is another question, which is told when it still stands at the next look.
    assert reader.find_reader((process.pid,), "Really? ", process.pid) is None
    assert reader.find_reader((process.pid,), "Really? ", process.pid) is not None
    for line in ("", "Reading package lists... ", "1 of 20 files copied"):
        assert [reader.find_reader((process.pid,), line, process.pid) for _ in range(2)] == [None, None]


def test_a_process_that_reads_from_another_of_its_run_asks_nobody(start: Start) -> None:
    process = start("sh", "-c", "sleep 600 | cat")
    eventually(lambda: any(sleeps_in(pid, *PIPE_READS) for pid in descendants(process.pid)))
    pids, reader = (process.pid, *descendants(process.pid)), ProbeReader()
    for tool_s in (None, 600.0):
        assert [reader.find_reader(pids, "Building: ", process.pid, tool_s) for _ in range(2)] == [None, None]


def test_a_server_that_a_client_talks_to_through_pipes_asks_nobody(start: Start) -> None:
    """Its output is not the run's: the question on the screen is another's."""
    code = "import subprocess as s, time; p = s.Popen(['cat'], stdin=s.PIPE, stdout=s.PIPE); time.sleep(600)"
    process = start(sys.executable, "-c", code)
    eventually(lambda: any(sleeps_in(pid, *PIPE_READS) for pid in descendants(process.pid)))
    (server,) = descendants(process.pid)
    reader = ProbeReader()
    for tool_s in (None, 600.0):
        looks = [reader.find_reader((process.pid, server), "Which one? ", process.pid, tool_s) for _ in range(2)]
        assert looks == [None, None]


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        (("a", "Proceed? (y/N) ", ""), "Proceed? (y/N) "),
        (("package name: (shop)",), "package name: (shop)"),
        (("Press any key to continue . . .",), "Press any key to continue . . ."),
        (("12 files changed",), ""),
        ((), ""),
    ],
)
def test_the_last_row_of_a_screen_may_be_a_question(rows: tuple[str, ...], asked: str) -> None:
    assert question_on(rows) == asked
