"""A git index without what git remembers of files to be quick: two that say the same of a repository are the same."""

from __future__ import annotations

import struct
from collections.abc import Iterator

SIGNATURE = b"DIRC"
HEADER = struct.Struct(">4sII")
REMEMBERED = 24
"""Bytes at the beginning of an entry: times, device and inode."""
MODE = 4
OWNER_AND_SIZE = 12
FLAGS = struct.Struct(">H")
EXTENDED, NAME_LENGTH = 0x4000, 0x0FFF
HASHES = (20, 32)
"""Bytes of an object's name: SHA-1, SHA-256."""
ELSEWHERE = b"link"
"""The extension of an index whose entries are in another file."""

Said = list[tuple[bytes, bytes, int, int, bytes]]
"""Of every entry: mode, object, flags, further flags, path."""


def is_index(path: str) -> bool:
    """Whether a path is that of a repository's index, a submodule's or another working tree's too."""
    folder, _, name = path.rpartition("/")
    return name == "index" and ".git" in folder.split("/")


def same_index(one: bytes, other: bytes) -> bool:
    """Whether two indexes say the same; what cannot be read says nothing."""
    said = read_index(one)
    return said is not None and said == read_index(other)


def read_index(content: bytes) -> Said | None:
    """What an index says of its paths; None if it is none, or where it says it in another file."""
    for length in HASHES:
        try:
            return _read(content, length)
        except (struct.error, ValueError, IndexError):
            continue
    return None


def _read(content: bytes, hash_length: int) -> Said:
    signature, version, count = HEADER.unpack_from(content)
    if signature != SIGNATURE or version not in (2, 3, 4) or count > len(content) // REMEMBERED:
        raise ValueError("no index")
    said: Said = []
    at, name = HEADER.size, b""
    for _ in range(count):
        start = at
        mode = content[at + REMEMBERED : at + REMEMBERED + MODE]
        at += REMEMBERED + MODE + OWNER_AND_SIZE
        held = content[at : at + hash_length]
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
        said.append((mode, held, flags & ~NAME_LENGTH, further, name))
    for kind in _extensions(content, at, len(content) - hash_length):
        if kind == ELSEWHERE:
            raise ValueError("its entries are in another file")
    return said


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A variable-length number, as git writes offsets, and where it ends."""
    value = content[at] & 127
    while content[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (content[at] & 127)
    return value, at + 1


def _extensions(content: bytes, at: int, end: int) -> Iterator[bytes]:
    """The kinds of the extensions, which fill what is left before the checksum to the byte."""
    while at < end:
        (size,) = struct.unpack_from(">I", content, at + 4)
        yield content[at : at + 4]
        at += 8 + size
    if at != end:
        raise ValueError("no index")
