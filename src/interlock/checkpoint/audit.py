"""Audit: read every stored content and file list, report damage; drop what did not reach the disk before a crash."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256

import zstandard
from msgspec import Struct

from ..core import InvalidState, boot_id
from .content_intake import EMPTY
from .history import CheckpointHistory
from .large_files import CHUNK, digest_of
from .packs import ZSTD, read_frame
from .store import CheckpointStore, PackFrame
from .tree import join, printable


class StoreDamage(Struct, frozen=True, omit_defaults=True):
    """Something in the store that cannot be trusted."""

    what: str
    checkpoint: str = ""
    path: str = ""


class Audited(Struct, frozen=True):
    """What an audit read and found."""

    checkpoints: int
    contents: int
    bytes: int
    problems: tuple[StoreDamage, ...] = ()


class StoreAudit:
    """One audit. Damaged contents are forgotten, so that the next checkpoint saves what is still on the disk again."""

    def __init__(self, store: CheckpointStore, history: CheckpointHistory) -> None:
        self._store, self._history = store, history
        self._contents = self._bytes = 0

    def run(self, progress: Callable[[int, int], None] | None = None) -> Audited:
        bad = dict(self.bad_contents(progress))
        problems = list(self.affected(bad))
        if bad:
            with self._store.transaction():
                self._store.db.executemany("DELETE FROM blob WHERE digest=?", [(digest,) for digest in bad])
                self._store.set_meta("reread", "1")
        for (line,) in self._store.rows("PRAGMA integrity_check"):
            if line != "ok":
                problems.append(StoreDamage(f"the database is damaged: {line}"))
        return Audited(len(self._history.infos()), self._contents, self._bytes, tuple(problems))

    def bad_contents(
        self, progress: Callable[[int, int], None] | None = None, *, after: int = 0
    ) -> Iterator[tuple[bytes, str]]:
        """Damaged contents, with the reason, in the frames after one."""
        frames = self._store.frames("id>?", after)
        for done, frame in enumerate(frames):
            blobs = self._store.blobs(frame.id)
            self._contents += len(blobs)
            self._bytes += frame.raw
            try:
                if frame.pack:
                    content = read_frame(self._store, frame)
                    for digest, start, size in blobs:
                        if sha256(content[start : start + size]).digest() != digest:
                            yield digest, "its checksum is wrong"
                else:
                    for digest, _, _ in blobs:
                        if self._object_digest(digest, frame) != digest:
                            yield digest, "its checksum is wrong"
            except (OSError, EOFError, zstandard.ZstdError) as error:
                yield from ((digest, str(error)) for digest, _, _ in blobs)
            if progress is not None:
                progress(done + 1, len(frames))

    def _object_digest(self, digest: bytes, frame: PackFrame) -> bytes:
        with open(self._store.object_path(digest), "rb") as file:
            if frame.codec != ZSTD:
                return digest_of(file.fileno(), os.fstat(file.fileno()).st_size, sparse=len(digest) == 33)
            import hashlib

            sha = hashlib.sha256()
            for chunk in zstandard.ZstdDecompressor().read_to_iter(file, write_size=CHUNK):
                sha.update(chunk)
            return sha.digest()

    def affected(self, bad: dict[bytes, str]) -> Iterator[StoreDamage]:
        """The paths whose content is damaged or missing, each at the first checkpoint that has it."""
        known = {digest for (digest,) in self._store.rows("SELECT digest FROM blob")} - bad.keys() | {EMPTY}
        for seq, name in self._store.rows("SELECT seq, id FROM checkpoint ORDER BY seq"):
            try:
                _, delta = next(self._history.deltas(seq, seq))
            except InvalidState as error:
                yield StoreDamage(error.what, name)
                continue
            for folder, listing in delta.changed.items():
                for file, entry in listing.items():
                    if entry is not None and entry.is_file and entry.data not in known:
                        why = bad.get(entry.data, "it is missing")
                        yield StoreDamage(
                            f"content {entry.data.hex()[:16]}: {why}", name, printable(join(folder, file))
                        )


def drop_lost(store: CheckpointStore, history: CheckpointHistory) -> list[str]:
    """Check what was written last before the machine went down; returns what had to be dropped."""
    if store.get_meta("boot") in (None, boot_id()):
        return []
    audit = StoreAudit(store, history)
    bad = dict(audit.bad_contents(after=int(store.get_meta("flushed") or 0)))
    first = next((problem.checkpoint for problem in audit.affected(bad)), None) if bad else None
    with store.transaction(durable=True):
        store.db.executemany("DELETE FROM blob WHERE digest=?", [(digest,) for digest in bad])
        store.set_meta("boot", boot_id())
        if first is None:
            return []
        seq = history.find(first)
        lost = store.number("SELECT count(*) FROM checkpoint WHERE seq>=?", seq)
        store.db.execute("DELETE FROM extra WHERE id IN (SELECT id FROM checkpoint WHERE seq>=?)", (seq,))
        store.db.execute("DELETE FROM checkpoint WHERE seq>=?", (seq,))
        store.db.execute("DELETE FROM own WHERE seq>=?", (seq,))
        history.forget_runs()
    return [f"the machine crashed before {lost} checkpoint{'s' * (lost > 1)} reached the disk: dropped"]
