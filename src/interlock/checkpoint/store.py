"""CheckpointStore: the SQLite file and folders of one workspace's checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from ..core import InvalidState, allocate, boot_id
from .flush import Flush

VERSION = 2

BALLAST = 1024 * 1024
"""Bytes held in reserve for collecting garbage on a full disk."""

LEAST_BALLAST = 256 * 1024
"""The same on a small disk: what the database needs to open, and to remove a few checkpoints."""

ROOMY = 4
"""The reserve is created if the disk has this many times its size free."""

SCARCE = 128 * 1024
"""With fewer bytes free, SQLite's own files do not fit, and it reports an I/O error."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pack(id INTEGER PRIMARY KEY, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS frame(
  id INTEGER PRIMARY KEY, pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
  raw INTEGER NOT NULL, codec INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS frame_by_pack ON frame(pack);
CREATE TABLE IF NOT EXISTS blob(
  digest BLOB PRIMARY KEY, frame INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checkpoint(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, whole INTEGER NOT NULL, own INTEGER NOT NULL,
  info BLOB NOT NULL, uncovered BLOB NOT NULL, delta BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS run(id TEXT PRIMARY KEY, first INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own(
  run TEXT NOT NULL, path BLOB NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL,
  PRIMARY KEY(run, seq, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extra(id TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS restore(
  n INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, target TEXT NOT NULL, safety TEXT NOT NULL,
  time REAL NOT NULL, body BLOB NOT NULL);
"""


class PackFrame(Struct, frozen=True, gc=False):
    """A compressed part of a pack, or (pack 0) a file of its own."""

    id: int
    pack: int
    start: int
    length: int
    raw: int
    codec: int


class ContentLocation(Struct, frozen=True, gc=False):
    """Where the content with a digest is."""

    frame: PackFrame
    start: int
    size: int


class CheckpointStore:
    """The database and folders of one workspace's checkpoints; owner-only."""

    def __init__(self, path: Path, *, exclusive: bool = False) -> None:
        """`exclusive`: lock out others if the disk is too full for the file that sharing needs."""
        self.path = path
        self.packs = path / "packs"
        self.objects = path / "objects"
        self.log = path / "store.db-wal"
        self._ballast = path / "ballast"
        self.flush = Flush()
        self._durable = False
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (path, self.packs, self.objects):
            folder.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
        # Created private; SQLite gives its other files the same mode. Never opened here if it exists:
        # closing it would drop the locks that another connection of this process holds.
        with suppress(FileExistsError):
            os.close(os.open(path / "store.db", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            self._connect()
        except NoSpace:
            if not exclusive:
                raise
            self._connect("PRAGMA locking_mode=EXCLUSIVE;")

    def close(self) -> None:
        """Make everything durable and close."""
        with suppress(OSError):
            self.flush.wait()
        self.db.close()

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """All or nothing; if `durable`, on the disk when it returns, with everything before it."""
        with no_space(self.path):
            if durable:
                self.flush.wait()
            if durable != self._durable:
                self.db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
            try:
                self.db.execute("COMMIT")
            except apsw.Error:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.db.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return self.db.execute(sql, values).fetchone()

    def number(self, sql: str, *values: object) -> int:
        """The single number that a query returns; 0 for none."""
        row = self.row(sql, *values)
        return int(row[0] or 0) if row else 0

    def get_meta(self, key: str) -> str | None:
        row = self.row("SELECT value FROM meta WHERE key=?", key)
        return str(row[0]) if row else None

    def set_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))

    def note_flushed(self) -> None:
        """Record how much is on the disk for certain, for the start after a power cut."""
        if self.get_meta("boot") != boot_id():
            self.set_meta("boot", boot_id())
        if self.flush.flushed > int(self.get_meta("flushed") or 0):
            self.set_meta("flushed", str(self.flush.flushed))

    def drop_meta(self, key: str) -> None:
        self.db.execute("DELETE FROM meta WHERE key=?", (key,))

    def find(self, digest: bytes) -> ContentLocation | None:
        """Where the content with this digest is, if it is stored."""
        row = self.row(
            "SELECT f.id, f.pack, f.start, f.length, f.raw, f.codec, b.start, b.size"
            " FROM blob b JOIN frame f ON f.id=b.frame WHERE b.digest=?",
            digest,
        )
        return ContentLocation(PackFrame(*row[:6]), row[6], row[7]) if row else None

    def frames(self, where: str, *values: object) -> list[PackFrame]:
        """The frames that meet an SQL condition."""
        rows = self.rows(f"SELECT id, pack, start, length, raw, codec FROM frame WHERE {where}", *values)
        return [PackFrame(*row) for row in rows]

    def blobs(self, frame: int) -> list[tuple[bytes, int, int]]:
        """Digest, start and size of each content of a frame."""
        return self.rows("SELECT digest, start, size FROM blob WHERE frame=? ORDER BY start", frame)

    def has(self, digest: bytes) -> bool:
        return self.row("SELECT 1 FROM blob WHERE digest=?", digest) is not None

    def pack_path(self, pack: int) -> Path:
        return self.packs / f"{pack:06d}.pack"

    def object_path(self, digest: bytes) -> Path:
        return self.objects / digest.hex()

    def size(self) -> int:
        """Allocated bytes on the disk."""
        return sum(
            item.stat(follow_symlinks=False).st_blocks * 512
            for folder in (self.path, self.packs, self.objects)
            for item in os.scandir(folder)
            if item.is_file(follow_symlinks=False)
        )

    def shrink(self) -> None:
        """Return free pages of the database to the disk."""
        with no_space(self.path):
            self.db.execute("PRAGMA incremental_vacuum").fetchall()
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def fold_log(self) -> None:
        """Move the write-ahead log into the database, and free its space."""
        with suppress(apsw.Error):
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def has_ballast(self) -> bool:
        return self._ballast.exists()

    def keep_ballast(self, room: int = ROOMY) -> None:
        """Reserve a little space, so that garbage collection works on a disk that someone else filled.

        Only if `room` times as much is free.
        """
        disk = os.statvfs(self.path)
        size = min(BALLAST, max(LEAST_BALLAST, disk.f_blocks * disk.f_frsize // 50))
        if self.has_ballast() or disk.f_bavail * disk.f_frsize < room * size:
            return
        with suppress(OSError), open(self._ballast, "wb") as file:
            self._ballast.chmod(0o600)
            allocate(file.fileno(), size)

    def drop_ballast(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def _connect(self, first: str = "") -> None:
        if not (self.path / "store.db").stat().st_size:
            # Only for a new database: this writes, and there may be no space.
            first += "PRAGMA auto_vacuum=INCREMENTAL;"
        with no_space(self.path):
            self.db = apsw.Connection(str(self.path / "store.db"))
            self.db.set_busy_timeout(10_000)
            try:
                self.db.execute(
                    f"{first}PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384"
                ).fetchall()
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    def _prepare(self) -> None:
        version = self.db.pragma("user_version")
        if version > VERSION:
            raise InvalidState(
                f"the store has version {version}, this version supports {VERSION}",
                where=str(self.path),
                todo="Use a newer version of Interlock",
            )
        if version < VERSION:
            with self.transaction():
                self.db.execute(_SCHEMA)
                if not version:
                    self.set_meta("owned", "1")
                self.db.pragma("user_version", VERSION)


@contextmanager
def no_space(path: Path | str) -> Iterator[None]:
    """Turn every error of a full disk into NoSpace."""
    try:
        yield
    except apsw.FullError as error:
        raise full(path) from error
    except (apsw.IOError, apsw.CantOpenError) as error:
        if is_full(path):
            raise full(path) from error
        raise
    except OSError as error:
        if error.errno in FULL_ERRORS:
            raise full(path) from error
        raise


def is_full(path: Path | str) -> bool:
    """Whether the disk has too little space for the database."""
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize < SCARCE


FULL_ERRORS = (28, 122)
"""ENOSPC and EDQUOT."""


class NoSpace(InvalidState):
    """Raised when the disk is full."""


def full(path: Path | str) -> NoSpace:
    return NoSpace(
        "no space left, nothing was changed", where=str(path), todo="Free some space, or run: interlock checkpoint gc"
    )
