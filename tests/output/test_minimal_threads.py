"""Threads and what they wait for, without the module for them."""

from __future__ import annotations

import subprocess
import sys

from interlock.output.chunks import START
from interlock.output.minimal_threads import Condition, Event, Thread


def test_who_waits_hears_of_every_change() -> None:
    changed, turns, wanted = Condition(), [0], 200

    def play(mine: int) -> None:
        for _ in range(wanted):
            with changed:
                assert changed.wait_for(lambda: turns[0] % 3 == mine)
                turns[0] += 1
                changed.notify_all()

    def playing(mine: int) -> Thread:
        return Thread(lambda: play(mine))

    players = [playing(number) for number in range(3)]
    for player in players:
        player.start()
    for player in players:
        player.join()
        assert player.begun
        assert not player.is_alive()
    assert turns[0] == 3 * wanted


def test_what_does_not_happen_is_not_waited_for_longer_than_was_said() -> None:
    changed, happened = Condition(), Event()
    with changed:
        assert not changed.wait_for(lambda: False, 0.0)
        assert not changed.wait_for(lambda: False, 0.01)
        assert changed.wait_for(lambda: True, 0.0)
    assert not happened.wait(0.01)

    def wait() -> None:
        happened.wait()

    waiting = Thread(wait)
    waiting.start()
    waiting.join(0.01)
    assert waiting.is_alive()
    happened.set()
    waiting.join()
    assert happened.wait(0.0)


def test_a_thread_that_fails_has_ended() -> None:
    script = "from interlock.output.minimal_threads import Thread\n"
    script += "thread = Thread(lambda: 1 / 0)\nthread.start(); thread.join(); print(thread.is_alive())\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_a_copier_does_without_what_takes_long_to_import() -> None:
    script = START.partition("__import__")[0].replace("sys.argv[2]", "sys.argv[1]")
    script += (
        "import interlock.output.copier\nprint(sorted({'threading', 'collections', 'contextlib'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script, ascii(sys.path)], capture_output=True, check=True)
    assert done.stdout == b"[]\n"
