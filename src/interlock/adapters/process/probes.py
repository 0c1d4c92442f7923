"""ProbeReader: what a run's processes do, measured from outside: input and output, and who reads a terminal."""

from __future__ import annotations

from pathlib import Path

from ...process.proc import look_at
from ...runtime.liveness import TerminalReader

TTY = ("/dev/tty", "/dev/pts/", "/dev/console")
WAITING = ("n_tty_read", "wait_woken", "tty_read")
"""Where in the kernel a process sleeps that reads a terminal."""

PAGERS = frozenset(("less", "more", "most", "man"))
EDITORS = frozenset(("vi", "vim", "vim.basic", "vim.tiny", "nvim", "nano", "emacs", "ed", "pico", "joe"))


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

    def find_reader(self, pids: tuple[int, ...], last_line: str, client: int) -> TerminalReader | None:
        """The process that waits for somebody to type at its terminal; None where none does.

        A process counts that sleeps in a read of a terminal; a pager or an editor, which waits otherwise, by its name.
        """
        for pid in reversed(pids):
            if (command := _reads_terminal(pid)) is not None:
                text = last_line.strip() or _question_of(command)
                return TerminalReader(pid, command, text, client=pid == client)
        return None

    def orphan_of(self, pids: tuple[int, ...], client: int) -> str:
        """A process that outlived whoever started it: its parent is not of the run, and it is not the client."""
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


def _question_of(command: str) -> str:
    if command in PAGERS:
        return f"{command} shows a page and waits for a key"
    if command in EDITORS:
        return f"{command} waits for somebody to edit a file"
    return f"{command} waits for input"


def _is_first(pid: int) -> bool:
    """Whether it is ours: the first process of a wall, or what starts it."""
    words = _text(f"/proc/{pid}/cmdline").replace("\0", " ")
    return "bwrap" in words.split(" ")[0] or "interlock/process/" in words


def _name(pid: int) -> str:
    return _text(f"/proc/{pid}/comm").strip()


def _io_of(pid: int) -> int:
    lines = dict(line.split(": ") for line in _text(f"/proc/{pid}/io").splitlines() if ": " in line)
    return int(lines.get("rchar", 0)) + int(lines.get("wchar", 0))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except (OSError, ValueError):
        return ""
