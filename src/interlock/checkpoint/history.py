"""History: the checkpoints of a store in order, each a delta from the one before, with whole trees in between."""

from __future__ import annotations

import os
import secrets

import msgspec
import zstandard

from ..core import CheckpointInfo, InvalidState, NotFound
from .store import Store
from .tree import Delta, Tree, decode_delta, encode_delta, fold

CHAIN = 256
"""Deltas in a row before a whole tree is written again."""

SHOWN = 50
"""Paths that a checkpoint names as not covered before it only counts them."""


class History:
    """Reads and appends checkpoints."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def infos(self) -> list[CheckpointInfo]:
        """All checkpoints, oldest first."""
        rows = self._store.db.execute("SELECT info FROM checkpoint ORDER BY seq")
        return [msgspec.json.decode(row[0], type=CheckpointInfo) for row in rows]

    def head(self) -> int:
        """The number of the newest checkpoint; 0 if there is none."""
        return int(self._store.db.execute("SELECT coalesce(max(seq),0) FROM checkpoint").fetchone()[0])

    def find(self, wanted: str) -> int:
        """The number of a checkpoint by its id, its short id (before the dash) or a unique beginning."""
        rows = self._store.db.execute("SELECT seq, id FROM checkpoint").fetchall()
        exact = [seq for seq, id_ in rows if id_ == wanted or id_.partition("-")[0] == wanted]
        found = exact or [seq for seq, id_ in rows if wanted and id_.startswith(wanted)]
        if len(found) == 1:
            return int(found[0])
        what = f"several checkpoints begin with {wanted!r}" if found else f"there is no checkpoint {wanted!r}"
        raise NotFound(what, todo="List them with: interlock checkpoints")

    def info(self, seq: int) -> CheckpointInfo:
        row = self._store.db.execute("SELECT info FROM checkpoint WHERE seq=?", (seq,)).fetchone()
        return msgspec.json.decode(row[0], type=CheckpointInfo)

    def tree(self, seq: int) -> Tree:
        """The workspace as it was at a checkpoint."""
        whole = self._store.db.execute("SELECT max(seq) FROM checkpoint WHERE seq<=? AND whole", (seq,)).fetchone()[0]
        tree = Tree()
        for at, data in self._store.db.execute(
            "SELECT seq, delta FROM checkpoint WHERE seq BETWEEN ? AND ? ORDER BY seq", (whole or 0, seq)
        ).fetchall():
            tree.apply(self._decode(at, data))
        return tree

    def uncovered(self, seq: int) -> dict[str, str]:
        """The paths that a checkpoint says nothing about, with the reasons."""
        row = self._store.db.execute("SELECT uncovered FROM checkpoint WHERE seq=?", (seq,)).fetchone()
        stored = msgspec.msgpack.decode(row[0], type=dict[bytes, str]) if row else {}
        return {os.fsdecode(path): reason for path, reason in stored.items()}

    def deltas(self, after: int, *, run_id: str | None = None) -> list[tuple[int, bool, CheckpointInfo, Delta]]:
        """The deltas after a checkpoint, oldest first: number, whether the run's own, info, delta."""
        rows = self._store.db.execute(
            "SELECT seq, own, info, delta FROM checkpoint WHERE seq>? AND NOT whole ORDER BY seq", (after,)
        ).fetchall()
        return [
            (seq, bool(own), msgspec.json.decode(info, type=CheckpointInfo), self._decode(seq, delta))
            for seq, own, info, delta in rows
        ]

    def append(
        self, info: CheckpointInfo, delta: Delta, tree: Tree, uncovered: dict[str, str], *, own: bool
    ) -> CheckpointInfo:
        """Add a checkpoint inside the caller's transaction; its id is made here."""
        db = self._store.db
        seq = 1 + int(
            db.execute("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name='checkpoint'),0)").fetchone()[0]
        )
        info = msgspec.structs.replace(info, id=f"c{seq}-{secrets.token_hex(3)}")
        whole = self._is_due()
        db.execute(
            "INSERT INTO checkpoint(seq, id, whole, own, info, uncovered, delta) VALUES(?,?,?,?,?,?,?)",
            (
                seq,
                info.id,
                int(whole),
                int(own),
                msgspec.json.encode(info),
                msgspec.msgpack.encode({os.fsencode(path): why for path, why in uncovered.items()}),
                encode_delta(tree.whole() if whole else delta),
            ),
        )
        return info

    def remove(self, seq: int) -> None:
        """Drop a checkpoint inside the caller's transaction; its delta goes into the next one."""
        db = self._store.db
        row = db.execute("SELECT id, whole, delta FROM checkpoint WHERE seq=?", (seq,)).fetchone()
        after = db.execute(
            "SELECT seq, whole, delta FROM checkpoint WHERE seq>? ORDER BY seq LIMIT 1", (seq,)
        ).fetchone()
        if after is not None and not after[1]:
            both = fold(self._decode(seq, row[2]), self._decode(after[0], after[2]))
            if row[1]:
                tree = Tree()
                tree.apply(both)
                both = tree.whole()
            db.execute("UPDATE checkpoint SET whole=?, delta=? WHERE seq=?", (row[1], encode_delta(both), after[0]))
        db.execute("DELETE FROM checkpoint WHERE seq=?", (seq,))
        db.execute("DELETE FROM extra WHERE id=?", (row[0],))

    def _is_due(self) -> bool:
        """Whether the deltas since the last whole tree have become as large as it is."""
        row = self._store.db.execute(
            "SELECT seq, length(delta) FROM checkpoint WHERE whole ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return True
        count, size = self._store.db.execute(
            "SELECT count(*), coalesce(sum(length(delta)),0) FROM checkpoint WHERE seq>?", (row[0],)
        ).fetchone()
        return bool(count >= CHAIN or size > max(row[1], 65536))

    def _decode(self, seq: int, data: bytes) -> Delta:
        try:
            return decode_delta(data)
        except (zstandard.ZstdError, msgspec.DecodeError) as error:
            raise InvalidState(
                f"the list of files of checkpoint {seq} is damaged: {error}",
                where=str(self._store.path),
                todo="See what is affected with: interlock checkpoint verify",
            ) from error
