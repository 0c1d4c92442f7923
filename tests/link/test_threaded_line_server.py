"""Lines answered by the thread that reads them: many at once, too long, hung up, and the end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from interlock.link import LineClient, ThreadedLineServer, listen, threaded_line_server
from interlock.link.threaded_line_server import KEPT, SPARE

MOST = 1_000


class House:
    """A counter that answers what it is told, and holds what says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open = threading.Event()
        self.held: SimpleQueue[LineClient] = SimpleQueue()
        self.left: SimpleQueue[bool] = SimpleQueue()
        self.counter = ThreadedLineServer(listen(path), self.answer, "counter", max_line=MOST, too_long=b"too long")
        self.counter.start()

    def answer(self, line: bytes, caller: LineClient) -> bytes | None:
        if line == b"break":
            raise ValueError("a mistake of ours")
        if line != b"hold":
            return line.upper()
        self.held.put(caller)
        caller.say_wait()
        self.open.wait(150)
        waits = caller.waits()
        self.left.put(waits)
        return b"GO" if waits else None

    def call(self, line: bytes = b"") -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(150)
        sock.connect(str(self.path))
        sock.sendall(line)
        return sock


@pytest.fixture
def house(own_runtime_dir: Path) -> Iterator[House]:
    house = House(own_runtime_dir / "counter")
    yield house
    house.open.set()
    house.counter.close()


def test_lines_of_a_connection_are_answered_in_order_and_empty_ones_are_not(house: House) -> None:
    with house.call(b"one\n\ntw") as sock, sock.makefile("rb") as answers:
        assert answers.readline() == b"ONE\n"
        sock.sendall(b"o\nthree\n")
        assert [answers.readline(), answers.readline()] == [b"TWO\n", b"THREE\n"]


def test_more_connections_than_threads_are_held_without_holding_up_the_next(house: House) -> None:
    held = [house.call(b"hold\n") for _ in range(2 * SPARE + KEPT)]
    for _ in held:
        house.held.get(timeout=150)
    with house.call(b"quick\n") as sock, sock.makefile("rb") as answers:
        assert answers.readline() == b"QUICK\n"
    house.open.set()
    for sock in held:
        with sock, sock.makefile("rb") as answers:
            assert [answers.readline(), answers.readline()] == [b"\n", b"GO\n"]


def test_a_crowd_that_never_asks_is_cut_off_for_somebody_who_does(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threaded_line_server, "MOST", 6)
    with house.call(b"first\n") as served, house.call(b"hold\n"):
        assert served.recv(100) == b"FIRST\n"
        house.held.get(timeout=150)
        slow = [house.call(b"half a li") for _ in range(12)]
        with house.call(b"last\n") as late:
            assert late.recv(100) == b"LAST\n"
        assert slow[0].recv(100) == b"", "the oldest of those who never asked is gone"
        served.sendall(b"again\n")
        assert served.recv(100) == b"AGAIN\n"
        house.open.set()
        assert house.left.get(timeout=150), "whoever is being answered stays"
        for each in slow:
            each.close()


def test_a_line_that_is_too_long_is_refused_and_the_next_one_answered(house: House) -> None:
    with house.call(b"x" * 300_000 + b"\nshort\n") as sock, sock.makefile("rb") as answers:
        assert [answers.readline(), answers.readline()] == [b"too long\n", b"SHORT\n"]


def test_a_line_as_long_as_may_be_is_answered(house: House) -> None:
    with house.call(b"x" * MOST + b"\n") as sock, sock.makefile("rb") as answers:
        assert answers.readline() == b"X" * MOST + b"\n"


def test_whoever_hangs_up_waits_no_more(house: House) -> None:
    house.call(b"hold\n").close()
    house.held.get(timeout=150)
    house.open.set()
    assert house.left.get(timeout=150) is False


def test_what_is_being_answered_is_answered_before_the_end(house: House) -> None:
    with house.call(b"hold\n") as sock, house.call(b"hello\n") as idle:
        house.held.get(timeout=150)
        assert idle.recv(100) == b"HELLO\n", "it is accepted, and has nothing more to say"
        closing = threading.Thread(target=house.counter.close, args=(20.0,))
        closing.start()
        assert idle.recv(1) == b"", "who says nothing is not waited for"
        house.open.set()
        with sock.makefile("rb") as answers:
            assert [answers.readline(), answers.readline()] == [b"\n", b"GO\n"]
        closing.join(150)
        assert not closing.is_alive()


def test_connections_that_are_cut_wait_no_more(house: House) -> None:
    with house.call(b"hold\n"):
        house.held.get(timeout=150)
        house.counter.hang_up()
        house.open.set()
        assert house.left.get(timeout=150) is False


def test_a_mistake_over_one_connection_costs_the_others_nothing(house: House) -> None:
    for _ in range(2 * KEPT):
        with house.call(b"break\n") as sock:
            assert sock.recv(100) == b""
    with house.call(b"one\n") as sock:
        assert sock.recv(100) == b"ONE\n"


def test_what_was_said_by_one_who_has_gone_is_dealt_with_before_it_settles(house: House) -> None:
    house.counter.settle(20)
    stays = house.call()
    house.call(b"hold\n").close()
    house.held.get(timeout=150)
    settled = threading.Event()
    waiting = threading.Thread(target=lambda: (house.counter.settle(20), settled.set()))
    waiting.start()
    assert not settled.wait(0.2)
    house.open.set()
    assert settled.wait(150)
    assert house.left.qsize() == 1
    waiting.join()
    stays.close()
