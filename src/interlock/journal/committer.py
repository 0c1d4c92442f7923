"""Committer: writes groups of batches, one transaction each, and keeps the write-ahead log small."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

import apsw

from ..core import FILE_MODE, OWN_FILE, SigningKey, allocate, owner_key, sync_data
from .database import (
    KEPT_WAL_BYTES,
    SHORT_BYTES,
    SMALL_DISK,
    damaged,
    explain,
    free_bytes,
    keep_shared_memory,
    open_for_writing,
    reservable_bytes,
    sign_head,
)
from .interface import Head, digest, encode_body, first_link, next_link
from .packing import Packer, pack_dictionary, unpack_dictionary
from .write_queue import Batch

LARGE_WAL_PAGES = 1_000
"""From this many pages (of 4 KiB) on, the write-ahead log is checkpointed without waiting for an idle moment.

This many fit into the space reserved for it.
"""

PIECE_BYTES = KEPT_WAL_BYTES // 8
"""The space reserved for the log on a small disk: a person's commands are written there when the disk is full."""

LARGE_DISK = 100 * KEPT_WAL_BYTES
"""With this much free, a disk is asked for all the space that a log may use."""

ZEROS = bytes(16 * 1024)
"""The block that reserved space is filled with."""

FRAME_BYTES = 4_096 + 24
"""The size of a page in the log."""

CRAMPED_BYTES = PIECE_BYTES // 2
"""Space that should always be left for the next commits."""

PROBE_S = 0.5
"""Time between two attempts to allocate while the disk seems full.

A failed attempt makes some file systems (ext4) flush their whole journal, and every command waits for that: there is
no second one until the disk has more space than at the first.
"""

FEW_PAGES = 6
"""Free pages of the file that a commit of a few records may use."""

CHUNKS = (256, 64, 16, 4, 3, 2, 1)
"""Rows per statement. Every statement releases the GIL once, and a busy agent then holds it for 5 ms."""

_INSERT = {rows: "INSERT INTO record VALUES " + ",".join(["(?,?,?,?,?,?)"] * rows) for rows in CHUNKS}
_SUMMARIZE = "INSERT OR REPLACE INTO summary(body, seq, chain, key, signature, one) VALUES (?, ?, ?, ?, ?, 1)"
_SIGN = "UPDATE summary SET seq = ?, chain = ?, key = ?, signature = ?"
_BOTH = {rows: f"BEGIN IMMEDIATE; {insert}; {_SUMMARIZE}; COMMIT" for rows, insert in _INSERT.items()}
_SIGNED = {rows: f"BEGIN IMMEDIATE; {insert}; {_SIGN}; COMMIT" for rows, insert in _INSERT.items()}

Value = int | float | str | bytes


class Committer:
    """The writer's connection. Used by one thread at a time."""

    def __init__(self, connection: apsw.Connection, key: SigningKey | None = None) -> None:
        self._connection, self._key = connection, key
        self._path = connection.filename
        self._spare = SpareFile(Path(f"{self._path}-room"))
        self.run_id, first = connection.execute("SELECT run_id, first FROM about").get
        newest = connection.execute("SELECT seq, chain FROM record ORDER BY seq DESC LIMIT 1").get
        self.last_seq: int = newest[0] if newest else 0
        chain = newest[1] if newest else None
        self._chain: bytes = chain or first_link(self.run_id, first)
        self._summary = digest(str(connection.execute("SELECT body FROM summary").get or "").encode())
        used = connection.execute("SELECT data FROM dictionary ORDER BY first DESC LIMIT 1").get
        self._packer = Packer(unpack_dictionary(used) if used is not None else None)
        # One cursor for all: creating one for each statement would slow down every command.
        self._run = connection.cursor().execute
        self._log_pages = 0
        self._checkpoint_at = LARGE_WAL_PAGES
        self._done_pages = 0
        self._probe_again, self._refused_at = 0.0, -1
        self._reserved_until = 0
        self._is_fully_reserved = False
        self.is_large = False
        """Whether the log is so large that it is checkpointed without waiting for an idle moment."""
        self.is_cramped = False
        """Whether the log has nearly used up its space, and gets more without waiting for an idle moment."""
        self.head: Head | None = None
        """What this process signed last."""
        connection.set_wal_hook(self._note_pages)
        keep_shared_memory(Path(self._path))

    @classmethod
    def open(cls, path: Path) -> Committer:
        """Open a journal for writing; Unreadable if it is damaged."""
        connection = open_for_writing(path)
        try:
            return cls(connection, owner_key(path.parent.parent))
        except apsw.Error as error:
            connection.close()
            raise explain(error, path) from error
        except (TypeError, ValueError) as error:
            connection.close()
            raise damaged(path, error) from None

    @property
    def untidy(self) -> bool:
        """Whether the log has pages that are not in the main file yet."""
        return self._log_pages > 0

    @property
    def is_short(self) -> bool:
        """Whether the disk is practically full."""
        try:
            disk = os.statvfs(self._path)
        except OSError:
            return False
        if disk.f_frsize * disk.f_bavail >= SHORT_BYTES:
            return False
        # Root may use more, but not all that a file system counts as free: only trying tells.
        free = free_bytes(disk)
        return free < SHORT_BYTES or not self._can_allocate(free)

    def _can_allocate(self, free: int) -> bool:
        """Whether a disk with this many free bytes lets us allocate, according to the last attempt."""
        now = time.monotonic()
        if free > self._refused_at and now >= self._probe_again:
            self._probe_again, self._refused_at = now + PROBE_S, -1
            probe = f"{self._path}-probe"
            try:
                handle = os.open(probe, OWN_FILE, FILE_MODE)
                try:
                    allocate(handle, 2 * SHORT_BYTES)
                finally:
                    os.close(handle)
                    Path(probe).unlink(missing_ok=True)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    self._refused_at = free
        return self._refused_at < 0

    def commit(self, group: list[Batch], *, from_reserve: bool = False) -> None:
        """Write a group, all or nothing; when this returns, the disk has it.

        With `from_reserve` it may use pages that are reserved for a full disk.
        """
        values: list[Value] = []
        bodies: list[bytes] = []
        summary, chain, seq = None, self._chain, self.last_seq
        for batch in group:
            for seq, (v, at, kind, content) in enumerate(batch.rows, batch.first):
                body = content.encode()
                chain = next_link(chain, seq, v, at, kind, body)
                values += (seq, v, at, kind, self._packer.pack(body), chain)
                bodies.append(body)
            if batch.summary is not None:
                summary = batch.summary
        if not values and summary is None:
            return
        text = None if summary is None else encode_body(summary)
        said = self._summary if text is None else digest(text.encode())
        head = sign_head(self.run_id, seq, chain, said, self._key)
        try:
            # A durable commit does not wait for a dictionary, nor use space that is reserved for commands.
            renew = self._packer.next_dictionary() if not any(batch.durable for batch in group) else None
            self._write(values, text, (seq, chain, head.key, head.signature), renew, from_reserve)
        except apsw.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._chain, self._summary, self.last_seq, self.head = chain, said, seq, head
        for body in bodies:
            self._packer.remember(body)

    def tidy(self, only_if_large: bool = False) -> None:
        """Checkpoint the log into the main file, as far as readers allow. Never waits for them."""
        if not self._log_pages or (only_if_large and not self.is_large):
            return
        # If this fails, the records are safe in the log, and the next attempt may work.
        with contextlib.suppress(apsw.Error):
            try:
                self._work_off()
            except apsw.FullError:
                # Pages that were written while there was space do not fit into the file: the spare file makes way.
                while self._spare.give_up():
                    with contextlib.suppress(apsw.FullError):
                        self._work_off()
                        return

    def _work_off(self) -> None:
        pages, done = self._connection.wal_checkpoint()
        self._checkpoint_at = LARGE_WAL_PAGES if done == pages else pages + LARGE_WAL_PAGES
        self._done_pages = 0 if done == pages else pages
        self._log_pages = 0 if done == pages else pages
        self.is_large = False

    def reserve(self, *, only_if_small: bool = False) -> bool:
        """Reserve space for the log, one piece at a time; returns whether it wants more.

        A file that does not grow, on blocks that were written before, syncs in two thirds of the time, and a command
        waits for two syncs. SQLite relies on its own numbers and checksums, never on the file's length.
        """
        if self._is_fully_reserved or not self._connection.filename_wal:
            return False
        with contextlib.suppress(OSError):
            handle = os.open(self._connection.filename_wal, OWN_FILE & ~os.O_CREAT)
            try:
                size, free = os.fstat(handle).st_size, free_bytes(os.fstatvfs(handle))
                room = KEPT_WAL_BYTES if free >= LARGE_DISK else reservable_bytes(free + size, PIECE_BYTES)
                if only_if_small and free >= LARGE_DISK:
                    return True
                if size < room:
                    blocks, rest = divmod(min(PIECE_BYTES, room - size), len(ZEROS))
                    self._reserved_until = size + os.pwritev(handle, [*[ZEROS] * blocks, ZEROS[:rest]], size)
                    sync_data(handle)
                    self.is_cramped = False
                    return True
            finally:
                os.close(handle)
        # It has all of it, or the disk has none to spare: the log then grows as needed.
        self._is_fully_reserved, self.is_cramped = True, False
        return False

    def close(self) -> None:
        """Leave a single file that opens anywhere, if nobody is reading."""
        self._connection.set_busy_timeout(0)
        # On a full disk, checkpointing the log needs this space.
        self._spare.remove()
        self._free_reserve()
        with contextlib.suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            # Everything is synced to the file by now; the rest only changes flags in its first sector.
            self._connection.pragma("synchronous", "off")
        with contextlib.suppress(apsw.Error):
            self._connection.pragma("journal_mode", "delete")
        self._connection.close()

    def _free_reserve(self) -> None:
        """Free the reserved space of an ended run; if there is no space to copy the file, it stays reserved."""
        with contextlib.suppress(apsw.Error):
            if self._connection.execute("SELECT count(*) FROM room").get:
                self._connection.execute("DELETE FROM room")
            pages, free = self._connection.pragma("page_count"), self._connection.pragma("freelist_count")
            if pages <= LARGE_WAL_PAGES and free > pages // 4 and not self.is_short:
                self._connection.execute("VACUUM")

    def _write(
        self,
        values: list[Value],
        summary: str | None,
        head: tuple[int, bytes, str, bytes],
        dictionary: bytes | None,
        from_reserve: bool,
    ) -> None:
        """In one call if possible: a command waits for this, and besides the disk the calls are most of the cost."""
        run, rows = self._run, len(values) // 6
        last = head if summary is None else (summary, *head)
        whole = (_SIGNED if summary is None else _BOTH).get(rows)
        if whole is not None and dictionary is None and not from_reserve:
            run(whole, (*values, *last))
            return
        run("BEGIN IMMEDIATE")
        if from_reserve and self._connection.pragma("freelist_count") < FEW_PAGES:
            run("DELETE FROM room WHERE rowid = (SELECT max(rowid) FROM room)")
        self._insert(values)
        run(_SIGN if summary is None else _SUMMARIZE, last)
        if dictionary is not None:
            run("INSERT OR REPLACE INTO dictionary VALUES (?, ?)", (head[0] + 1, pack_dictionary(dictionary)))
        run("COMMIT")
        if dictionary is not None:
            self._packer.use(dictionary)

    def _insert(self, values: list[Value]) -> None:
        start = 0
        for rows in CHUNKS:
            width = rows * 6
            while len(values) - start >= width:
                self._connection.execute(_INSERT[rows], values[start : start + width])
                start += width

    def _note_pages(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        self._log_pages = pages
        # On a large disk nothing is reserved before the first idle moment.
        room = self._reserved_until or (0 if self._is_fully_reserved else CRAMPED_BYTES)
        used_up = pages * FRAME_BYTES > room - min(CRAMPED_BYTES, room // 2)
        # A log that gets no more space is checkpointed before its space is used up.
        self.is_large = pages >= self._checkpoint_at or (
            self._is_fully_reserved and used_up and pages > self._done_pages
        )
        self.is_cramped = not self._is_fully_reserved and used_up
        return apsw.SQLITE_OK


SPARE_BYTES = KEPT_WAL_BYTES // 8
"""As much as the write-ahead log of a small disk: all of it may be new to the journal's file."""

PIECE = 64 * 1024


class SpareFile:
    """Created if a disk is small and has space; given up piece by piece."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with contextlib.suppress(OSError):
            free = free_bytes(os.statvfs(path.parent))
            if SHORT_BYTES < free < SMALL_DISK:
                handle = os.open(path, OWN_FILE, FILE_MODE)
                try:
                    allocate(handle, reservable_bytes(free, SPARE_BYTES))
                finally:
                    os.close(handle)

    def give_up(self) -> bool:
        """Return some of it to the disk; False when nothing is left."""
        try:
            size = self._path.stat().st_size
            os.truncate(self._path, max(0, size - PIECE))
        except OSError:
            return False
        return size > 0

    def remove(self) -> None:
        """The journal is closed."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
