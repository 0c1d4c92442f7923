"""CheckpointHistory: a store's checkpoints in order, as deltas with whole trees in between."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec
import zstandard

from ..core import CheckpointInfo, InvalidState, NotFound, from_json, from_msgpack
from .change import changes_by, differences
from .entry import TreeEntry, state_of
from .store import CheckpointStore
from .tree import Delta, WorkspaceTree, decode_delta, encode_delta, fold

LEAST_CHAIN = 65_536
"""Bytes of deltas in a row before a whole tree is written again; more where the tree itself is larger."""

NAMED = 3
"""Checkpoints that an ambiguous name lists."""

SHOWN = 50
"""Paths that a checkpoint lists as not covered; the rest are counted."""


class CheckpointHistory:
    """Reads and appends checkpoints."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._chain: tuple[int, int, int] | None = None
        """The newest checkpoint, the bytes of the last whole tree, and of the deltas since; None if unknown."""
        if store.get_meta("owned") is None:
            self._upgrade()

    def infos(self) -> list[CheckpointInfo]:
        """All checkpoints, oldest first."""
        rows = self._store.rows("SELECT info FROM checkpoint ORDER BY seq")
        return [from_json(row[0], CheckpointInfo) for row in rows]

    def head(self) -> int:
        """The number of the newest checkpoint; 0 if there is none."""
        return self._store.number("SELECT max(seq) FROM checkpoint")

    def find(self, wanted: str) -> int:
        """The number of a checkpoint by its id, its short id (before the dash), its label or a unique beginning."""
        ids: dict[str, int] = {name: seq for seq, name in self._store.rows("SELECT seq, id FROM checkpoint")}
        found, said = [name for name in ids if wanted in (name, name.partition("-")[0])], "have the id"
        if wanted and not found:
            found, said = [info.id for info in self.infos() if info.label == wanted], "have the label"
        if wanted and not found:
            found, said = [name for name in ids if name.startswith(wanted)], "begin with"
        if len(found) == 1:
            return ids[found[0]]
        if not found:
            raise NotFound(f"there is no checkpoint {wanted!r}", todo="List them with: interlock checkpoints")
        newest = ", ".join(reversed(found[-NAMED:]))
        raise NotFound(f"{len(found)} checkpoints {said} {wanted!r}", todo=f"Use an id; the newest: {newest}")

    def info(self, seq: int) -> CheckpointInfo:
        row = self._store.row("SELECT info FROM checkpoint WHERE seq=?", seq)
        if row is None:
            raise NotFound(f"there is no checkpoint {seq}")
        return from_json(row[0], CheckpointInfo)

    def tree(self, seq: int) -> WorkspaceTree:
        """The workspace as it was at a checkpoint."""
        whole = self._store.number("SELECT max(seq) FROM checkpoint WHERE seq<=? AND whole", seq)
        tree = WorkspaceTree()
        for at, delta in self.deltas(whole, seq):
            if at == whole:
                tree = WorkspaceTree.from_whole(delta)
            else:
                tree.apply(delta)
        return tree

    def deltas(self, first: int, last: int) -> Iterator[tuple[int, Delta]]:
        """The stored deltas from one checkpoint to another, oldest first; a whole tree is a delta from nothing."""
        for seq, data in self._store.rows(
            "SELECT seq, delta FROM checkpoint WHERE seq BETWEEN ? AND ? ORDER BY seq", first, last
        ):
            yield seq, self._decode(seq, data)

    def uncovered(self, seq: int) -> dict[str, str]:
        """The paths that a checkpoint does not cover, with the reasons."""
        row = self._store.row("SELECT uncovered FROM checkpoint WHERE seq=?", seq)
        stored = from_msgpack(row[0], dict[bytes, str]) if row else {}
        return {os.fsdecode(path): reason for path, reason in stored.items()}

    def own(self, after: int, run_id: str | None) -> dict[str, str]:
        """The paths that a run changed itself after a checkpoint, with the state that it left."""
        rows = self._store.rows("SELECT path, state FROM own WHERE run=? AND seq>? ORDER BY seq", run_id or "", after)
        return {os.fsdecode(path): state for path, state in rows}

    def first(self, run_id: str) -> int | None:
        """The number of a run's first checkpoint, which may be gone; None for a run without checkpoints."""
        row = self._store.row("SELECT first FROM run WHERE id=?", run_id)
        return int(row[0]) if row else None

    def append(
        self,
        info: CheckpointInfo,
        delta: Delta,
        tree: WorkspaceTree | None,
        uncovered: dict[str, str],
        *,
        own: Iterable[tuple[str, TreeEntry | None]] = (),
        whole: bool = False,
    ) -> CheckpointInfo:
        """Add a checkpoint inside the caller's transaction; its id is created here.

        `own` are the run's own changes since the previous one; `whole`: store all of `tree`, not a delta.
        """
        seq = 1 + self._store.number("SELECT seq FROM sqlite_sequence WHERE name='checkpoint'")
        info = msgspec.structs.replace(info, id=f"c{seq}-{os.urandom(3).hex()}")
        due = tree is not None and (whole or self._is_due(seq - 1))
        data = encode_delta(tree.whole() if tree is not None and due else delta)
        if self._chain is not None:
            _, last, since = self._chain
            self._chain = (seq, len(data), 0) if due else (seq, last, since + len(data))
        self._store.db.execute(
            "INSERT INTO checkpoint(seq, id, whole, own, info, uncovered, delta) VALUES(?,?,?,?,?,?,?)",
            (
                seq,
                info.id,
                int(due),
                0,
                msgspec.json.encode(info),
                msgspec.msgpack.encode({os.fsencode(path): why for path, why in uncovered.items()}),
                data,
            ),
        )
        if info.run_id is not None:
            self._store.db.execute("INSERT OR IGNORE INTO run VALUES(?,?)", (info.run_id, seq))
        self._note_own(info.run_id, seq, own)
        return info

    def remove(self, gone: set[int]) -> None:
        """Drop checkpoints inside the caller's transaction; what they changed goes into the next one that stays."""
        self._chain = None
        pending: Delta | None = None
        from_nothing = False
        for seq, name, whole in self._store.rows("SELECT seq, id, whole FROM checkpoint ORDER BY seq"):
            if whole:
                pending, from_nothing = None, True
            if seq in gone:
                delta = next(self.deltas(seq, seq))[1]
                pending = delta if pending is None else fold(pending, delta)
                self._store.db.execute("DELETE FROM checkpoint WHERE seq=?", (seq,))
                self._store.db.execute("DELETE FROM extra WHERE id=?", (name,))
                continue
            if pending is not None:
                self._rewrite(seq, fold(pending, next(self.deltas(seq, seq))[1]), whole=from_nothing)
            pending, from_nothing = None, False

    def forget_runs(self) -> None:
        """Drop what is known of runs that have no checkpoint left, and which of their changes a later one of theirs
        replaced, inside the caller's transaction."""
        left = "SELECT coalesce(json_extract(info, '$.run_id'), '') FROM checkpoint"
        self._store.db.execute(f"DELETE FROM own WHERE run NOT IN ({left})")
        self._store.db.execute(f"DELETE FROM run WHERE id NOT IN ({left})")
        latest = "SELECT run, path, max(seq) FROM own GROUP BY run, path"
        self._store.db.execute(f"DELETE FROM own WHERE (run, path, seq) NOT IN ({latest})")

    def _rewrite(self, seq: int, delta: Delta, *, whole: bool) -> None:
        if whole:
            tree = WorkspaceTree()
            tree.apply(delta)
            delta = tree.whole()
        self._store.db.execute(
            "UPDATE checkpoint SET whole=?, delta=? WHERE seq=?", (int(whole), encode_delta(delta), seq)
        )

    def _note_own(self, run_id: str | None, seq: int, changes: Iterable[tuple[str, TreeEntry | None]]) -> None:
        rows = [(run_id or "", os.fsencode(path), seq, state_of(entry)) for path, entry in changes]
        if rows:
            self._store.db.executemany("INSERT OR REPLACE INTO own VALUES(?,?,?,?)", rows)

    def _upgrade(self) -> None:
        """Fill in runs and their own changes for a store that an older version wrote."""
        with self._store.transaction():
            tree = WorkspaceTree()
            rows = self._store.rows("SELECT seq, whole, own, info, delta FROM checkpoint ORDER BY seq")
            for seq, whole, own, body, data in rows:
                delta, info = self._decode(seq, data), from_json(body, CheckpointInfo)
                if info.run_id is not None:
                    first = seq if info.cause == "start" else 0
                    self._store.db.execute("INSERT OR IGNORE INTO run VALUES(?,?)", (info.run_id, first))
                before, tree = (tree, WorkspaceTree()) if whole else (tree, tree)
                changes = [] if whole else list(changes_by(delta, tree))
                tree.apply(delta)
                if whole:
                    changes = [(difference.path, difference.b) for difference in differences(before, tree)]
                if own:
                    self._note_own(info.run_id, seq, changes)
            self._store.set_meta("owned", "1")

    def _is_due(self, head: int) -> bool:
        """Whether the deltas since the last whole tree are as large as that tree, so that the cost per checkpoint
        stays constant."""
        if self._chain is None or self._chain[0] != head:
            row = self._store.row("SELECT seq, length(delta) FROM checkpoint WHERE whole ORDER BY seq DESC LIMIT 1")
            if row is None:
                return True
            since = self._store.number("SELECT sum(length(delta)) FROM checkpoint WHERE seq>?", row[0])
            self._chain = (head, int(row[1]), since)
        return self._chain[2] > max(self._chain[1], LEAST_CHAIN)

    def _decode(self, seq: int, data: bytes) -> Delta:
        try:
            return decode_delta(data)
        except (zstandard.ZstdError, msgspec.DecodeError) as error:
            raise InvalidState(
                f"the list of files of checkpoint {seq} is damaged: {error}",
                where=str(self._store.path),
                todo="See what is affected with: interlock checkpoint verify",
            ) from error
