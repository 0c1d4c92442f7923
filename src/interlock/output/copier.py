"""The copier of a run: takes what its command prints to where it belongs, and has it kept.

A separate process, so that the command's streams outlive front and owner; it ends when no one can write to them any
more. Each run has one, so it is a bare interpreter that imports next to nothing: what is kept is read by a process of
its own (keeping.py), which is there only while there is something to keep.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # not signal: its names of signals take 1 MB
import contextlib
import errno
import os
import select
import threading

from .chunks import STDERR, TERMINAL, Source
from .keeper import Keeper
from .step_lines import StepLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .terminal_settings import TerminalSettings

CHUNK = 1024 * 1024
LOOK_S = 0.5
"""How often we look whether the terminal's size or settings changed while nothing is printed."""

END_S = 0.1
"""How long a stream may take to end once the command has; then a process that it left behind holds it."""

DRAINED = b"drained\n"


class _Stream:
    """One stream: reads what the command writes, writes it where it belongs, and has it kept."""

    def __init__(self, name: str, source: int, sink: int, steps: StepLines) -> None:
        name, _, settings = name.partition("=")
        self.source, self.sink = source, sink
        self.steps = steps if name != STDERR and steps.wanted else None
        self.settings = _terminal(source, sink, settings) if name == TERMINAL else None
        self.from_: Source = (name, self.settings.size if self.settings is not None else None)
        self.ended = threading.Event()
        self.drained = threading.Event()
        self._asked = False
        self._bell, self._rope = os.pipe()

    def ask(self) -> None:
        """Have `drained` set as soon as nothing is left to read."""
        self._asked = True
        os.write(self._rope, b".")

    def copy(self, keeper: Keeper) -> bool:
        """Until the command's last process has closed it; False if whoever read it is gone first."""
        try:
            while True:
                if not select.select([self.source], [], [], 0)[0]:
                    if self._asked:
                        self.drained.set()
                    if self.settings is not None:
                        self.settings.follow()
                    keys = [self.sink] if self.settings is not None and self.settings.forwards else []
                    look_s = LOOK_S if self.settings is not None else None
                    ready = select.select([self.source, self._bell, *keys], [], [], look_s)[0]
                    if self._bell in ready:
                        os.read(self._bell, 1)
                    if self.sink in ready:
                        os.write(self.source, os.read(self.sink, 4096))
                    if self.source not in ready:
                        continue
                data = os.read(self.source, CHUNK)
                if not data:
                    return True
                if self.settings is not None:
                    self.settings.follow()
                keeper.put(self.from_, data)
                if self.steps is not None:
                    self.steps.feed(data)
                    self.steps = self.steps if self.steps.wanted else None
                if not self._write(data):
                    return False
        except OSError as error:
            if error.errno != errno.EIO:  # which a terminal gives when its last writer is gone
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
                # The terminal is gone, or the disk is full: the command continues, and is kept.
                return True
        return True


def _terminal(source: int, sink: int, settings: str) -> TerminalSettings:
    from .terminal_settings import TerminalSettings

    return TerminalSettings(source, sink, settings)


def main(arguments: list[str]) -> None:
    """Copy until every stream has ended.

    The arguments are CONTROL BOUND FOLDER STEPS {NAME SOURCE SINK}...: descriptors of a socket to the front, and for
    each stream of what the command writes to and where that belongs. STEPS, as MODE=SOCKET, is how steps are found in
    what it prints and where they are reported.
    """
    for name in ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP", "SIGTERM", "SIGTTOU"):
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    front, bound, folder, where, *words = arguments
    control = int(front)
    mode, _, path = where.partition("=")
    steps = StepLines(mode, path)
    each = zip(*[iter(words)] * 3, strict=True)
    streams = [_Stream(name, int(source), int(sink), steps) for name, source, sink in each]
    for descriptor in (control, *(stream.source for stream in streams)):
        # Whoever keeps it must not hold them open.
        os.set_inheritable(descriptor, False)
    keeper = Keeper(folder, int(bound))

    def copy(number: int, stream: _Stream) -> None:
        if not stream.copy(keeper):
            # As without us: the command's next write fails.
            with contextlib.suppress(OSError):
                os.write(control, b"closed %d\n" % number)
            os.close(stream.source)

    threads = [threading.Thread(target=copy, args=each) for each in enumerate(streams)]
    for thread in threads:
        thread.start()
    threading.Thread(target=_answer, args=(control, streams, keeper, steps), daemon=True).start()
    for thread in threads:
        thread.join()
    steps.close()
    keeper.close()
    with contextlib.suppress(OSError):
        os.write(control, DRAINED)
    # There is nothing to tidy up.
    os._exit(0)


def _answer(control: int, streams: list[_Stream], keeper: Keeper, steps: StepLines) -> None:
    """The front says that the command has ended: whatever it printed is to be where it belongs."""
    with contextlib.suppress(OSError):
        if not os.read(control, 1) or all(stream.ended.wait(END_S) for stream in streams):
            return
        for stream in streams:
            stream.ask()
        for stream in streams:
            stream.drained.wait()
        keeper.flush()
        steps.flush()
        os.write(control, DRAINED)
