"""The SQLite file of a journal: its tables and versions, and opening it for writing and for reading."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from urllib.parse import quote

import apsw
import msgspec

from ..core import FILE_MODE, InterlockError, InvalidState, NotFound, SigningKey, allocate
from .interface import Head, digest, encode_body, first_link
from .lock import find_owner
from .summary import RunSummary

BUSY_MS = 5_000
"""How long to wait for another process that recovers the file or switches its mode; both take milliseconds."""

KEPT_WAL_BYTES = 4 * 1024 * 1024

SHORT_BYTES = KEPT_WAL_BYTES // 32
"""With less free, only durable entries are written: the rest would use the space that is reserved for them."""

FIRST = """
CREATE TABLE record(
  seq INTEGER PRIMARY KEY, v INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX record_kind ON record(kind);
CREATE TABLE summary(one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL);
CREATE TABLE about(run_id TEXT NOT NULL);
"""

CHAINED = """
ALTER TABLE record ADD COLUMN chain BLOB;
ALTER TABLE summary ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summary ADD COLUMN chain BLOB;
ALTER TABLE summary ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE summary ADD COLUMN signature BLOB;
ALTER TABLE about ADD COLUMN first INTEGER;
UPDATE about SET first = (SELECT coalesce(max(seq), 0) + 1 FROM record);
CREATE TABLE dictionary(first INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE room(x BLOB NOT NULL);
"""
"""Each record has the hash of the chain up to it, from `first` on; the head and the owner's signature are next to the
summary, so that both are on one page; dictionaries for packed bodies; and pages reserved for a full disk."""

SHARED_BYTES = 32 * 1024
"""The size of the memory that SQLite shares between a journal's writer and readers, for a log as small as ours."""

PAGE_BYTES = 4_096

SMALL_DISK = 1 << 30
"""With less free, a journal reserves pages of its own. On a larger disk its write-ahead log has enough space."""

RESERVE_PIECE_BYTES = 32 * 1024
RESERVE_PIECES = 24
"""What is reserved, and freed piece by piece, so that a person's commands fit into the file when the disk is full."""

MIGRATIONS: tuple[str, ...] = (FIRST, CHAINED)
"""MIGRATIONS[n] takes a file from version n to n + 1; the file's version is SQLite's user_version."""


CHAINED_VERSION = 2
"""The first version whose records are chained."""


class UnreadableJournal(InterlockError):
    """Raised when a journal is damaged, or is not a journal."""


def create_database(path: Path, summary: RunSummary, key: SigningKey | None = None, *, to_write: bool = False) -> None:
    """Create a journal of the current version with the run's first summary, signed; it is on the disk at the end.

    Only at the end, because its folder becomes a run only once complete. `to_write`: it is opened for writing next.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        _fill(path, summary, key, to_write)
        os.fsync(handle)
    finally:
        os.close(handle)


def _fill(path: Path, summary: RunSummary, key: SigningKey | None, to_write: bool) -> None:
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("synchronous", "off")
        with connection:
            _migrate(connection, 0)
            body = encode_body(summary)
            connection.execute("INSERT INTO about VALUES (?, 1)", (summary.run_id,))
            head = sign_head(summary.run_id, 0, first_link(summary.run_id, 1), digest(body.encode()), key)
            values = (body, 0, head.chain, head.key, head.signature)
            connection.execute("INSERT INTO summary VALUES (1, ?, ?, ?, ?, ?)", values)
            free = free_bytes(os.statvfs(path.parent))
            if SHORT_BYTES < free < SMALL_DISK:
                connection.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                    "INSERT INTO room SELECT zeroblob(?) FROM n",
                    (
                        reservable_bytes(free, RESERVE_PIECES * RESERVE_PIECE_BYTES) // RESERVE_PIECE_BYTES,
                        RESERVE_PIECE_BYTES,
                    ),
                )
        if to_write:
            # The writer would wait for the disk four times for this. With exclusive access we need no shared memory.
            connection.pragma("locking_mode", "exclusive")
            connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def open_for_writing(path: Path) -> apsw.Connection:
    """The writer's connection: every commit is on the disk before it returns."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    try:
        version = version_of(connection)
        if version == 0:
            raise UnreadableJournal("this is not a journal", where=str(path))
        if newer := describe_newer(version):
            raise InvalidState(newer, where=str(path), todo="Use a newer version of Interlock for this run.")
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("journal_size_limit", KEPT_WAL_BYTES)
        # A checkpoint during a commit would delay it by milliseconds: the writer chooses its own moments.
        connection.wal_autocheckpoint(0)
        if version < len(MIGRATIONS):
            with connection:
                _migrate(connection, version)
    except apsw.Error as error:
        connection.close()
        raise explain(error, path) from error
    except InterlockError:
        connection.close()
        raise
    return connection


def sign_head(run_id: str, seq: int, chain: bytes, summary: bytes, key: SigningKey | None) -> Head:
    """The head of a journal, signed if there is a key."""
    head = Head(run_id=run_id, seq=seq, chain=chain, summary=summary)
    if key is None:
        return head
    return msgspec.structs.replace(head, key=key.public, signature=key.sign(head.message()))


def keep_shared_memory(path: Path) -> None:
    """Allocate all of the memory file that an open journal shares with its readers; see `open_for_reading`.

    Through SQLite's own descriptor: opening and closing another one would drop SQLite's locks on the file.
    """
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir() or os.statvfs(path).f_bsize >= PAGE_BYTES:
        return
    shared = str(_shared_memory(path.resolve()))
    for descriptor in descriptors.iterdir():
        with contextlib.suppress(OSError):
            if str(descriptor.readlink()) == shared:
                allocate(int(descriptor.name), SHARED_BYTES)


def _shared_memory(path: Path) -> Path:
    return path.with_name(path.name + "-shm")


def _would_crash(path: Path) -> bool:
    """Whether the first access to the shared memory would kill this process (SIGBUS) as the disk cannot hold all of it.

    SQLite writes one byte to each of its pages to check for space, which is not enough if the disk's
    blocks are smaller.
    """
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    # The share reserved for root is not reliable: a file system keeps some of that for itself.
    if disk.f_bsize >= PAGE_BYTES or disk.f_frsize * disk.f_bavail > SHORT_BYTES:
        return False
    try:
        holds_all = _shared_memory(path).stat().st_blocks * 512 >= SHARED_BYTES
    except OSError:
        holds_all = False
    # Whoever opens the journal first recreates what an owner left behind.
    return not holds_all or find_owner(path.with_name("lock")) is None


def open_for_reading(path: Path) -> apsw.Connection:
    """A read-only connection; also from a read-only or full disk if the journal was closed properly."""
    if _would_crash(path):
        return _open_immutable(path)
    connection = _connect(path, apsw.SQLITE_OPEN_READONLY)
    try:
        version_of(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        return _open_immutable(path)
    except apsw.Error as error:
        connection.close()
        raise explain(error, path) from error
    return connection


def _open_immutable(path: Path) -> apsw.Connection:
    """Open without the files that write-ahead mode needs next to a journal: here none can be created."""
    if _has_content(path.with_name(path.name + "-wal")):
        raise UnreadableJournal(
            "its last records are in a separate file, which needs a writable folder with some room",
            where=str(path),
            todo="Free some space, or copy the run's folder to another disk.",
        )
    try:
        return apsw.Connection(
            f"file:{quote(str(path))}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
    except apsw.CantOpenError:
        # The run was removed a moment ago.
        raise NotFound(f"there is no journal at {path}") from None


def damaged(path: Path, why: object) -> UnreadableJournal:
    """The error for a journal whose content is not what was written."""
    return UnreadableJournal(
        f"the journal is damaged ({why})", where=str(path), todo="See interlock verify; interlock prune removes it."
    )


def explain(error: apsw.Error, path: Path) -> InterlockError:
    """An error of SQLite, explained to a person."""
    where = str(path)
    match error:
        case apsw.FullError():
            return InterlockError("the disk is full", where=where, todo="Free some space, or run interlock prune.")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return InterlockError(
                "the journal cannot be written to",
                where=where,
                todo="Check its owner, and whether the disk is read-only.",
            )
        case apsw.CorruptError() | apsw.NotADBError() | apsw.SQLError():
            return damaged(path, error)
        case apsw.BusyError() | apsw.LockedError():
            return InterlockError("another program has locked the journal", where=where, todo="Close that program.")
        case _:
            return InterlockError(f"the journal cannot be used ({error})", where=where, todo="Check the disk.")


def _connect(path: Path, flags: int) -> apsw.Connection:
    if path.exists() and not path.is_file():
        # SQLite would wait for a writer of a pipe.
        raise UnreadableJournal("this is not a journal", where=str(path))
    try:
        connection = apsw.Connection(str(path), flags=flags)
    except apsw.Error as error:
        if not path.exists():
            raise NotFound(f"there is no journal at {path}") from None
        raise explain(error, path) from error
    connection.set_busy_timeout(BUSY_MS)
    return connection


def free_bytes(disk: os.statvfs_result) -> int:
    """The bytes that we may still write; part of a disk is reserved for root."""
    return disk.f_frsize * (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail)


def reservable_bytes(free: int, most: int) -> int:
    """How many of a disk's free bytes a journal reserves for one purpose: at most a quarter."""
    return min(most, free // 4)


def describe_newer(version: int) -> str | None:
    """The message for a journal of a newer version; None if this program supports it."""
    known = len(MIGRATIONS)
    if version <= known:
        return None
    return f"a newer version of Interlock wrote this journal (version {version}; this one supports {known})"


def version_of(connection: apsw.Connection) -> int:
    """The version of a journal's format; 0 if it is not a journal."""
    return int(connection.pragma("user_version"))


def _migrate(connection: apsw.Connection, version: int) -> None:
    for step in MIGRATIONS[version:]:
        connection.execute(step).fetchall()
    connection.pragma("user_version", len(MIGRATIONS))


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
