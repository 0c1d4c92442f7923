"""Typist: types chunks into the editor and waits until they are on disk. SafePoint: where it stops for a recovery."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...core import Clock, InterlockError
from ..display import wait_until
from ..editor.vscode import VSCodeController
from ..session import normalise, read_text, text_hash
from .plan import Chunk, CursorPosition

SAVE_S = 10.0
"""How long a saved chunk may take to reach the disk before the screen is checked."""

CHARS_PER_SECOND = 60
"""What an editor still processes on an overloaded machine; typed keys are queued before the save."""

WRITE_S = 0.5
"""How long a file may take to be written."""

SETTLE_S = (0.3, 2.4)
"""How long a revert may take at first, and at most after one was too slow."""

REVERT_S = 5.0
REWINDS = 4

AWAY_S = 0.6
"""How long keyboard focus may seem to be elsewhere before that is a problem: titles lag."""


class NotOnDisk(InterlockError):
    """Raised when what was typed does not reach the disk as expected."""


class Aborted(Exception):
    """Raised when the replay must end."""


class Typist:
    """Types chunks; tells whether it is typing, and whether it has an input box open itself."""

    def __init__(
        self, editor: VSCodeController, safe_point: SafePoint, clock: Clock, is_aborted: Callable[[], bool]
    ) -> None:
        self.editor, self._safe_point, self._clock, self._is_aborted = editor, safe_point, clock, is_aborted
        self.typing = self.operating = False
        self.serial = 0
        self._cursor: tuple[str, int] | None = None
        self._known: dict[str, str] = {}
        self._settle_s = SETTLE_S[0]
        self._recoveries = 0
        editor.give_up = lambda: is_aborted() or safe_point.is_wanted

    def type_chunk(self, chunk: Chunk) -> None:
        """Type a chunk; it is on disk when this returns."""
        self.check_interrupts()
        self._check_disk(chunk.path)
        if self._cursor is not None and self._cursor[0] == chunk.path:
            # It was there a moment ago: if it is not now, the screen must be checked.
            self._guard(chunk.path)
        elif not self.editor.is_ready(chunk.path):
            self.open(chunk.path)
        if self._cursor != (chunk.path, chunk.begin) or chunk.finish > chunk.begin or not chunk.text:
            self._move_and_delete(chunk)
        self._cursor = None
        if not chunk.edits:
            return
        if chunk.text:
            self._type(chunk)
        self.editor.save()
        self._wait_for_disk(chunk)
        self._known[chunk.path] = chunk.expected
        self._settle_s = max(SETTLE_S[0], self._settle_s / 2)
        self._cursor = (chunk.path, chunk.begin + len(chunk.text))

    def open(self, path: str) -> None:
        """Show a file."""
        self._cursor = None
        with self._operation():
            if not self.editor.open_file(path):
                self.check_interrupts()
                raise NotOnDisk(f"the editor does not show {path}")

    def rewind(self, path: str, text: str) -> None:
        """Restore this text on disk and in the editor, whatever their state."""
        self._cursor = None
        for _ in range(REWINDS):
            self._write_to_disk(path, text)
            self.open(path)
            with self._operation():
                self.editor.revert()
                # The revert reloads the file; what is typed before it is done would be lost.
                wait_until(lambda: False, self._settle_s, give_up=self.editor.give_up)
                wait_until(lambda: self.editor.is_saved(path), REVERT_S, give_up=self.editor.give_up)
            self.check_interrupts()
            # A save that was under way may have intervened and written something else.
            if self._holds(path, text) and self.editor.is_saved(path):
                self._known[path] = text_hash(text)
                return
            self._settle_s = min(SETTLE_S[1], self._settle_s * 2)
        raise NotOnDisk(f"the editor cannot revert {path}")

    def renew(self) -> None:
        """Restart the editor: nothing looks wrong, yet it neither saves nor reloads."""
        with self._operation():
            self.editor.renew()
        self._cursor = None

    def check_interrupts(self) -> None:
        """Stop here if the replay was aborted, or while a recovery wants the keyboard; then raise Disturbed."""
        if self._is_aborted():
            raise Aborted
        self._safe_point.pass_by()
        if self._safe_point.recoveries != self._recoveries:
            self.start_over()
            raise Disturbed

    def start_over(self) -> None:
        """Acknowledge all recoveries so far."""
        self._recoveries = self._safe_point.recoveries
        self._cursor = None

    def _write_to_disk(self, path: str, text: str) -> None:
        """Write this text to disk, with the file's own line ends."""
        target = self.editor.folder / path
        if self._holds(path, text):
            return
        found = read_text(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        ends = "\r\n" if found is not None and "\r\n" in found else "\n"
        target.write_bytes(text.replace("\n", ends).encode("utf-8"))

    def _holds(self, path: str, text: str) -> bool:
        found = read_text(self.editor.folder / path)
        return found is not None and normalise(found) == text

    def _check_disk(self, path: str) -> None:
        """Raise if someone else has changed the file."""
        found = read_text(self.editor.folder / path)
        if path in self._known and (found is None or text_hash(found) != self._known[path]):
            del self._known[path]
            raise NotOnDisk(f"{path} was changed from outside")

    def _move_and_delete(self, chunk: Chunk) -> None:
        with self._operation():
            self._move_cursor(chunk.start)
            if chunk.finish > chunk.begin:
                self.editor.set_anchor()
                self._move_cursor(chunk.end)
                self.editor.delete_to_here()

    def _move_cursor(self, position: CursorPosition) -> None:
        self.check_interrupts()
        if position.at_end and position.column > 1:
            self.editor.go_to_end(position.line)
        else:
            self.editor.go_to(position.line, position.column)

    def _type(self, chunk: Chunk) -> None:
        self.typing = True
        try:
            self.editor.type_exactly(chunk.text, lambda: self._guard(chunk.path))
        finally:
            self.typing = False

    def _guard(self, path: str) -> None:
        """Raise if keyboard focus is not in this file, and stays away."""
        self.check_interrupts()
        if not wait_until(lambda: self.editor.is_ready(path), AWAY_S, give_up=self.editor.give_up):
            self.check_interrupts()
            raise NotOnDisk(f"keyboard focus is not in {path}")

    def _wait_for_disk(self, chunk: Chunk) -> None:
        """Wait until the file has its expected content; stop early if keyboard focus is gone for good."""
        target = self.editor.folder / chunk.path
        self.typing = True
        since: list[float] = []
        seen = [read_text(target)]

        def there() -> bool:
            found = read_text(target)
            if found != seen[-1]:
                seen.append(found)
            return found is not None and len(normalise(found)) == chunk.length and text_hash(found) == chunk.expected

        def saved() -> bool:
            # An earlier save may have written the same text: only an editor without unsaved text is done.
            return there() and self.editor.is_saved(chunk.path) and there()

        def lost() -> bool:
            if self._is_aborted() or self._safe_point.is_wanted or self._has_wrong_content(seen, there):
                return True
            if self.editor.is_ready(chunk.path):
                since.clear()
                return False
            since.append(self._clock.monotonic())
            return since[-1] - since[0] > AWAY_S

        try:
            if wait_until(saved, SAVE_S + len(chunk.text) / CHARS_PER_SECOND, give_up=lost):
                return
        finally:
            self.typing = False
        self.check_interrupts()
        if len(seen) > 1 and seen[-1] is not None:
            raise NotOnDisk(f"chunk {chunk.index} of {chunk.path} came out differently: ...{_end(chunk, seen[-1])!r}")
        raise NotOnDisk(f"chunk {chunk.index} of {chunk.path} did not reach the disk")

    def _has_wrong_content(self, seen: list[str | None], there: Callable[[], bool]) -> bool:
        """Whether the file was written with other content; checked twice, as writing takes a moment."""
        if len(seen) < 2:
            return False
        return not wait_until(there, WRITE_S) and len(seen) <= 3

    @contextmanager
    def _operation(self) -> Iterator[None]:
        """Marks that the session uses input boxes itself, so that a monitor does not report them."""
        self.operating = True
        self.serial += 1
        try:
            yield
        finally:
            self.serial += 1
            self.operating = False


def _end(chunk: Chunk, text: str) -> str:
    """The text where the chunk should end."""
    return normalise(text)[: chunk.begin + len(chunk.text)][-40:]


PARK_S = 10.0
"""How long a recovery waits for the replay to stop typing; it checks every few characters."""


class Disturbed(Exception):
    """Raised in the replay when a recovery has used the keyboard: the last keys may have gone anywhere."""


class SafePoint:
    """Synchronises the thread that types with the one that recovers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._typing_thread: int | None = None
        self._wanted = False
        self._parked = False
        self.recoveries = 0
        """How often a recovery has used the keyboard."""

    def begin(self) -> None:
        """The calling thread types from now on; waits while a recovery uses the keyboard."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted)
            self._typing_thread = threading.get_ident()

    def end(self) -> None:
        """Nobody types any more."""
        with self._changed:
            self._typing_thread = None
            self._changed.notify_all()

    @property
    def is_wanted(self) -> bool:
        """Whether a recovery waits for the keyboard of the calling thread."""
        return self._wanted and self._typing_thread == threading.get_ident()

    def pass_by(self) -> None:
        """Called by the typing thread: wait here while a recovery needs the keyboard."""
        with self._changed:
            if self._wanted:
                self._parked = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._wanted)
                self._parked = False

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """The keyboard for a recovery; False if the replay did not release it in time."""
        with self._changed:
            self._wanted = True
            free = self._changed.wait_for(lambda: self._parked or self._typing_thread is None, PARK_S)
        try:
            yield free
        finally:
            with self._changed:
                self.recoveries += free
                self._wanted = False
                self._changed.notify_all()
