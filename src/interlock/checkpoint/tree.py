"""WorkspaceTree: a workspace at one moment; Delta: how one tree becomes the next."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping

import msgspec
import zstandard
from msgspec import Struct

from ..core import msgpack_decoder
from .entry import TreeEntry, same_content

Listing = dict[str, TreeEntry]


class Delta(Struct):
    """Folders that were removed with everything in them, then what changed; a name with None is gone."""

    root: TreeEntry | None = None
    wiped: set[str] = msgspec.field(default_factory=set)
    changed: dict[str, dict[str, TreeEntry | None]] = msgspec.field(default_factory=dict)

    def put(self, folder: str, name: str, entry: TreeEntry | None) -> None:
        self.changed.setdefault(folder, {})[name] = entry

    def __bool__(self) -> bool:
        return bool(self.root or self.wiped or self.changed)


class WorkspaceTree:
    """Folders by path ("" is the workspace itself), each a listing by name; names are as `os.fsdecode` gives them."""

    def __init__(self) -> None:
        self.root: TreeEntry | None = None
        self.folders: dict[str, Listing] = {}
        self.files = 0
        self.bytes = 0

    def get(self, path: str) -> TreeEntry | None:
        if not path:
            return self.root
        folder, _, name = path.rpartition("/")
        listing = self.folders.get(folder)
        return listing.get(name) if listing is not None else None

    def below(self, path: str) -> Iterator[tuple[str, TreeEntry]]:
        """Everything below a folder, parents first."""
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            for name, entry in self.folders.get(folder, {}).items():
                child = join(folder, name)
                yield child, entry
                if entry.is_folder:
                    waiting.append(child)

    @classmethod
    def from_whole(cls, delta: Delta) -> WorkspaceTree:
        """The tree that `whole` gave."""
        tree = cls()
        tree.root = delta.root
        tree.folders = delta.changed  # type: ignore[assignment]
        for listing in tree.folders.values():
            for entry in listing.values():
                if entry.mode & 0o170000 != 0o040000:
                    tree.files += 1
                    tree.bytes += entry.size
        return tree

    def apply(self, delta: Delta) -> None:
        """Become the next tree."""
        if delta.root is not None:
            self.root = delta.root
            self.folders.setdefault("", {})
        for path in delta.wiped:
            for held in self.folders.pop(path, {}).values():
                self._count(held, -1)
        for folder, listing in delta.changed.items():
            mine = self.folders.setdefault(folder, {})
            for name, entry in listing.items():
                old = mine.pop(name, None)
                if old is not None:
                    self._count(old, -1)
                if entry is None:
                    continue
                mine[name] = entry
                if stat.S_ISDIR(entry.mode):
                    self.folders.setdefault(join(folder, name), {})
                else:
                    self._count(entry, +1)

    def stays(self, delta: Delta) -> bool:
        """Whether a delta only has new inodes and change times, and nothing that a restore would change."""
        if delta.wiped or (delta.root is not None and not _equal(self.root, delta.root)):
            return False
        return all(
            _equal(self.folders.get(folder, {}).get(name), entry)
            for folder, listing in delta.changed.items()
            for name, entry in listing.items()
        )

    def distrust(self, names: Mapping[str, Iterable[str]] | None = None) -> None:
        """Forget the change times of every file, or of these by their folders, so that the next scan reads them."""
        for folder in self.folders if names is None else names:
            listing = self.folders.get(folder, {})
            for name in listing if names is None else names[folder]:
                entry = listing.get(name)
                if entry is not None and entry.is_file:
                    listing[name] = msgspec.structs.replace(entry, ctime_ns=0)

    def whole(self) -> Delta:
        """This tree as the delta from nothing."""
        changed: dict[str, dict[str, TreeEntry | None]] = {folder: dict(held) for folder, held in self.folders.items()}
        return Delta(self.root, set(), changed)

    def copy(self) -> WorkspaceTree:
        twin = WorkspaceTree()
        twin.root, twin.files, twin.bytes = self.root, self.files, self.bytes
        twin.folders = {folder: dict(held) for folder, held in self.folders.items()}
        return twin

    def _count(self, entry: TreeEntry, sign: int) -> None:
        if not stat.S_ISDIR(entry.mode):
            self.files += sign
            self.bytes += sign * entry.size


def _equal(a: TreeEntry | None, b: TreeEntry | None) -> bool:
    return same_content(a, b) and (a is None or b is None or a.mtime_ns == b.mtime_ns)


def fold(earlier: Delta, later: Delta) -> Delta:
    """Two successive deltas as one."""
    changed = {folder: dict(held) for folder, held in earlier.changed.items() if folder not in later.wiped}
    for folder, held in later.changed.items():
        changed.setdefault(folder, {}).update(held)
    return Delta(later.root or earlier.root, earlier.wiped | later.wiped, changed)


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def within(path: str, tops: Iterable[str]) -> bool:
    """Whether a path is one of these or is below one."""
    return any(path == top or not top or path.startswith(f"{top}/") for top in tops)


def printable(path: str) -> str:
    """A path for people and JSON: what is not UTF-8 is shown as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class _Stored(Struct, array_like=True):
    """A delta as it is stored: names are bytes, as they need not be UTF-8."""

    root: TreeEntry | None
    wiped: list[bytes]
    changed: dict[bytes, dict[bytes, TreeEntry | None]]


_local = threading.local()
_DECODER = msgpack_decoder(_Stored)
_ENCODER = msgspec.msgpack.Encoder()


def encode_delta(delta: Delta) -> bytes:
    """A delta as compressed bytes that carry their own checksum."""
    # As os.fsencode, without its checks: this runs for every name.
    encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    stored = _Stored(
        delta.root,
        [path.encode(encoding, errors) for path in sorted(delta.wiped)],
        {
            folder.encode(encoding, errors): {name.encode(encoding, errors): entry for name, entry in held.items()}
            for folder, held in delta.changed.items()
        },
    )
    return compress(_ENCODER.encode(stored))


def compress(data: bytes) -> bytes:
    """Compressed, with a checksum. The compressor is kept: creating one takes longer than a small delta."""
    packer = getattr(_local, "packer", None)
    if packer is None:
        packer = _local.packer = zstandard.ZstdCompressor(level=1, write_checksum=True)
    return bytes(packer.compress(data))


def decode_delta(data: bytes) -> Delta:
    """The delta that `encode_delta` wrote; zstandard.ZstdError or msgspec.DecodeError if it is damaged."""
    stored = _DECODER.decode(zstandard.ZstdDecompressor().decompress(data))
    encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    return Delta(
        stored.root,
        {path.decode(encoding, errors) for path in stored.wiped},
        {
            folder.decode(encoding, errors): {name.decode(encoding, errors): entry for name, entry in held.items()}
            for folder, held in stored.changed.items()
        },
    )
