"""Typist: brings one chunk into the editor and waits until it is on disk. SafePoint: where it stops for a recovery."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from ...core import Clock, InterlockError
from ..display import wait_until
from ..session import normalise, read_text, text_hash
from .plan import Chunk, CursorPosition

SAVE_S = 10.0
"""How long a saved chunk may take to reach the disk before someone looks at the screen."""

CHARS_PER_SECOND = 60
"""What an editor on an overloaded machine still manages; typed keys wait in its queue before the save."""

WRITE_S = 0.5
"""How long a file may take to be written."""

SETTLE_S = (0.3, 2.4)
"""How long a revert is given at first, and at most after it has come too late."""

REVERT_S = 5.0
REWINDS = 4

AWAY_S = 0.6
"""How long the keyboard may seem to be elsewhere before that is trouble: titles follow late."""


class NotOnDisk(InterlockError):
    """Raised when what was typed does not reach the disk as it should."""


class Aborted(Exception):
    """Raised when the replay must end; says why."""


class Editor(Protocol):
    """What a replay asks of an editor; VSCodeController is ours."""

    folder: Path
    give_up: Callable[[], bool]
    renew: Callable[[], None]

    def open_file(self, path: str) -> bool: ...

    def is_ready(self, path: str | None = None) -> bool: ...

    def is_saved(self, path: str) -> bool: ...

    def go_to(self, line: int, column: int = 1) -> None: ...

    def go_to_end(self, line: int) -> None: ...

    def set_anchor(self) -> None: ...

    def delete_to_here(self) -> None: ...

    def type_exactly(self, text: str, guard: Callable[[], None]) -> None: ...

    def save(self) -> None: ...

    def revert(self) -> None: ...


class Typist:
    """Types chunks; knows whether it is typing, and whether it has an input box open itself."""

    def __init__(self, editor: Editor, safe_point: SafePoint, clock: Clock, is_aborted: Callable[[], bool]) -> None:
        self.editor, self._safe_point, self._clock, self._is_aborted = editor, safe_point, clock, is_aborted
        self.typing = self.operating = False
        self.serial = 0
        self._cursor: tuple[str, int] | None = None
        self._known: dict[str, str] = {}
        self._settle_s = SETTLE_S[0]
        self._recoveries = 0
        editor.give_up = lambda: is_aborted() or safe_point.is_wanted

    def bring(self, chunk: Chunk) -> None:
        """Carry a chunk out; it is on disk when this returns."""
        self.look_up()
        self._check_disk(chunk.path)
        if self._cursor is not None and self._cursor[0] == chunk.path:
            # It was there a moment ago: if it is not now, someone has to look at the screen.
            self._guard(chunk.path)
        elif not self.editor.is_ready(chunk.path):
            self.open(chunk.path)
        if self._cursor != (chunk.path, chunk.begin) or chunk.finish > chunk.begin or not chunk.text:
            self._go(chunk)
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
                self.look_up()
                raise NotOnDisk(f"the editor does not show {path}")

    def rewind(self, path: str, text: str) -> None:
        """Make file and editor hold this text again, whatever became of them."""
        self._cursor = None
        for _ in range(REWINDS):
            self._put_back(path, text)
            self.open(path)
            with self._operation():
                self.editor.revert()
                # The revert reads the file; what is typed before it is done would be lost.
                wait_until(lambda: False, self._settle_s, give_up=self.editor.give_up)
                wait_until(lambda: self.editor.is_saved(path), REVERT_S, give_up=self.editor.give_up)
            self.look_up()
            # A save that was under way may have come in between: what it wrote is not what we know.
            if self._holds(path, text) and self.editor.is_saved(path):
                self._known[path] = text_hash(text)
                return
            self._settle_s = min(SETTLE_S[1], self._settle_s * 2)
        raise NotOnDisk(f"the editor cannot revert {path}")

    def renew(self) -> None:
        """Have the editor restarted: it shows nothing wrong, and yet neither saves nor reads."""
        with self._operation():
            self.editor.renew()
        self._cursor = None

    def look_up(self) -> None:
        """Stop here if the replay was aborted, or while a recovery wants the keyboard; then raise Disturbed."""
        if self._is_aborted():
            raise Aborted
        self._safe_point.pass_by()
        if self._safe_point.recoveries != self._recoveries:
            self.start_over()
            raise Disturbed

    def start_over(self) -> None:
        """What recoveries have done so far is known."""
        self._recoveries = self._safe_point.recoveries
        self._cursor = None

    def _put_back(self, path: str, text: str) -> None:
        """Make the file on disk hold this text, with the line ends that it had."""
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
        """What we type comes on top of what we know: a file that someone else changed is trouble."""
        found = read_text(self.editor.folder / path)
        if path in self._known and (found is None or text_hash(found) != self._known[path]):
            del self._known[path]
            raise NotOnDisk(f"{path} was changed from outside")

    def _go(self, chunk: Chunk) -> None:
        with self._operation():
            self._put(chunk.start)
            if chunk.finish > chunk.begin:
                self.editor.set_anchor()
                self._put(chunk.end)
                self.editor.delete_to_here()

    def _put(self, position: CursorPosition) -> None:
        self.look_up()
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
        self.look_up()
        if not wait_until(lambda: self.editor.is_ready(path), AWAY_S, give_up=self.editor.give_up):
            self.look_up()
            raise NotOnDisk(f"keyboard focus is not in {path}")

    def _wait_for_disk(self, chunk: Chunk) -> None:
        """Wait until the file holds what it should; sooner if the keyboard is gone permanently."""
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
            # An earlier save may have brought the same text: only an editor without unsaved text is done.
            return there() and self.editor.is_saved(chunk.path) and there()

        def lost() -> bool:
            if self._is_aborted() or self._safe_point.is_wanted or self._came_out_wrong(seen, there):
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
        self.look_up()
        if len(seen) > 1 and seen[-1] is not None:
            raise NotOnDisk(f"chunk {chunk.index} of {chunk.path} came out differently: ...{_end(chunk, seen[-1])!r}")
        raise NotOnDisk(f"chunk {chunk.index} of {chunk.path} did not reach the disk")

    def _came_out_wrong(self, seen: list[str | None], there: Callable[[], bool]) -> bool:
        """Whether the file was written and is not what it should be; a second look, as writing takes a moment."""
        if len(seen) < 2:
            return False
        return not wait_until(there, WRITE_S) and len(seen) <= 3

    @contextmanager
    def _operation(self) -> Iterator[None]:
        """Around what the session does with boxes of its own, so that a watcher does not take them for trouble."""
        self.operating = True
        self.serial += 1
        try:
            yield
        finally:
            self.serial += 1
            self.operating = False


def _end(chunk: Chunk, text: str) -> str:
    """What is where the chunk's text should end."""
    return normalise(text)[: chunk.begin + len(chunk.text)][-40:]


PARK_S = 10.0
"""How long a recovery waits for the replay to stop typing; it looks up every few characters."""


class Disturbed(Exception):
    """Raised in the replay when a recovery has had the keyboard: what was typed last may be anywhere."""


class SafePoint:
    """Joins the thread that types with the one that recovers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._typing_thread: int | None = None
        self._wanted = False
        self._parked = False
        self.recoveries = 0
        """How often the keyboard has been someone else's."""

    def begin(self) -> None:
        """The calling thread types from now on; waits while a recovery has keyboard focus."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted)
            self._typing_thread = threading.get_ident()

    def end(self) -> None:
        """No one types any more."""
        with self._changed:
            self._typing_thread = None
            self._changed.notify_all()

    @property
    def is_wanted(self) -> bool:
        """Whether a recovery waits for the keyboard of the calling thread."""
        return self._wanted and self._typing_thread == threading.get_ident()

    def pass_by(self) -> None:
        """Called by the typing thread: stop here while a recovery wants the keyboard."""
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
