"""Verifies a journal: whether anything was changed, removed or added since its owner wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

import apsw
from msgspec import Struct

from ..core import STORE_KEY, InterlockError, Record, is_signed_by, owner_key
from .database import MIGRATIONS, UnreadableJournal
from .folder import RunFolder
from .interface import LOST, Head, first_link, next_link
from .reader import JournalReader

MOST = 20
"""Damages that are listed at most."""

Verdict = Literal["intact", "changed", "not chained", "not signed", "newer"]


class Damage(Struct, frozen=True, omit_defaults=True):
    """Something that is not as it was written; `seq` is the record, 0 for the journal as a whole."""

    what: str
    seq: int = 0


class Verification(Struct, frozen=True, kw_only=True):
    """The result of verifying a journal.

    `chained_from` is the first record that the chain covers; `key` is the key that signed the end, empty if it was
    not signed. `known_key`: it is this store's own key; `published` is the newest head known from elsewhere.
    """

    run_id: str
    verdict: Verdict
    records: int = 0
    chained_from: int = 1
    key: str = ""
    known_key: bool = False
    published: int = 0
    damage: tuple[Damage, ...] = ()

    @property
    def intact(self) -> bool:
        return self.verdict == "intact"

    @property
    def words(self) -> str:
        """The result in one line."""
        match self.verdict:
            case "intact":
                by = "this machine's key" if self.known_key else f"key {self.key}"
                since = f" from record {self.chained_from:,} on" if self.chained_from > 1 else ""
                elsewhere = f"; record {self.published:,} was published" if self.published else ""
                return f"intact{since}: {self.records:,} records, chained and signed by {by}{elsewhere}"
            case "not chained":
                return f"not chained: an older version wrote it, so changes to its {self.records:,} records do not show"
            case "not signed":
                return (
                    f"not signed: its {self.records:,} records are chained, but all of them could have been rewritten"
                )
            case _:
                more = f" (and {len(self.damage) - 1} more)" if len(self.damage) > 1 else ""
                return f"{self.damage[0].what}{more}" if self.damage else self.verdict


def verify_journal(folder: RunFolder, published: Sequence[Head] = ()) -> Verification:
    """Check every record of a journal; `published` are heads of this run that were stored elsewhere."""
    try:
        with JournalReader.open(folder) as reader:
            return _verify(reader, folder, published)
    except InterlockError as error:
        if not isinstance(error, UnreadableJournal):
            raise
        return Verification(run_id=folder.run_id, verdict="changed", damage=(Damage(error.what),))


def _verify(reader: JournalReader, folder: RunFolder, published: Sequence[Head]) -> Verification:
    if reader.newer is not None:
        return Verification(run_id=reader.run_id, verdict="newer", damage=(Damage(reader.newer),))
    damage = [Damage(f"the file is damaged: {each}") for each in reader.check()[:MOST]]
    if reader.schema() != _schema(reader.version):
        damage.append(Damage("its tables are not those of a journal"))
    if not reader.is_chained:
        return _verify_unchained(reader, damage)
    walk = _Walk(reader.run_id, reader.chained_from(), published)
    head = None
    try:
        walk.check(reader.links())
        reader.summary()
        # Read last: a live owner may add records meanwhile.
        head = reader.head()
    except UnreadableJournal as error:
        damage.append(Damage(f"after record {walk.seq:,}: {error.what}", walk.seq))
    damage += walk.damage
    key = owner_key(folder.path.parent) if (folder.path.parent / STORE_KEY).exists() else None
    if not damage:
        damage += _check_head(reader, head, walk)
    unsigned: Verdict = "intact" if head is not None and head.signature else "not signed"
    return Verification(
        run_id=reader.run_id,
        verdict="changed" if damage else unsigned,
        records=walk.count,
        chained_from=walk.first,
        key=head.key if head is not None else "",
        known_key=key is not None and head is not None and head.key == key.public,
        published=max((each.seq for each in published), default=0),
        damage=tuple(damage[:MOST]),
    )


def _verify_unchained(reader: JournalReader, damage: list[Damage]) -> Verification:
    for _, record, _ in reader.links():
        if record.kind == LOST and b"journal is damaged here" in bytes(record.body):
            damage.append(Damage(f"record {record.seq:,} is damaged", record.seq))
    verdict: Verdict = "changed" if damage else "not chained"
    return Verification(run_id=reader.run_id, verdict=verdict, records=reader.count(), damage=tuple(damage[:MOST]))


def _check_head(reader: JournalReader, head: Head | None, walk: _Walk) -> list[Damage]:
    """Check the head: whether it exists, its signature is valid, and it matches the records."""
    if head is None:
        return [Damage("its signed end is missing")]
    if head.signature and not is_signed_by(head.key, head.message(), head.signature):
        return [Damage(f"its signature does not match: its end (record {head.seq:,}) or its summary was changed")]
    if head.seq < walk.seq:
        return [
            Damage(f"the records after {head.seq:,} were not signed: they were added without the key", head.seq + 1)
        ]
    if head.seq == walk.seq and head.chain != walk.chain:
        return [Damage("its records are not those that its owner signed")]
    if head.seq > walk.seq and not _grew(reader, walk, head):
        return [Damage(f"its end is missing: {walk.seq:,} of {head.seq:,} records remain", walk.seq)]
    return []


def _grew(reader: JournalReader, walk: _Walk, head: Head) -> bool:
    """Whether a live owner added the records up to the head while we read."""
    more = _Walk(reader.run_id, walk.first, (head,))
    more.seq, more.chain = walk.seq, walk.chain
    more.check(reader.links(walk.seq))
    return not more.damage


class _Walk:
    """Follows the chain and records where it breaks."""

    def __init__(self, run_id: str, first: int, published: Iterable[Head]) -> None:
        self.first, self.seq, self.count = first, 0, 0
        self.chain = first_link(run_id, first)
        self.damage: list[Damage] = []
        self._published = {head.seq: head for head in published}
        self._run_id = run_id

    def check(self, links: Iterable[tuple[int, Record, bytes | None]]) -> None:
        """Check every record in order."""
        for seq, record, stored in links:
            gone = seq - self.seq - 1
            if gone:
                which = f"record {seq - 1:,} is" if gone == 1 else f"records {self.seq + 1:,} to {seq - 1:,} are"
                self._add_damage(f"{which} missing", self.seq + 1)
            self.seq, self.count = seq, self.count + 1
            if seq < self.first:
                continue
            body = bytes(record.body)
            expected = next_link(self.chain, seq, record.v, record.time, record.kind, body)
            if stored is None:
                self._add_damage(f"record {seq:,} was changed: it has no hash", seq)
            elif stored != expected and not gone:
                self._add_damage(f"record {seq:,} was changed", seq)
            self.chain = stored or expected
            self._compare(seq)
        for seq, head in self._published.items():
            if seq > self.seq:
                self._add_damage(f"its end is missing: record {seq:,} was published, {self.seq:,} remain", self.seq)
            elif head.run_id != self._run_id:
                self._add_damage("the published head is another run's")

    def _compare(self, seq: int) -> None:
        head = self._published.get(seq)
        if head is not None and head.chain != self.chain:
            self._add_damage(f"record {seq:,} or one before it is not what was published", seq)

    def _add_damage(self, what: str, seq: int = 0) -> None:
        if len(self.damage) < MOST:
            self.damage.append(Damage(what, seq))


@cache
def _schema(version: int) -> frozenset[str]:
    connection = apsw.Connection(":memory:")
    for step in MIGRATIONS[:version]:
        connection.execute(step).fetchall()
    return frozenset(str(row[0]) for row in connection.execute("SELECT sql FROM sqlite_schema"))
