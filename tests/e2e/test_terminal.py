"""An interactive command has the terminal under `interlock run` as it has without."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .running import PATIENCE_S, Place, until

ROUNDS = 20

Begin = Callable[..., "Screen"]


class Screen:
    """A terminal with a process on it that leads its session."""

    def __init__(self, words: list[str], place: Place) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(place.workspace)
            os.execve(words[0], words, {**place.environment, "TERM": "xterm", "PS1": "$ "})
        self.text = ""
        self.status: int | None = None

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def see(self, word: str, times: int = 1) -> None:
        """Wait until the terminal has shown this, so often."""
        deadline = time.monotonic() + PATIENCE_S
        while self.text.count(word) < times:
            assert time.monotonic() < deadline, f"never saw {word!r} in {self.text!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.terminal, 4096).decode(errors="replace")
                except OSError:
                    assert self.text.count(word) >= times, f"the end without {word!r}: {self.text!r}"

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def end(self) -> int:
        """The status of the process that leads the session; minus a signal."""
        if self.status is None:
            until("it has ended", self._poll)
        assert self.status is not None
        return self.status

    def close(self) -> None:
        if not self._poll():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def _poll(self) -> bool:
        if self.status is None:
            if select.select([self.terminal], [], [], 0)[0]:
                # Else what ends would wait for somebody to read its last words.
                with contextlib.suppress(OSError):
                    self.text += os.read(self.terminal, 4096).decode(errors="replace")
            pid, result = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(result) if pid else None
        return self.status is not None


def is_pending(pid: int, number: signal.Signals) -> bool:
    """Whether a process has this signal still before it."""
    status = Path(f"/proc/{pid}/status").read_text()
    pending = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("ShdPnd"))
    return bool(pending & 1 << (number - 1))


@pytest.fixture
def screen_of(place: Place) -> Iterator[Begin]:
    made: list[Screen] = []

    def begin(*argv: str, shell: bool = False) -> Screen:
        words = [*argv] if shell else place.command(*argv)
        made.append(Screen(words, place))
        return made[-1]

    yield begin
    for screen in made:
        screen.close()


def test_a_python_prompt_reads_lines_and_survives_ctrl_c(screen_of: Begin) -> None:
    screen = screen_of(sys.executable, "-i", "-q")
    screen.see(">>> ")
    screen.type("6 * 7\n")
    screen.see("42")
    screen.see(">>> ", times=2)
    # A prompt that is hit just before it begins to read learns of it with the next key.
    screen.type("\x03")
    screen.type("\n")
    screen.see("KeyboardInterrupt")
    screen.type("exit(3)\n")
    assert screen.end() == 3


def test_the_second_ctrl_c_ends_the_run(screen_of: Begin, place: Place) -> None:
    screen = screen_of("sh", "-c", "trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done")
    screen.see("ready")
    screen.type("\x03")
    screen.see("caught")
    # The kernel makes one of two signals that come before the first is taken.
    until("the first is taken", lambda: not is_pending(screen.pid, signal.SIGINT))
    hint, hints = "Ctrl-C again within 5 s ends the run", 0
    screen.see(hint)
    while not screen._poll():
        # On a machine that is busier than that, the second one is a first one again.
        hints += 1
        screen.type("\x03")
        until("it ends, or is hinted at again", lambda n=hints: screen._poll() or screen.text.count(hint) > n)  # type: ignore[misc]
    assert screen.end() == 130
    assert place.processes() == []
    assert place.told()["reason"] == "USER_CANCELLED"


def test_a_command_that_ctrl_c_ends_ends_us_alike(screen_of: Begin) -> None:
    screen = screen_of("sh", "-c", "echo ready; exec sleep 600")
    screen.see("ready")
    screen.type("\x03")
    assert screen.end() == -signal.SIGINT


def test_the_window_size_and_its_changes_arrive(screen_of: Begin) -> None:
    script = "trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.05; done"
    screen = screen_of("sh", "-c", script)
    screen.see("ready")
    screen.resize(33, 101)
    screen.see("33 101")
    screen.type("\x03")
    screen.end()


def test_ctrl_z_gives_the_shell_back_and_fg_goes_on(screen_of: Begin, place: Place, tmp_path: Path) -> None:
    script = "echo begun; while read line; do echo got $line; done; echo over"
    words = tmp_path / "words.sh"
    words.write_text(" ".join(f"'{word}'" for word in place.command("sh", "-c", script)))
    screen = screen_of("/bin/bash", "--norc", "--noprofile", "-i", shell=True)
    prompt = "2004h$ "
    screen.see(prompt)
    screen.type(f". {words}\n")
    screen.see("begun")
    # Often, and as soon as it goes on: shell, front and command are continued one after the other.
    for n in range(ROUNDS):
        screen.type("\x1a")
        screen.see("Stopped", times=n + 1)
        screen.see(prompt, times=2 * n + 2)
        screen.type(f"echo at the sh''ell {n}\n")
        screen.see(f"at the shell {n}")
        screen.see(prompt, times=2 * n + 3)
        screen.type("fg\n")
        screen.type(f"hello {n}\n")
        screen.see(f"got hello {n}")
    screen.type("\x04")
    screen.see("over")
    screen.see("status 0")
    assert screen.text.count("Stopped") == ROUNDS
    screen.type("exit\n")
    assert screen.end() == 0


def test_a_command_that_stops_where_no_shell_waits_does_not_stop_us(place: Place) -> None:
    # A session of its own, as from cron: nobody there would ever continue what has stopped.
    script = "(while sleep 0.2; do kill -CONT $$ || exit; done) 2>&- & kill -TSTP $$; kill -STOP $$; echo went on"
    done = place.begin(place.command("sh", "-c", script), start_new_session=True)
    out, _ = done.communicate(timeout=PATIENCE_S)
    assert (done.returncode, out) == (0, b"went on\n")


def test_a_pager_shows_pages_and_quits(screen_of: Begin, place: Place) -> None:
    if not Path("/usr/bin/less").exists():
        pytest.skip("less is not installed")
    (place.workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(500)))
    screen = screen_of("less", "-X", "long.txt")
    screen.see("line 1")
    screen.type("G")
    screen.see("line 499")
    screen.type("q")
    assert screen.end() == 0


def test_it_is_a_filter_among_filters(place: Place) -> None:
    quoted = " ".join(f"'{word}'" for word in place.command("sort"))
    done = place.begin(["sh", "-c", f"printf 'b\\na\\n' | {quoted} 2>/dev/null | tr a-z A-Z"])
    out, _ = done.communicate(timeout=PATIENCE_S)
    assert (done.returncode, out) == (0, b"A\nB\n")
