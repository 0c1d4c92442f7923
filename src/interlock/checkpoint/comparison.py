"""Comparison of two states of a workspace; git indexes are compared by their entries, not their bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from ..core import CheckpointInfo, InvalidState
from .change import Change, Difference, differences
from .entry import TreeEntry
from .large_files import LARGE
from .locations import DENIED
from .plan import KnownTree
from .snapshot import Snapshots
from .staging import Contents
from .store import CheckpointStore
from .tree import printable


class Comparison:
    """Compares checkpoints with each other and with the disk now."""

    def __init__(self, store: CheckpointStore, snapshots: Snapshots) -> None:
        self._store, self._snapshots, self._history = store, snapshots, snapshots.history

    def moment(self, wanted: str | None) -> KnownTree:
        """The workspace at a checkpoint; None: now."""
        if wanted is None:
            return self._snapshots.scan_now()
        found = self._snapshots.moment(self._history.find(wanted))
        # The newest tree is shared, and changes with the next checkpoint.
        return KnownTree(found.tree.copy(), found.uncovered)

    def changes(self, a: str, b: str | None) -> list[Change]:
        return [difference.to_change() for difference in self._between(a, b)]

    def patch(self, a: str, b: str | None) -> str:
        stored = self._reader()
        found = self._between(a, b)
        if b is not None:
            return patch(found, stored, stored)
        with self._snapshots.reader() as on_disk:
            return patch(found, stored, on_disk)

    def texts(self, a: str, b: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str | None, str | None]]:
        """The wanted texts that differ between two checkpoints: path, before, after; None if there is none."""
        stored = self._reader()

        def whole(path: str, entry: TreeEntry | None) -> str | None:
            if entry is None or entry.kind != "file":
                return None
            lines = _text(path, entry, stored)
            return None if lines is None else "".join(lines)

        for found in self._between(a, b):
            if found.kind in ("created", "deleted", "content", "type") and wanted(found.path):
                yield printable(found.path), whole(found.path, found.a), whole(found.path, found.b)

    def differing(self, infos: list[CheckpointInfo]) -> Iterator[CheckpointInfo]:
        """The checkpoints that differ from the disk now, in the order given."""
        now = self._snapshots.scan_now()
        for info in infos:
            if any(True for _ in differences(now.tree, self.moment(info.id).tree)):
                yield info

    def is_same_index(self, path: str, known: str, now: TreeEntry) -> bool:
        """Whether a repository's index has the same entries: git rewrites it even when it only reads files."""
        if not is_index(path) or not known.startswith("file:") or now.kind != "file" or now.size >= LARGE:
            return False
        with suppress(OSError, InvalidState), self._snapshots.reader() as on_disk:
            return same_index(Contents(self._store).read(bytes.fromhex(known.rpartition(":")[2])), on_disk(path, now))
        return False

    def _reader(self) -> Read:
        """Reads stored contents."""
        contents = Contents(self._store)
        return lambda path, entry: contents.read(entry.data)

    def _between(self, a: str, b: str | None) -> list[Difference]:
        first = self._history.find(a)
        if b is None:
            after = self._snapshots.scan_now()
        else:
            last = self._history.find(b)
            if first <= last and not any(delta for _, delta in self._history.deltas(first + 1, last)):
                # Building both trees would take longer the more checkpoints there are before them.
                return []
            after = self._snapshots.moment(last)
        before = self._snapshots.moment(first)
        denied = {path for path, why in after.uncovered.items() if why == DENIED}
        found = [one for one in differences(before.tree, after.tree) if not denied or not _is_within(one.path, denied)]
        # What may not be read is not gone: its rights changed.
        found += [Difference(path, entry, _unreadable(entry)) for path in denied if (entry := before.tree.get(path))]
        return sorted(found, key=lambda difference: difference.path)


def _is_within(path: str, folders: set[str]) -> bool:
    return path in folders or any(path[:at] in folders for at, sign in enumerate(path) if sign == "/")


def _unreadable(entry: TreeEntry) -> TreeEntry:
    return replace(entry, mode=entry.mode & ~0o777)


LARGEST = 1024 * 1024
"""Larger texts are named, not shown: comparing them would take long."""

Read = Callable[[str, TreeEntry], bytes]
"""The content of a file at one of the two moments."""


def patch(found: Iterable[Difference], read_a: Read, read_b: Read) -> str:
    """A unified diff of everything that differs; what is not text gets one line."""
    return "".join(line for difference in found for line in _one(difference, read_a, read_b))


def _one(difference: Difference, read_a: Read, read_b: Read) -> Iterator[str]:
    path, a, b = difference.path, difference.a, difference.b
    shown = printable(path)
    yield f"diff --interlock a/{shown} b/{shown}\n"
    yield from _headers(a, b)
    if (a is None or not a.is_folder) and (b is None or not b.is_folder) and difference.kind not in ("mode", "touched"):
        old, new = _text(path, a, read_a), _text(path, b, read_b)
        if old is None or new is None:
            yield "Not shown: not text, or too large\n"
            return
        from difflib import unified_diff

        names = (f"a/{shown}" if a is not None else "/dev/null", f"b/{shown}" if b is not None else "/dev/null")
        for line in unified_diff(old, new, *names):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _headers(a: TreeEntry | None, b: TreeEntry | None) -> Iterator[str]:
    if a is None and b is not None:
        yield f"new {b.kind} mode {b.mode:o}\n"
    elif b is None and a is not None:
        yield f"deleted {a.kind} mode {a.mode:o}\n"
    elif a is not None and b is not None and a.mode != b.mode:
        yield f"old mode {a.mode:o}\nnew mode {b.mode:o}\n"


def _text(path: str, entry: TreeEntry | None, read: Read) -> list[str] | None:
    """The lines of a text; None for what is not text. A link's text is its target."""
    if entry is None:
        return []
    if entry.size > LARGEST:
        return None
    content = entry.data if entry.is_link else read(path, entry)
    if b"\0" in content[:8192]:
        return None
    return content.decode("utf-8", "backslashreplace").splitlines(keepends=True)


SIGNATURE = b"DIRC"
HEADER = struct.Struct(">4sII")
STAT_BYTES = 24
"""Bytes at the beginning of an entry: times, device and inode."""
MODE = 4
OWNER_AND_SIZE = 12
FLAGS = struct.Struct(">H")
EXTENDED, NAME_LENGTH = 0x4000, 0x0FFF
HASHES = (20, 32)
"""Bytes of an object's name: SHA-1, SHA-256."""
SPLIT_INDEX = b"link"
"""The extension of an index whose entries are in another file."""

IndexEntries = list[tuple[bytes, bytes, int, int, bytes]]
"""Of every entry: mode, object, flags, further flags, path."""


def is_index(path: str) -> bool:
    """Whether a path is a repository's index, including those of submodules and other working trees."""
    folder, _, name = path.rpartition("/")
    return name == "index" and ".git" in folder.split("/")


def same_index(one: bytes, other: bytes) -> bool:
    """Whether two indexes have the same entries; unreadable ones never do."""
    entries = read_index(one)
    return entries is not None and entries == read_index(other)


def read_index(content: bytes) -> IndexEntries | None:
    """The entries of an index; None if it is not an index, or its entries are in another file."""
    for length in HASHES:
        try:
            return _read(content, length)
        except (struct.error, ValueError, IndexError):
            continue
    return None


def _read(content: bytes, hash_length: int) -> IndexEntries:
    signature, version, count = HEADER.unpack_from(content)
    if signature != SIGNATURE or version not in (2, 3, 4) or count > len(content) // STAT_BYTES:
        raise ValueError("no index")
    entries: IndexEntries = []
    at, name = HEADER.size, b""
    for _ in range(count):
        start = at
        mode = content[at + STAT_BYTES : at + STAT_BYTES + MODE]
        at += STAT_BYTES + MODE + OWNER_AND_SIZE
        object_id = content[at : at + hash_length]
        at += hash_length
        (flags,) = FLAGS.unpack_from(content, at)
        at += FLAGS.size
        further = 0
        if flags & EXTENDED:
            (further,) = FLAGS.unpack_from(content, at)
            at += FLAGS.size
        if version == 4:
            dropped, at = _number(content, at)
            if dropped > len(name):
                raise ValueError("no index")
            end = content.index(b"\0", at)
            name = name[: len(name) - dropped] + content[at:end]
            at = end + 1
        else:
            end = content.index(b"\0", at)
            name = content[at:end]
            # Entries end with one to eight zeros, at a multiple of eight.
            at = start + (end - start + 8) // 8 * 8
        if not name or min(len(name), NAME_LENGTH) != flags & NAME_LENGTH:
            raise ValueError("no index")
        entries.append((mode, object_id, flags & ~NAME_LENGTH, further, name))
    for kind in _extensions(content, at, len(content) - hash_length):
        if kind == SPLIT_INDEX:
            raise ValueError("its entries are in another file")
    return entries


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A variable-length number, as git writes offsets, and where it ends."""
    value = content[at] & 127
    while content[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (content[at] & 127)
    return value, at + 1


def _extensions(content: bytes, at: int, end: int) -> Iterator[bytes]:
    """The kinds of the extensions, which fill exactly the bytes before the checksum."""
    while at < end:
        (size,) = struct.unpack_from(">I", content, at + 4)
        yield content[at : at + 4]
        at += 8 + size
    if at != end:
        raise ValueError("no index")
