"""Sweep: removes checkpoints that are too old, too many or too large, and contents that only they needed.

The newest checkpoint, the start of the newest run and what the next undo needs always stay; the starts of other runs
stay until they are too old, or there is nothing else left to remove.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..config import Checkpoints as Settings
from .compact import free_dead_stretches, in_parts, move_frames, thin
from .entry import ABSENT
from .history import CheckpointHistory
from .packs import PackWriter
from .restore_record import last_done, unfinished
from .store import ROOMY, CheckpointStore, NoSpace, is_full, no_space
from .tree import Delta, encode_delta, join

THIN = 0.5
"""A pack with less than this share of live bytes is rewritten."""


SLACK = 8
"""Automatic collection starts when the count is exceeded by an eighth, so that it happens rarely."""

GROWN = 64 * 1024 * 1024
"""Unused contents are searched for when the store has grown by half, and by at least this much."""


NOTHING = encode_delta(Delta())


class Swept(Struct, frozen=True):
    """What a collection removed."""

    removed: tuple[str, ...]
    kept: int
    bytes_before: int
    bytes_after: int


class Sweep:
    """One garbage collection, in small durable steps: the store stays consistent if it is killed at any point."""

    def __init__(self, store: CheckpointStore, history: CheckpointHistory, settings: Settings, now: float) -> None:
        self._store, self._history, self._settings, self._now = store, history, settings, now

    def run(self, progress: Callable[[int, int], None] | None = None) -> Swept:
        """Remove what is due, and contents that are no longer needed."""
        before = self._store.size()
        remove_strays(self._store)
        if is_full(self._store.path):
            free_dead_stretches(self._store)
        removed = self._drop(self._due())
        self._collect(progress)
        while self._store.size() > self._settings.max_bytes:
            more = self._drop(self._tenth())
            if not more:
                break
            removed += more
            self._collect(progress)
        with suppress(NoSpace):
            # The space is freed; shrinking the database can wait until there is room.
            self._store.shrink()
            with self._store.transaction():
                self._store.set_meta("collected", str(self._store.size()))
        return Swept(tuple(removed), self._count(), before, self._store.size())

    def run_if_due(self) -> None:
        """The automatic collection: cheap if nothing is due, or only the count is exceeded."""
        size = self._store.size()
        kept = int(self._store.get_meta("collected") or 0)
        if size > self._settings.max_bytes or size > max(kept + GROWN, kept + kept // 2):
            self.run()
        elif self._is_due():
            self._drop(self._due())

    def run_on_full_disk(self, progress: Callable[[int, int], None] | None = None) -> Swept:
        """The same on a full disk, using the reserved space."""
        held = self._store.has_ballast()
        try:
            return self.run(progress)
        except NoSpace:
            self._store.drop_ballast()
            try:
                return self.run(progress)
            except NoSpace as error:
                raise NoSpace(
                    "no space left, not even to collect garbage",
                    where=error.where,
                    todo="Free some space on that disk first",
                ) from error
        finally:
            self._store.keep_ballast(room=1 if held else ROOMY)

    def _is_due(self) -> bool:
        """Whether checkpoints have become too old or too many; a cheap check."""
        most = self._settings.keep_count
        if self._count() > most + most // SLACK:
            return True
        row = self._store.row("SELECT json_extract(info, '$.time') FROM checkpoint ORDER BY seq LIMIT 1")
        # A day late, because the oldest may be one that stays.
        return row is not None and float(row[0]) < self._oldest() - 86_400 and bool(self._due())

    def _oldest(self) -> float:
        return self._now - self._settings.keep_days * 86_400

    def _due(self) -> set[int]:
        """Checkpoints that are too old or too many."""
        rows = self._rows()
        stay = self._staying(rows)
        oldest = self._oldest()
        old = {seq for seq, _, time in rows if time < oldest and seq not in stay}
        young = [seq for seq, _, _ in rows if seq not in old]
        starts = sorted(self._starts().intersection(young))[-max(1, self._settings.keep_count // 2) :]
        stay |= set(starts)
        many = set(self._equal(young).difference(stay)) if len(young) > self._settings.keep_count else set()
        left = [seq for seq in young if seq not in many]
        return old | many | thin(left, self._settings.keep_count, stay)

    def _equal(self, numbers: list[int]) -> set[int]:
        """Old checkpoints with the same files as their predecessor: the first to go if there are too many."""
        recent = numbers[-max(1, self._settings.keep_count // 2) :]
        rows = self._store.rows("SELECT seq FROM checkpoint WHERE delta=? AND seq<?", NOTHING, recent[0])
        return {int(seq) for (seq,) in rows}

    def _tenth(self) -> set[int]:
        """A tenth of what is left, thinned out; if only starts of runs are left, the oldest of these."""
        rows = self._rows()
        stay, numbers = self._staying(rows), [seq for seq, _, _ in rows]
        keep = len(numbers) - max(1, len(numbers) // 10)
        gone = thin(numbers, keep, stay | self._starts())
        if gone:
            return gone
        rest = [seq for seq in numbers if seq not in stay]
        others = [seq for seq in rest if seq not in self._starts()]
        return set((others or rest)[: max(1, len(rest) // 10)])

    def _rows(self) -> list[tuple[int, str, float]]:
        """Number, id and time of every checkpoint, oldest first."""
        rows = self._store.rows("SELECT seq, id, json_extract(info, '$.time') FROM checkpoint ORDER BY seq")
        return [(int(seq), str(name), float(time)) for seq, name, time in rows]

    def _count(self) -> int:
        return self._store.number("SELECT count(*) FROM checkpoint")

    def _starts(self) -> set[int]:
        return {int(seq) for (seq,) in self._store.rows("SELECT first FROM run")}

    def _staying(self, rows: list[tuple[int, str, float]]) -> set[int]:
        """What is never removed: the newest, the start of the newest run, and what an undo needs."""
        needed = self._needed()
        newest_start = self._store.number("SELECT max(first) FROM run")
        return {seq for seq, name, _ in rows if name in needed} | {newest_start, rows[-1][0] if rows else 0}

    def _needed(self) -> set[str]:
        """What the next undo, or an interrupted restore, still needs."""
        last = last_done(self._store)
        under_way = [*unfinished(self._store), *([last] if last else [])]
        return {name for one in under_way for name in (one.safety, one.target)} | {
            self._store.get_meta("current") or ""
        }

    def _drop(self, gone: set[int]) -> list[str]:
        if not gone:
            return []
        names = [name for seq, name in self._store.rows("SELECT seq, id FROM checkpoint") if seq in gone]
        in_parts(self._store, sorted(gone), self._remove)
        return names

    def _remove(self, gone: Sequence[int]) -> None:
        with self._store.transaction(durable=True):
            self._history.remove(set(gone))
            self._history.forget_runs()
            self._store.db.execute(
                "DELETE FROM restore WHERE state NOT IN ('staging','applying','taking_back')"
                " AND safety NOT IN (SELECT id FROM checkpoint)"
            )

    def _collect(self, progress: Callable[[int, int], None] | None) -> None:
        """Forget contents that no checkpoint uses, then reclaim the space pack by pack."""
        live, paths = self._live()
        self._forget_temporary(paths)
        dead = [(digest,) for (digest,) in self._store.rows("SELECT digest FROM blob") if digest not in live]
        if dead:
            in_parts(self._store, dead, self._forget)
            remove_strays(self._store)
        thin = self._thin()
        for done, pack in enumerate(thin):
            try:
                with no_space(self._store.path):
                    self._rewrite(pack)
            except NoSpace:
                if not self._repack(pack, thin):
                    break
            if progress is not None:
                progress(done + 1, len(thin))

    def _forget(self, dead: Sequence[tuple[bytes]]) -> None:
        with self._store.transaction(durable=True):
            self._store.db.executemany("DELETE FROM blob WHERE digest=?", dead)
            self._store.db.execute("DELETE FROM frame WHERE id NOT IN (SELECT frame FROM blob)")
            self._store.db.execute("DELETE FROM pack WHERE id NOT IN (SELECT pack FROM frame)")

    def _repack(self, pack: int, thin: list[int]) -> bool:
        """Empty a pack for which there is no space to rewrite it; False if there is too little for that as well."""
        remove_strays(self._store)
        self._store.fold_log()
        free_dead_stretches(self._store)
        newest = self._store.number("SELECT max(id) FROM pack")
        try:
            with no_space(self._store.path):
                move_frames(self._store, pack, new_pack=newest in thin)
        except NoSpace:
            # The dead packs are gone; half-dead ones can wait until there is space.
            self._store.fold_log()
            return False
        return True

    def _live(self) -> tuple[set[bytes], set[str]]:
        """The contents that are needed, and the paths that some checkpoint has."""
        live: set[bytes] = set()
        paths: set[str] = set()
        for _, delta in self._history.deltas(0, self._history.head()):
            for folder, listing in delta.changed.items():
                live.update(entry.data for entry in listing.values() if entry is not None and entry.is_file)
                paths.update(join(folder, name) for name, entry in listing.items() if entry is not None)
        for one in unfinished(self._store):
            live.update(entry.data for _, a, b in one.body.steps for entry in (a, b) if entry is not None)
        return live, paths

    def _forget_temporary(self, paths: set[str]) -> None:
        """Forget a run's deletions of paths that no checkpoint has: there is nothing to restore."""
        absent = self._store.rows("SELECT run, path FROM own WHERE state=?", ABSENT)
        gone = [(run, path) for run, path in absent if os.fsdecode(path) not in paths]
        if gone:
            with self._store.transaction():
                self._store.db.executemany("DELETE FROM own WHERE run=? AND path=?", gone)

    def _thin(self) -> list[int]:
        """Packs of which more than half is dead."""
        return [
            int(pack)
            for pack, length, share in self._store.rows(
                "SELECT p.id, p.length, sum(f.length * 1.0 * (SELECT sum(size) FROM blob b WHERE b.frame=f.id) / f.raw)"
                " FROM pack p JOIN frame f ON f.pack=p.id GROUP BY p.id"
            )
            if share < length * THIN
        ]

    def _rewrite(self, pack: int) -> None:
        """Move the live contents of a pack into a new one; needs no more than their size in extra space."""
        writer = PackWriter(self._store, new_pack=True)
        try:
            for frame in self._store.frames("pack=?", pack):
                writer.copy(frame)
            writer.finish()
            writer.sync()
            with self._store.transaction(durable=True):
                self._store.db.execute("DELETE FROM frame WHERE pack=?", (pack,))
                self._store.db.execute("DELETE FROM pack WHERE id=?", (pack,))
                writer.record()
        finally:
            writer.close()
        self._store.pack_path(pack).unlink(missing_ok=True)


def remove_strays(store: CheckpointStore) -> None:
    """Delete files that are not in the database, left by a killed snapshot or collection."""
    known = {store.pack_path(row[0]).name for row in store.rows("SELECT id FROM pack")}
    objects = store.rows("SELECT b.digest FROM blob b JOIN frame f ON f.id=b.frame WHERE f.pack=0")
    known |= {store.object_path(row[0]).name for row in objects}
    for folder in (store.packs, store.objects):
        with os.scandir(folder) as listing:
            strays = [item.path for item in listing if item.name not in known]
        for stray in strays:
            with suppress(FileNotFoundError):
                Path(stray).unlink()
