"""Everything that can happen to a workspace, drawn by hypothesis. Names need not be UTF-8: paths are bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from hypothesis import strategies as st

NAMES = st.sampled_from(
    [b"a", b"b", b"c.txt", b"d", b"new\nline", b"\xff\xfe", "é".encode(), b" space ", b".hidden", b"-rf", b"x" * 200]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(b"/".join)
PICKS = st.integers(0, 1000)
"""Picks one of the paths that exist."""
CONTENTS = st.one_of(
    st.binary(max_size=64),
    st.sampled_from([b"", b"one\r\ntwo\r\n", b"one\ntwo\n", b"\0" * 5000, bytes(range(256)) * 40]),
)
MODES = st.sampled_from([0o644, 0o600, 0o755, 0o444, 0o400, 0o000, 0o777, 0o4755])
TIMES = st.integers(1_000_000_000_000_000_000, 1_700_000_000_000_000_000)


class Hand:
    """Changes a workspace; whatever does not fit the present state is left undone."""

    def __init__(self, root: Path) -> None:
        self.root = os.fsencode(root)

    def pick(self, number: int) -> bytes:
        """One of the paths that exist, or one that does not if there are none."""
        found = sorted(
            os.path.relpath(os.path.join(top, name), self.root)
            for top, folders, files in os.walk(self.root)
            for name in folders + files
            if b"/.git/" not in os.path.join(top, name) or number % 10 == 0
        )
        return found[number % len(found)] if found else b"nothing"

    def write(self, path: bytes, content: bytes, mode: int) -> None:
        full = self._clear(path)
        if full is not None:
            with open(full, "wb") as file:
                file.write(content)
            os.chmod(full, mode)

    def edit(self, path: bytes, content: bytes) -> None:
        full = self._file(path)
        if full is not None:
            with open(full, "ab") as file:
                file.write(content)

    def edit_unseen(self, path: bytes) -> None:
        """Other content of the same size, and the times put back."""
        full = self._file(path)
        if full is not None and os.path.getsize(full):
            before = os.stat(full)
            with open(full, "r+b") as file:
                first = file.read(1)
                file.seek(0)
                file.write(bytes([first[0] ^ 0xFF]))
            os.utime(full, ns=(before.st_atime_ns, before.st_mtime_ns))

    def chmod(self, path: bytes, mode: int) -> None:
        full = self._any(path)
        if full is not None and not os.path.islink(full):
            os.chmod(full, mode | 0o700 if os.path.isdir(full) else mode)

    def touch(self, path: bytes, time: int) -> None:
        full = self._any(path)
        if full is not None:
            os.utime(full, ns=(time, time), follow_symlinks=False)

    def rename(self, path: bytes, to: bytes) -> None:
        full = self._any(path)
        if full is not None and not (to + b"/").startswith(path + b"/") and not (path + b"/").startswith(to + b"/"):
            target = self._clear(to)
            if target is not None and os.path.lexists(full):
                os.rename(full, target)

    def delete(self, path: bytes) -> None:
        full = self._any(path)
        if full is not None:
            _remove(full)

    def make_folder(self, path: bytes, mode: int) -> None:
        full = os.path.join(self.root, path)
        if os.path.lexists(full) and (os.path.islink(full) or not os.path.isdir(full)):
            _remove(full)
        if self._parents(path):
            os.makedirs(full, exist_ok=True)
            os.chmod(full, mode | 0o700)

    def link(self, path: bytes, target: bytes) -> None:
        full = self._clear(path)
        if full is not None:
            os.symlink(target, full)

    def hard_link(self, path: bytes, to: bytes) -> None:
        full = self._file(path)
        if full is not None and path != to:
            target = self._clear(to)
            if target is not None and os.path.lexists(full):
                os.link(full, target)

    def sparse(self, path: bytes, size: int, at: int) -> None:
        full = self._clear(path)
        if full is not None:
            with open(full, "wb") as file:
                file.truncate(size)
                file.seek(at)
                file.write(b"data")

    def big(self, path: bytes, seed: int) -> None:
        full = self._clear(path)
        if full is not None:
            with open(full, "wb") as file:
                file.write(bytes([seed]) * (4 * 1024 * 1024) + bytes(range(256)) * seed)

    def nested_git(self, path: bytes) -> None:
        full = self._clear(path)
        if full is not None:
            subprocess.run(["git", "init", "-q", full], check=True, capture_output=True)
            with open(os.path.join(full, b".gitattributes"), "wb") as file:
                file.write(b"* text=auto\n")
            with open(os.path.join(full, b"crlf.txt"), "wb") as file:
                file.write(b"one\r\ntwo\r\n")

    def _any(self, path: bytes) -> bytes | None:
        full = os.path.join(self.root, path)
        return full if self._inside(full) and os.path.lexists(full) else None

    def _file(self, path: bytes) -> bytes | None:
        full = self._any(path)
        return full if full is not None and os.path.isfile(full) and not os.path.islink(full) else None

    def _clear(self, path: bytes) -> bytes | None:
        """The place of a new thing, with its folders made and whatever was there removed."""
        if not self._parents(path):
            return None
        full = os.path.join(self.root, path)
        if os.path.lexists(full):
            _remove(full)
        return full

    def _parents(self, path: bytes) -> bool:
        """Make the folders above a path, unless something else is in the way."""
        above = os.path.dirname(path)
        at = self.root
        for name in above.split(b"/") if above else []:
            at = os.path.join(at, name)
            if os.path.islink(at) or (os.path.lexists(at) and not os.path.isdir(at)):
                return False
            if not os.path.lexists(at):
                os.mkdir(at)
        return True

    def _inside(self, full: bytes) -> bool:
        """Links are never followed by the tests either."""
        return os.path.realpath(os.path.dirname(full)) == os.path.dirname(full)


def _remove(full: bytes) -> None:
    if os.path.isdir(full) and not os.path.islink(full):
        shutil.rmtree(full)
    else:
        os.unlink(full)
