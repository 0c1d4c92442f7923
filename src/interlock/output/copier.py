"""The copier of a run: copies the output of its command to its destination, and has it stored.

It is a separate process, so that the command's streams outlive front and owner; it exits when no process can write to
them any more. Each run has one, so it imports what redacts and stores output only when there is some."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from threading import Event, Thread

from .chunks import STDERR, TERMINAL, Source
from .output_buffer import OutputBuffer

TYPE_CHECKING = False

if TYPE_CHECKING:
    import queue
    import socket

    from .terminal_settings import TerminalSettings

CHUNK = 1024 * 1024
CHECK_S = 0.5
"""How often we check whether the terminal's size or settings changed while nothing is printed."""

END_S = 0.1
"""How long a stream may take to end after the command has; then a process that it left behind keeps it open."""

DRAINED = b"drained\n"


class _Stream:
    """One stream: reads the command's output, writes it to its destination, and has it stored."""

    def __init__(self, name: str, source: int, sink: int, steps: StepLines) -> None:
        name, _, settings = name.partition("=")
        self.source, self.sink = source, sink
        self.steps = steps if name != STDERR and steps.wanted else None
        self.settings = _terminal(source, sink, settings) if name == TERMINAL else None
        self.from_: Source = (name, self.settings.size if self.settings is not None else None)
        self.ended, self.drained = Event(), Event()
        self._asked = False
        self._wake_reader, self._wake_writer = os.pipe()

    def ask(self) -> None:
        """Request that `drained` is set as soon as nothing is left to read."""
        self._asked = True
        os.write(self._wake_writer, b".")

    def copy(self, buffer: OutputBuffer) -> bool:
        """Copy until the command's last process has closed the stream; False if its reader is gone before that."""
        try:
            while True:
                if not select.select([self.source], [], [], 0)[0]:
                    if self._asked:
                        self.drained.set()
                    if self.settings is not None:
                        self.settings.follow()
                    keys = [self.sink] if self.settings is not None and self.settings.forwards else []
                    timeout = CHECK_S if self.settings is not None else None
                    ready = select.select([self.source, self._wake_reader, *keys], [], [], timeout)[0]
                    if self._wake_reader in ready:
                        os.read(self._wake_reader, 1)
                    if self.sink in ready:
                        os.write(self.source, os.read(self.sink, 4096))
                    if self.source not in ready:
                        continue
                data = os.read(self.source, CHUNK)
                if not data:
                    return True
                if self.settings is not None:
                    self.settings.follow()
                buffer.put(self.from_, data)
                if self.steps is not None:
                    self.steps.feed(data)
                    self.steps = self.steps if self.steps.wanted else None
                if not self._write(data):
                    return False
        except OSError as error:
            if error.errno != errno.EIO:  # reported by a terminal when its last writer is gone
                raise
            return True
        finally:
            self.ended.set()
            self.drained.set()

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.sink, view) :]
            except BlockingIOError:
                select.select([], [self.sink], [])
            except BrokenPipeError:
                return False
            except OSError:
                # The terminal is gone, or the disk is full: the command continues, and its output is stored.
                return True
        return True


def _terminal(source: int, sink: int, settings: str) -> TerminalSettings:
    from .terminal_settings import TerminalSettings

    return TerminalSettings(source, sink, settings)


def main() -> None:
    """Copy until every stream has ended.

    The arguments are CONTROL BOUND FOLDER STEPS {NAME SOURCE SINK}...: descriptors of a socket to the front and, for
    each stream, of the command's output and of its destination. STEPS, as MODE=SOCKET, says how to find steps in
    the output, and where to report them.
    """
    for name in ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP", "SIGTERM", "SIGTTOU"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    front, bound, folder, where, *words = sys.argv[1:]
    control = int(front)
    mode, _, path = where.partition("=")
    steps = StepLines(mode, path)
    each = zip(*[iter(words)] * 3, strict=True)
    streams = [_Stream(name, int(source), int(sink), steps) for name, source, sink in each]
    buffer = OutputBuffer(folder, int(bound))

    def copy(number: int, stream: _Stream) -> None:
        if not stream.copy(buffer):
            # As without us, the command's next write fails.
            _tell(control, b"closed %d\n" % number)
            os.close(stream.source)

    def copying(number: int, stream: _Stream) -> Thread:
        return Thread(target=copy, args=(number, stream))

    threads = [copying(*each) for each in enumerate(streams)]
    for thread in threads:
        thread.start()
    Thread(target=_answer, args=(control, streams, buffer, steps), daemon=True).start()
    for thread in threads:
        thread.join()
    steps.close()
    buffer.close()
    _tell(control, DRAINED)
    # There is nothing to clean up.
    os._exit(0)


def _tell(control: int, words: bytes) -> None:
    try:
        os.write(control, words)
    except OSError:
        # The front is gone.
        return


def _answer(control: int, streams: list[_Stream], buffer: OutputBuffer, steps: StepLines) -> None:
    """The front reports that the command has ended: make sure that all of its output is at its destination."""
    try:
        if not os.read(control, 1) or all(stream.ended.wait(END_S) for stream in streams):
            return
    except OSError:
        return
    for stream in streams:
        stream.ask()
    for stream in streams:
        stream.drained.wait()
    buffer.flush()
    steps.flush()
    _tell(control, DRAINED)


MAX_LINE = 1024 * 1024
"""In bytes; a longer line is not a step."""

WAITING = 1000
"""How many lines may be queued for the owner; then the command is blocked, for at most PUT_S."""

PUT_S = 1.0
PATIENCE_S = 10.0
"""How long to wait for an owner that is being replaced."""

AUTO = "auto"


class StepLines:
    """`feed` it a command's output; with `auto`, `wanted` becomes False if the first line is not a step line."""

    def __init__(self, mode: str, path: str) -> None:
        self.wanted = bool(path)
        self._first, self._path = mode == AUTO, path
        self._rest = b""
        self._skips = False
        self._lines: queue.Queue[bytes | None] | None = None
        self._thread: Thread | None = None

    def feed(self, data: bytes) -> None:
        """Find the step lines in the output, and queue them."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._see(line)
            if not self.wanted:
                return
        self._rest = rest if len(rest) <= MAX_LINE else b""
        self._skips = self._skips or len(rest) > MAX_LINE
        if self._first and len(rest) > MAX_PREFIX and not is_step_line(rest):
            self.wanted = False

    def flush(self) -> None:
        """Wait until the owner has received every line so far."""
        deadline = time.monotonic() + PATIENCE_S
        while self._lines is not None and self._lines.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.01)

    def close(self) -> None:
        """Report the remaining lines to the owner."""
        if self.wanted and self._rest:
            self._see(self._rest)
        if self._thread is not None and self._lines is not None:
            self._lines.put(None)
            self._thread.join(PATIENCE_S)

    def _see(self, line: bytes) -> None:
        skipped, self._skips = self._skips, False
        is_step = not skipped and is_step_line(line)
        if self._first and line.strip():
            self._first, self.wanted = False, is_step
        if is_step:
            import queue

            if self._lines is None:
                lines = self._lines = queue.Queue(WAITING)
                self._thread = Thread(target=self._tell, args=(lines,), daemon=True)
                self._thread.start()
            try:
                self._lines.put(line, timeout=PUT_S)
            except queue.Full:
                return

    def _tell(self, lines: queue.Queue[bytes | None]) -> None:
        import socket

        connection: socket.socket | None = None
        while (line := lines.get()) is not None:
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                try:
                    if connection is None:
                        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                        connection.connect(self._path)
                    connection.sendall(b'{"printed":' + line.strip() + b"}\n")
                    if read_line(connection):
                        break
                except OSError:
                    pass
                if connection is not None:
                    connection.close()
                    connection = None
                time.sleep(0.1)
            lines.task_done()
        if connection is not None:
            connection.close()


SPACE = b" \t\n\r\f\v"

MAX_PREFIX = 64
"""If the first line has this many bytes and no step prefix, it is not a step."""


def is_step_line(line: bytes) -> bool:
    """Whether a line begins like a step: `{"before":` or `{"after":`."""
    if not line.lstrip(SPACE).startswith(b"{"):
        return False
    key = line.lstrip(SPACE)[1:].lstrip(SPACE)
    return any(
        key.startswith(name) and key[len(name) :].lstrip(SPACE).startswith(b":") for name in (b'"before"', b'"after"')
    )


def read_line(connection: socket.socket) -> bytes:
    """One answer, which only confirms that the line was received; empty if the owner is gone."""
    answer = b""
    while not answer.endswith(b"\n"):
        more = connection.recv(65_536)
        if not more:
            return b""
        answer += more
    return answer
