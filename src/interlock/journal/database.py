"""The SQLite file: its tables, its versions, and how it is opened for writing and for reading."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import apsw

from ..core import InterlockError, InvalidState, NotFound
from .durable_files import FILE_MODE
from .entry import encode_body
from .summary import RunSummary

BUSY_MS = 5_000
"""How long to wait for another process that recovers or switches the file; both take milliseconds."""

KEPT_WAL_BYTES = 4 * 1024 * 1024

FIRST = """
CREATE TABLE record(
  seq INTEGER PRIMARY KEY, v INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX record_kind ON record(kind);
CREATE TABLE summary(one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL);
CREATE TABLE about(run_id TEXT NOT NULL);
"""

MIGRATIONS: tuple[str, ...] = (FIRST,)
"""MIGRATIONS[n] takes a file from version n to n + 1; the file's version is SQLite's user_version."""


class UnreadableJournal(InterlockError):
    """Raised when a journal is damaged, or is no journal."""


def create_database(path: Path, summary: RunSummary) -> None:
    """Make a journal of the present version, with the run's first row in it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    connection = apsw.Connection(str(path))
    try:
        with connection:
            _migrate(connection, 0)
            connection.execute("INSERT INTO about VALUES (?)", (summary.run_id,))
            connection.execute("INSERT INTO summary VALUES (1, ?)", (encode_body(summary),))
    finally:
        connection.close()


def open_for_writing(path: Path) -> apsw.Connection:
    """The writer's connection: every commit is on the disk before it returns."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    try:
        version = _version(connection)
        if version == 0:
            raise UnreadableJournal("this is not a journal", where=str(path))
        if version > len(MIGRATIONS):
            raise InvalidState(
                f"the journal has version {version}, this program writes version {len(MIGRATIONS)}",
                where=str(path),
                todo="Use a newer interlock for this run.",
            )
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("journal_size_limit", KEPT_WAL_BYTES)
        # A checkpoint on the way of a commit would hold it up for milliseconds: the writer chooses its own moments.
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


def open_for_reading(path: Path) -> apsw.Connection:
    """A connection that can only read, also from a read-only disk if the journal was closed properly."""
    connection = _connect(path, apsw.SQLITE_OPEN_READONLY)
    try:
        _version(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A file in write-ahead mode wants a helper file beside it, and here none can be made.
        connection.close()
        if _has_content(path.with_name(path.name + "-wal")):
            raise UnreadableJournal(
                "its last records lie in a separate file, which needs a folder that can be written to",
                where=str(path),
                todo="Copy the run's folder to a place where you may write.",
            ) from None
        return apsw.Connection(
            f"file:{quote(str(path))}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
    except apsw.Error as error:
        connection.close()
        raise explain(error, path) from error
    return connection


def explain(error: apsw.Error, path: Path) -> InterlockError:
    """What SQLite said, for a person."""
    where = str(path)
    match error:
        case apsw.FullError():
            return InterlockError("the disk is full", where=where, todo="Free some space, or run interlock prune.")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return InterlockError(
                "the journal cannot be written to",
                where=where,
                todo="Check who owns it, and whether the disk is read-only.",
            )
        case apsw.CorruptError() | apsw.NotADBError() | apsw.SQLError():
            return UnreadableJournal(
                f"the journal is damaged ({error})", where=where, todo="Remove the run with interlock prune."
            )
        case apsw.BusyError() | apsw.LockedError():
            return InterlockError("another program keeps the journal locked", where=where, todo="Close that program.")
        case _:
            return InterlockError(f"the journal cannot be used ({error})", where=where, todo="Check the disk.")


def _connect(path: Path, flags: int) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(path), flags=flags)
    except apsw.Error as error:
        if not path.exists():
            raise NotFound(f"there is no journal at {path}") from None
        raise explain(error, path) from error
    connection.set_busy_timeout(BUSY_MS)
    return connection


def _version(connection: apsw.Connection) -> int:
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
