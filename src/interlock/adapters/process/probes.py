"""ProbeReader: what a run's processes do, measured from outside: input and output, and who reads a terminal."""

from __future__ import annotations

import os
import re
import select
import termios
from pathlib import Path

from ...core import boot_clock
from ...process import look_at, read_bytes
from ...redact import redact_text
from ...runtime import TerminalReader

TTY = ("/dev/tty", "/dev/pts/", "/dev/console")
WAITING = ("n_tty_read", "wait_woken", "tty_read")
"""Where in the kernel a process sleeps that reads a terminal."""

PAGERS = frozenset(("less", "more", "most", "man"))
EDITORS = frozenset(("vi", "vim", "vim.basic", "vim.tiny", "nvim", "nano", "emacs", "ed", "pico", "joe"))


EPOLL_CALLS = frozenset(("22", "232", "281"))
"""The numbers of epoll_wait and epoll_pwait, on 64-bit ARM and on x86."""

STDERR_FILENO = 2
TTY_FIELD = 4
"""Of /proc/PID/stat, behind the name: the controlling terminal."""

PTS_MAJOR = 136
SHOWN = 80
"""Characters of a command line that a question shows."""

SLACK_S = 2.0
"""Between a tool's start and the moment we learn of it."""


class ProbeReader:
    """Looks at one tree. What it costs grows with the processes of the run alone."""

    def __init__(self) -> None:
        self.io_bytes = 0
        self._io: dict[int, int] = {}

    def read_io(self, pids: tuple[int, ...]) -> int:
        """Bytes that the run's processes have read and written; of those that ended, what was seen last."""
        now = {pid: _io_of(pid) for pid in pids}
        self.io_bytes += sum(max(0, total - self._io.get(pid, 0)) for pid, total in now.items())
        self._io = now
        return self.io_bytes

    def wanted_cpu(self, pid: int) -> float:
        """Seconds of processor time that a process used or waited for: on a busy machine one that spins gets little."""
        process = look_at(pid)
        waited = sum(_waited_s(task) for task in _folders(f"/proc/{pid}/task")) if process is not None else 0.0
        return (process.cpu_s if process is not None else 0.0) + waited

    def find_reader(
        self, pids: tuple[int, ...], last_line: str, client: int, tool_s: float | None = None
    ) -> TerminalReader | None:
        """The process that waits for someone to type at its terminal; None if none does.

        A process counts that sleeps in a read of a terminal; a pager or an editor, which waits otherwise, by its name;
        and one that polls a terminal, if the tool under way, which began `tool_s` ago, has started it: an interactive
        client always polls its own.
        """
        for pid in reversed(pids):
            command = _reads_terminal(pid)
            if command is None and tool_s is not None and pid != client and is_younger(pid, tool_s):
                command = _polls_terminal(pid)
            if command is not None:
                return TerminalReader(pid, command, _question_of(pid, command, last_line), client=pid == client)
        return None

    def orphan_of(self, pids: tuple[int, ...], client: int) -> str:
        """A process that outlived its starter: its parent is not of the run, and it is not the client."""
        inside = set(pids)
        for pid in pids:
            process = look_at(pid)
            if process is not None and pid != client and process.parent not in inside and not _is_first(pid):
                return f"{_name(pid)} (process {pid})"
        return ""


def _reads_terminal(pid: int) -> str | None:
    name = _name(pid)
    if not name:
        return None
    if name in PAGERS | EDITORS and _has_terminal(pid):
        return name
    place = _text(f"/proc/{pid}/wchan").strip()
    call = _text(f"/proc/{pid}/syscall").split()
    if call and call[0].isdigit() and int(call[0]) == 0 and len(call) > 1:
        return name if _is_terminal(pid, int(call[1], 16)) else None
    return name if place in WAITING and _has_terminal(pid) else None


def _has_terminal(pid: int) -> bool:
    return any(_is_terminal(pid, number) for number in (0, 1, 2))


def _is_terminal(pid: int, descriptor: int) -> bool:
    try:
        return str(Path(f"/proc/{pid}/fd/{descriptor}").readlink()).startswith(TTY)
    except OSError:
        return False


def _polls_terminal(pid: int) -> str | None:
    """The name of a process that sleeps in epoll_wait until someone types."""
    call = _text(f"/proc/{pid}/syscall").split()
    if len(call) < 2 or call[0] not in EPOLL_CALLS:
        return None
    polled = re.findall(r"tfd:\s*(\d+) events:\s*([0-9a-f]+)", _text(f"/proc/{pid}/fdinfo/{int(call[1], 16)}"))
    reads = (int(number) for number, events in polled if int(events, 16) & select.POLLIN)
    return _name(pid) if any(_is_terminal(pid, number) for number in reads) else None


def is_younger(pid: int, seconds: float) -> bool:
    """Whether a process was started within this long, give or take a moment."""
    process = look_at(pid)
    if process is None:
        return False
    age = boot_clock() - process.start / os.sysconf("SC_CLK_TCK")
    return age <= seconds + SLACK_S


def _question_of(pid: int, command: str, last_line: str) -> str:
    """What it asks: the line that was printed last; of a pager or an editor, which draw a page, the file."""
    words = _text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
    file = words[-1].rsplit("/", 1)[-1] if len(words) > 1 and not words[-1].startswith(("-", "+")) else ""
    if command in PAGERS:
        return f"{command} shows {file or 'a page'} and waits for a key"
    if command in EDITORS:
        return f"{command} waits for somebody to edit {file or 'a file'}"
    if _asks_directly(pid):
        # It writes its question there too, past what we keep.
        what = "a password" if _hides_input(pid) else "input"
        return f"{redact_text(' '.join(words))[:SHOWN]} asks for {what} on its terminal"
    return last_line.strip() or f"{command} waits for input"


def _asks_directly(pid: int) -> bool:
    """Whether what a process reads is /dev/tty, not one of the streams that it was given."""
    call = _text(f"/proc/{pid}/syscall").split()
    if len(call) < 2 or call[0] != "0" or int(call[1], 16) <= STDERR_FILENO:
        return False
    return _is_terminal(pid, int(call[1], 16))


def _hides_input(pid: int) -> bool:
    """Whether the terminal of a process does not show what is typed."""
    words = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    device = int(words[TTY_FIELD]) if len(words) > TTY_FIELD else 0
    try:
        terminal = os.open(f"/dev/pts/{_pts_number(device)}", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not termios.tcgetattr(terminal)[3] & termios.ECHO
    except termios.error:
        return False
    finally:
        os.close(terminal)


def _pts_number(device: int) -> int:
    return (os.major(device) - PTS_MAJOR) * 256 + os.minor(device)


def _is_first(pid: int) -> bool:
    """Whether it is ours: the first process of a wall, or what starts it."""
    words = _text(f"/proc/{pid}/cmdline").replace("\0", " ")
    return "bwrap" in words.split(" ")[0] or "interlock/process/" in words


def _name(pid: int) -> str:
    return _text(f"/proc/{pid}/comm").strip()


def _io_of(pid: int) -> int:
    lines = dict(line.split(": ") for line in _text(f"/proc/{pid}/io").splitlines() if ": " in line)
    return int(lines.get("rchar", 0)) + int(lines.get("wchar", 0))


def _waited_s(task: str) -> float:
    """How long a thread was ready and had no processor."""
    words = _text(f"{task}/schedstat").split()
    return int(words[1]) / 1e9 if len(words) > 1 and words[1].isdigit() else 0.0


def _folders(path: str) -> list[str]:
    try:
        return [str(folder) for folder in Path(path).iterdir()]
    except OSError:
        return []


def _text(path: str) -> str:
    return read_bytes(path).decode("utf-8", "replace")
