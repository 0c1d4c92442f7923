"""TreeEntry: the state of one path in a checkpoint."""

from __future__ import annotations

import os
import stat
from typing import Literal

from msgspec import Struct

Kind = Literal["file", "folder", "link"]

ABSENT = "absent"
"""The state of a path that does not exist."""

SPARSE = b"\x01"
"""Marks the digest of a sparse file, which covers its data only."""


SECOND = 10**9

COARSE_NS = 2 * SECOND
"""How long a file may change without its times moving, if these are whole seconds (ext2, ext3, ext4 with small
inodes) or even seconds (FAT)."""


class TreeEntry(Struct, frozen=True, array_like=True, gc=False):
    """One path: its state, and the metadata that shows without reading it that it is unchanged.

    `data` is the digest of a file, the target of a link, nothing for a folder. `owner` is uid << 32 | gid.
    A `ctime_ns` of 0 means that it is too recent to be trusted: read the file again next time.
    """

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    owner: int
    data: bytes = b""
    attrs: bytes = b""

    @property
    def kind(self) -> Kind:
        return "folder" if stat.S_ISDIR(self.mode) else "link" if stat.S_ISLNK(self.mode) else "file"

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def is_sparse(self) -> bool:
        return self.is_file and self.data[:1] == SPARSE and len(self.data) == 33

    def matches(self, found: os.stat_result) -> bool:
        """Whether the file on the disk is still this one, unchanged."""
        return (
            self.ino == found.st_ino
            and self.mode == found.st_mode
            and self.mtime_ns == found.st_mtime_ns
            and ((self.size == found.st_size and self.ctime_ns in (0, found.st_ctime_ns)) or stat.S_ISDIR(self.mode))
        )


def make_entry(found: os.stat_result, data: bytes, attrs: bytes, *, fresh_ns: int) -> TreeEntry:
    """The entry of a file just read; a change time after `fresh_ns` is too recent to be trusted, and one in
    whole seconds stays so for longer."""
    changed = found.st_ctime_ns
    trusted_at = changed if changed % SECOND else changed + COARSE_NS
    return TreeEntry(
        found.st_mode,
        found.st_size,
        found.st_mtime_ns,
        changed if trusted_at < fresh_ns else 0,
        found.st_ino,
        found.st_uid << 32 | found.st_gid,
        data,
        attrs,
    )


def same_content(a: TreeEntry | None, b: TreeEntry | None) -> bool:
    """Whether two entries have the same content, type, mode, owner and attributes; times do not count."""
    if a is None or b is None:
        return a is b
    return a.mode == b.mode and a.data == b.data and a.owner == b.owner and a.attrs == b.attrs


def state_of(entry: TreeEntry | None) -> str:
    """The state of a path as one comparable word: absent, or type, mode and content."""
    if entry is None:
        return ABSENT
    return f"{entry.kind}:{stat.S_IMODE(entry.mode):o}:{entry.data.hex()}"
