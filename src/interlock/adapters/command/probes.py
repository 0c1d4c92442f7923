"""ProbeReader: measures a run's processes from outside: I/O, CPU, and which process waits for a person."""

from __future__ import annotations

import os
import platform
import re
import select
import struct
import termios
from pathlib import Path

from ...core import boot_clock
from ...process import read_bytes, read_process, waited_s
from ...redact import redact_text
from ...runtime import TerminalReader

TTY = ("/dev/tty", "/dev/pts/", "/dev/console")
WAITING = ("n_tty_read", "wait_woken", "tty_read")
"""Kernel functions in which a process sleeps while it reads a terminal."""

PIPES = ("pipe:", "socket:")
WAITING_ON_PIPE = ("pipe_read", "anon_pipe_read", "pipe_wait", "unix_stream_read_generic", "unix_stream_data_wait")

PAGERS = frozenset(("less", "more", "most", "man"))
EDITORS = frozenset(("vi", "vim", "vim.basic", "vim.tiny", "nvim", "nano", "emacs", "ed", "pico", "joe"))
DIALOGS = frozenset(("pinentry", "pinentry-curses", "pinentry-tty", "whiptail", "dialog"))

CALLS: dict[str, dict[str, str]] = {
    "x86_64": {
        **dict.fromkeys(("0", "19", "45", "47"), "read"), **dict.fromkeys(("7", "271"), "poll"),
        **dict.fromkeys(("23", "270"), "select"), **dict.fromkeys(("232", "281"), "epoll"),
    },
    "aarch64": {**dict.fromkeys(("63", "65", "207", "212"), "read"), "73": "poll", "72": "select", "22": "epoll"},
}  # fmt: skip
"""System call numbers in which a process waits for input."""

MOST_POLLED = 64
"""The most descriptors of one call that are checked."""

QUESTION = re.compile(r"[?:>\]$#%❯»]\s*$|[?:].*\)\s*$|\b(?:press|hit|type)\b.*\b(?:key|enter|return|yes)\b", re.I)
"""An unfinished line that asks for input."""

STDERR_FILENO = 2
TTY_FIELD = 4
"""The field of /proc/PID/stat, counted after the name, with the controlling terminal."""

PTS_MAJOR = 136
SHOWN = 80
"""The most characters of a command line that a question shows."""

SLACK_S = 2.0
"""Tolerance between a tool's start and the moment we learn of it."""


class ProbeReader:
    """Measures one process tree. The cost depends only on the run's processes."""

    def __init__(self) -> None:
        self.io_bytes = 0
        self._io: dict[int, int] = {}
        self._asking: tuple[int, str] | None = None
        self.unsure = False

    def read_io(self, pids: tuple[int, ...]) -> int:
        """Bytes that the run's processes have read and written; ended processes count as last seen."""
        now = {pid: _io_of(pid) for pid in pids}
        self.io_bytes += sum(max(0, total - self._io.get(pid, 0)) for pid, total in now.items())
        self._io = now
        return self.io_bytes

    def wanted_cpu(self, pid: int) -> float:
        """CPU seconds that a process used or waited for: on a busy machine, a spinning process gets little."""
        process = read_process(pid)
        waited = sum(waited_s(task) for task in _folders(f"/proc/{pid}/task")) if process is not None else 0.0
        return (process.cpu_s if process is not None else 0.0) + waited

    def find_reader(
        self, pids: tuple[int, ...], last_line: str, client: int, tool_s: float | None = None, *, is_client: bool = True
    ) -> TerminalReader | None:
        """The process that waits for a person to type, in this check and the previous one; None if there is none.

        `unsure`: a process was seen waiting for the first time, so check again soon.
        A process counts if it sleeps in a read of a terminal; if its name is that of a pager or an editor;
        or if it polls a terminal and was started by the current tool, which began `tool_s` ago: an interactive
        client always polls its own terminal. Otherwise the last line must be a question: see `_find_asker`.
        """
        found = self._find_reader(pids, last_line, client, tool_s, is_client=is_client)
        before, self._asking = self._asking, (found.pid, found.text) if found is not None else None
        # It may continue immediately, and its question may not be printed yet.
        self.unsure = found is not None and self._asking != before
        return found if not self.unsure else None

    def _find_reader(
        self, pids: tuple[int, ...], last_line: str, client: int, tool_s: float | None, *, is_client: bool
    ) -> TerminalReader | None:
        young = {pid for pid in pids if tool_s is not None and pid != client and is_younger(pid, tool_s)}
        for pid in reversed(pids):
            command = _reads_terminal(pid)
            if command is None and pid in young and any(_is_terminal(pid, each) for each in _awaited(f"/proc/{pid}")):
                command = _name(pid)
            if command is not None:
                return TerminalReader(pid, command, _question_of(pid, command, last_line), client=pid == client)
        if not QUESTION.search(last_line):
            return None
        return self._find_asker(pids, last_line, client, young, is_client=is_client)

    def _find_asker(
        self, pids: tuple[int, ...], last_line: str, client: int, young: set[int], *, is_client: bool
    ) -> TerminalReader | None:
        """The process that waits for an answer, if the last output is a question.

        It polls the terminal, unless the command is an agent client, which always polls its own; or it reads its
        standard input, which is a pipe from outside the run or from the client.
        """
        said = {_link(client, number) for number in (1, STDERR_FILENO)}
        for pid in reversed(pids):
            # A server started by a tool also has the run's stderr, but communicates through pipes.
            if not said & {_link(pid, number) for number in ((1,) if pid in young else (1, STDERR_FILENO))}:
                continue
            awaited = {each for task in _folders(f"/proc/{pid}/task") for each in _awaited(task)}
            on_terminal = not is_client and any(_is_terminal(pid, number) for number in awaited)
            if on_terminal or (0 in awaited and _is_fed_from_outside(pid, pids, client, young)):
                line = last_line.strip()
                return TerminalReader(pid, _name(pid), line, client=pid not in young, piped=not on_terminal)
        return None

    def orphan_of(self, pids: tuple[int, ...], client: int) -> str:
        """A process whose parent is outside the run and that is not the client; empty if there is none."""
        inside = set(pids)
        for pid in pids:
            process = read_process(pid)
            if process is not None and pid != client and process.parent not in inside and not _is_first(pid):
                return f"{_name(pid)} (process {pid})"
        return ""


def question_on(screen: tuple[str, ...]) -> str:
    """The last row of a screen if it is a question, else empty."""
    row = next((row for row in reversed(screen) if row.strip()), "")
    return row if QUESTION.search(row) else ""


def _reads_terminal(pid: int) -> str | None:
    name = _name(pid)
    if not name:
        return None
    if name in PAGERS | EDITORS and _has_terminal(pid):
        return name
    if name in DIALOGS and any(_is_terminal(pid, int(each.name)) for each in _paths(f"/proc/{pid}/fd")):
        return name
    call, words = _call_of(f"/proc/{pid}")
    if call == "read":
        return name if _is_terminal(pid, words[0]) else None
    channel = _text(f"/proc/{pid}/wchan").strip()
    return name if channel in WAITING and _has_terminal(pid) else None


def _has_terminal(pid: int) -> bool:
    return any(_is_terminal(pid, number) for number in (0, 1, 2))


def _is_terminal(pid: int, descriptor: int) -> bool:
    return _link(pid, descriptor).startswith(TTY)


def _link(pid: int, descriptor: int) -> str:
    """The target of a descriptor; empty if unknown."""
    try:
        return str(Path(f"/proc/{pid}/fd/{descriptor}").readlink())
    except OSError:
        return ""


def _is_fed_from_outside(pid: int, pids: tuple[int, ...], client: int, young: set[int]) -> bool:
    """Whether standard input is a pipe that no process of the run writes to, except the client for its tools."""
    stdin = _link(pid, 0)
    if not stdin.startswith(PIPES) or (stdin != _link(client, 0) and pid not in young):
        return False
    return not any(stdin in _links_for_writing(other) for other in pids if other not in (pid, client))


def _links_for_writing(pid: int) -> set[str]:
    numbers = (each.name for each in _paths(f"/proc/{pid}/fd"))
    writes = (each for each in numbers if _access(_text(f"/proc/{pid}/fdinfo/{each}")) != os.O_RDONLY)
    return {_link(pid, int(number)) for number in writes if number != "0"}


def _access(info: str) -> int:
    """A descriptor's access mode: O_RDONLY, O_WRONLY or O_RDWR."""
    found = re.search(r"^flags:\s*([0-7]+)", info, re.M)
    return int(found[1], 8) & os.O_ACCMODE if found is not None else os.O_RDONLY


def _call_of(task: str) -> tuple[str, list[int]]:
    """The system call in which a thread waits for input, and its arguments; empty if none."""
    number, *words = _text(f"{task}/syscall").split() or [""]
    call = CALLS.get(platform.machine(), {}).get(number, "")
    return call, [int(word, 16) for word in words] if call else []


def _awaited(task: str) -> list[int]:
    """The descriptors that a thread waits to read from."""
    call, words = _call_of(task)
    if call == "read":
        return words[:1]
    if call == "epoll":
        polled = re.findall(r"tfd:\s*(\d+) events:\s*([0-9a-f]+)", _text(f"{task}/fdinfo/{words[0]}"))
        return [int(number) for number, events in polled if int(events, 16) & select.POLLIN]
    if call == "poll":
        entries = struct.iter_unpack("ihh", _memory(task, words[0], min(words[1], MOST_POLLED) * 8))
        return [number for number, events, _ in entries if events & select.POLLIN]
    if call == "select":
        bits = int.from_bytes(_memory(task, words[1], min(words[0], MOST_POLLED) // 8 + 1), "little")
        return [number for number in range(min(words[0], MOST_POLLED)) if bits >> number & 1]
    if _text(f"{task}/wchan").strip() in WAITING_ON_PIPE:
        # We may not be allowed to see its system calls: if it has only one pipe to read from, that must be it.
        pid = int(Path(task).name)
        numbers = [int(each.name) for each in _paths(f"{task}/fd")]
        pipes = [each for each in numbers if _link(pid, each).startswith(PIPES) and each not in (1, STDERR_FILENO)]
        return pipes if pipes == [0] else []
    return []


def _memory(task: str, address: int, size: int) -> bytes:
    """Memory of a process; empty if we are not allowed to read it."""
    try:
        with Path(f"{task}/mem").open("rb", buffering=0) as file:
            file.seek(address)
            data = file.read(size)
    except (OSError, ValueError, OverflowError):
        return b""
    return data if len(data) == size else b""


def is_younger(pid: int, seconds: float) -> bool:
    """Whether a process was started within about this many seconds."""
    process = read_process(pid)
    if process is None:
        return False
    age = boot_clock() - process.start / os.sysconf("SC_CLK_TCK")
    return age <= seconds + SLACK_S


def _question_of(pid: int, command: str, last_line: str) -> str:
    """The question: the last line; for a pager or an editor, which draw a page, the file."""
    words = _text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
    file = words[-1].rsplit("/", 1)[-1] if len(words) > 1 and not words[-1].startswith(("-", "+")) else ""
    if command in PAGERS:
        return f"{command} shows {file or 'a page'} and waits for a key"
    if command in DIALOGS:
        return f"{command} shows a dialog and waits for an answer"
    if command in EDITORS:
        return f"{command} waits for somebody to edit {file or 'a file'}"
    if _asks_directly(pid):
        # The process also prints its question there, where we cannot see it.
        what = "a password" if _hides_input(pid) else "input"
        return f"{redact_text(' '.join(words))[:SHOWN]} asks for {what} on its terminal"
    return last_line.strip() or f"{command} waits for input"


def _asks_directly(pid: int) -> bool:
    """Whether a process reads /dev/tty, not one of its standard streams."""
    call, words = _call_of(f"/proc/{pid}")
    return call == "read" and words[0] > STDERR_FILENO and _is_terminal(pid, words[0])


def _hides_input(pid: int) -> bool:
    """Whether the terminal of a process has echo off."""
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
    """Whether it is our own process: the first one of a sandbox, or the one that started it."""
    words = _text(f"/proc/{pid}/cmdline").replace("\0", " ")
    return "bwrap" in words.split(" ")[0] or "interlock/process/" in words


def _name(pid: int) -> str:
    return _text(f"/proc/{pid}/comm").strip()


def _io_of(pid: int) -> int:
    lines = dict(line.split(": ") for line in _text(f"/proc/{pid}/io").splitlines() if ": " in line)
    return int(lines.get("rchar", 0)) + int(lines.get("wchar", 0))


def _folders(path: str) -> list[str]:
    return [str(folder) for folder in _paths(path)]


def _paths(path: str) -> list[Path]:
    try:
        return list(Path(path).iterdir())
    except OSError:
        return []


def _text(path: str) -> str:
    return read_bytes(path).decode("utf-8", "replace")
