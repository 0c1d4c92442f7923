"""The chain: whatever is changed, removed, added or cut in a journal is noticed, and where."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec
import pytest

from interlock.core import ManualClock, RunSpec
from interlock.core.keys import SigningKey, is_signed_by, owner_key
from interlock.journal import Journal, JournalEntry, JournalReader, RunFolder, RunSummary, Store
from interlock.journal.database import FIRST
from interlock.journal.export import verify_export
from interlock.journal.interface import digest, first_link, next_link
from interlock.journal.packing import RENEWED
from interlock.journal.verify import verify_journal

Make = Callable[..., RunFolder]


def body(number: int) -> dict[str, object]:
    return {
        "step": {
            "index": number,
            "content": f"status {number % 3}: " + "def work(value): return value\n" * (number % 9),
        }
    }


def fill(folder: RunFolder, count: int) -> None:
    with Journal.open(folder) as journal:
        for start in range(0, count, 50):
            entries = [JournalEntry("step", body(number)) for number in range(start, min(count, start + 50))]
            summary = RunSummary(run_id=folder.run_id, name=folder.spec().name, steps=start)
            journal.append(entries, durable=start % 500 == 0, summary=summary)
            journal.flush()


def sql(folder: RunFolder, statement: str, values: tuple[object, ...] = ()) -> None:
    connection = apsw.Connection(str(folder.journal))
    connection.execute(statement, values).fetchall()  # type: ignore[arg-type]
    connection.close()


def findings(folder: RunFolder) -> list[str]:
    return [damage.what for damage in verify_journal(folder).damage]


def test_an_untouched_journal_is_intact_and_signed_by_the_stores_key(run: RunFolder, store: Store) -> None:
    fill(run, 2 * RENEWED + 10)
    found = verify_journal(run)
    key = owner_key(store.root)
    assert key is not None and found.intact and found.key == key.public and found.known_key
    assert found.records == 2 * RENEWED + 10 and "intact" in found.words
    with Journal.open(run) as journal:
        journal.append([JournalEntry("step", body(1))], durable=True)
        assert verify_journal(run).intact, "also while its owner lives"
        assert journal.head is not None and is_signed_by(key.public, journal.head.message(), journal.head.signature)
    assert verify_journal(run).intact


def test_packed_bodies_come_back_as_they_were_and_take_a_fraction(run: RunFolder) -> None:
    fill(run, 4 * RENEWED)
    with JournalReader.open(run) as reader:
        assert [msgspec.json.decode(record.body) for record in reader.read()] == [body(n) for n in range(4 * RENEWED)]
        assert [record.seq for record in reader.search(text="status 2", limit=5)] == [3, 6, 9, 12, 15]
        newest = reader.search(text="status 2", limit=2, newest=True)
        assert [msgspec.json.decode(record.body)["step"]["index"] % 3 for record in newest] == [2, 2]
        plain = sum(len(bytes(record.body)) for record in reader.read())
    assert run.journal.stat().st_size < plain


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE record SET body = '{\"status\": 7}' WHERE seq = 41", "record 41 was changed"),
        ("UPDATE record SET time = time + 1 WHERE seq = 7", "record 7 was changed"),
        ("UPDATE record SET kind = 'other' WHERE seq = 100", "record 100 was changed"),
        ("DELETE FROM record WHERE seq = 50", "record 50 is missing"),
        ("DELETE FROM record WHERE seq BETWEEN 50 AND 59", "records 50 to 59 are missing"),
        ("DELETE FROM record WHERE seq > 90", "its end is missing: 90 of 100 records remain"),
        ("UPDATE record SET chain = NULL WHERE seq = 3", "record 3 was changed: it has no hash"),
        ("INSERT INTO record VALUES (101, 1, 0.0, 'step', '{}', x'00')", "record 101 was changed"),
        ("UPDATE summary SET body = replace(body, '\"steps\":50', '\"steps\":51')", "signature does not match"),
        ("UPDATE summary SET key = ''", "signature does not match"),
        ("DELETE FROM summary", "its signed end is missing"),
        ("CREATE TABLE more(x)", "its tables are not those of a journal"),
    ],
)
def test_what_was_changed_is_named(run: RunFolder, statement: str, said: str) -> None:
    fill(run, 100)
    assert verify_journal(run).intact
    sql(run, statement)
    found = verify_journal(run)
    assert found.verdict == "changed" and said in found.damage[0].what


def rewrite(run: RunFolder, run_id: str, key: SigningKey | None) -> None:
    """Change a record and mend the whole chain, as somebody does who knows how it is made."""
    from interlock.journal.database import sign_head

    connection = apsw.Connection(str(run.journal))
    connection.execute("UPDATE record SET body = '{\"status\":7}' WHERE seq = 10")
    with JournalReader.open(run) as reader:
        records, said = list(reader.read()), digest(reader._ask("SELECT CAST(body AS BLOB) FROM summary")[0][0])
    chain = first_link(run_id, 1)
    for each in records:
        chain = next_link(chain, each.seq, each.v, each.time, each.kind, bytes(each.body))
        connection.execute("UPDATE record SET chain = ? WHERE seq = ?", (chain, each.seq))
    head = sign_head(run_id, records[-1].seq, chain, said, key)
    connection.execute("UPDATE summary SET chain = ?", (chain,))
    if key is not None:
        connection.execute("UPDATE summary SET key = ?, signature = ?", (head.key, head.signature))
    connection.close()


def test_mending_the_chain_needs_the_owners_key(run: RunFolder, tmp_path: Path) -> None:
    fill(run, 60)
    rewrite(run, run.run_id, None)
    assert verify_journal(run).verdict == "changed"
    (tmp_path / "stranger").mkdir()
    rewrite(run, run.run_id, owner_key(tmp_path / "stranger"))
    found = verify_journal(run)
    assert not found.known_key, "whose key it is can be seen"


def test_a_cut_end_is_noticed_where_a_head_was_published(run: RunFolder) -> None:
    fill(run, 60)
    old = run.journal.read_bytes()
    with Journal.open(run) as journal:
        journal.append([JournalEntry("step", body(1))] * 5, durable=True)
        head = journal.head
    assert head is not None and head.seq == 65
    assert verify_journal(run, [head]).intact
    run.journal.write_bytes(old)
    assert verify_journal(run).intact, "an older copy of the whole is a journal like any other"
    found = verify_journal(run, [head])
    assert found.verdict == "changed" and "65 was published, 60 remain" in found.damage[0].what
    with Journal.open(run) as journal:
        journal.append([JournalEntry("step", body(2))] * 9, durable=True)
    assert "not what was published" in verify_journal(run, [head]).damage[0].what


def test_an_older_journal_says_that_it_is_not_chained_and_is_chained_from_there_on(make_run: Make) -> None:
    run = make_run("old")
    run.journal.unlink()
    connection = apsw.Connection(str(run.journal))
    connection.execute(FIRST).fetchall()
    connection.execute("INSERT INTO about VALUES (?)", (run.run_id,))
    connection.execute(
        "INSERT INTO summary VALUES (1, ?)", (msgspec.json.encode(RunSummary(run_id=run.run_id)).decode(),)
    )
    for seq in (1, 2, 3):
        connection.execute("INSERT INTO record VALUES (?, 1, 1.5, 'note', '{\"n\":1}')", (seq,))
    connection.pragma("user_version", 1)
    connection.close()
    with JournalReader.open(run) as reader:
        assert [bytes(record.body) for record in reader.read()] == [b'{"n":1}'] * 3
        assert len(reader.search(text="1")) == 3
    found = verify_journal(run)
    assert found.verdict == "not chained" and "not chained" in found.words
    with Journal.open(run) as journal:
        journal.append([JournalEntry("note", {"n": 2})] * 2, durable=True)
    found = verify_journal(run)
    assert found.intact and found.chained_from == 4 and "from record 4 on" in found.words
    sql(run, "UPDATE record SET body = '{\"n\":3}' WHERE seq = 5")
    assert findings(run) == ["record 5 was changed"]


def test_a_newer_journal_says_so(run: RunFolder, store: Store) -> None:
    fill(run, 10)
    sql(run, "PRAGMA user_version = 99")
    assert verify_journal(run).verdict == "newer"
    assert "newer version" in (store.runs()[0].problem or "")


@pytest.mark.parametrize("form", ["out", "out.tar.gz", "out.zip"])
def test_a_stranger_verifies_an_export_with_nothing_but_the_file(
    run: RunFolder, store: Store, tmp_path: Path, form: str
) -> None:
    fill(run, RENEWED + 20)
    (run.incidents / "one.json").write_text("{}")
    out = store.export(run.run_id, tmp_path / form)
    shutil.rmtree(store.root)
    found = verify_export(out)
    assert found.intact and found.records == RENEWED + 20 and found.key.startswith("U") and not found.known_key
    if out.is_dir():
        # Any SQLite reads it: bodies are text again.
        connection = apsw.Connection(str(out / "journal.db"))
        assert connection.execute("SELECT count(*) FROM record WHERE typeof(body) != 'text'").get == 0
        connection.close()
        (out / "incidents" / "one.json").write_text('{"harm": "none"}')
        (out / "more").write_text("")
        assert [each.what for each in verify_export(out).damage] == ["incidents/one.json was changed", "more was added"]


def test_a_changed_archive_is_noticed(run: RunFolder, store: Store, tmp_path: Path) -> None:
    fill(run, 30)
    out = store.export(run.run_id, tmp_path / "out")
    sql(RunFolder(out), "UPDATE record SET body = '{}' WHERE seq = 12")
    (out / "manifest.json").unlink()
    archive = Path(shutil.make_archive(str(tmp_path / "sent"), "gztar", tmp_path, "out"))
    assert [each.what for each in verify_export(archive).damage] == ["record 12 was changed"]


def flip_bits(run: RunFolder, flips: int, records: int) -> int:
    """Flip single bits of a journal; each is noticed, or every row is as it was. How many were noticed."""
    fill(run, records)
    original = run.journal.read_bytes()
    rows, summary = read_rows(run)
    chosen, noticed = random.Random(20), 0
    for _ in range(flips):
        at, bit = chosen.randrange(len(original)), chosen.randrange(8)
        with run.journal.open("r+b") as file:
            file.seek(at)
            file.write(bytes([original[at] ^ 1 << bit]))
        found = verify_journal(run)
        if found.intact:
            assert read_rows(run) == (rows, summary), f"bit {bit} of byte {at} changes a row and is not noticed"
        noticed += not found.intact
        with run.journal.open("r+b") as file:
            file.seek(at)
            file.write(original[at : at + 1])
    assert verify_journal(run).intact
    return noticed


def read_rows(run: RunFolder) -> tuple[list[object], object]:
    with JournalReader.open(run) as reader:
        return [(r.seq, r.time, r.kind, r.v, bytes(r.body)) for r in reader.read()], reader.summary()


def test_a_flipped_bit_is_noticed_or_changes_nothing(run: RunFolder) -> None:
    assert flip_bits(run, 200, 300) > 100


@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_of_twenty_thousand_flipped_bits_each_is_noticed_or_changes_nothing(run: RunFolder) -> None:
    assert flip_bits(run, 20_000, 2_000) > 10_000


def test_a_damaged_journal_hides_no_other_run_and_is_listed_as_unreadable(
    store: Store, make_run: Make, clock: ManualClock
) -> None:
    good, bad, worse = make_run("good"), make_run("bad"), make_run("worse")
    for each in (good, bad, worse):
        fill(each, 5)
    sql(bad, "UPDATE summary SET body = cast(x'ff' || body AS TEXT)")
    worse.journal.write_bytes(os.urandom(20_000))
    listed = {run.name: run for run in store.runs()}
    assert listed["bad"].status == listed["worse"].status == "unreadable" and listed["good"].status == "running"
    assert "damaged" in (listed["bad"].problem or "")
    assert store.find("good").run_id == good.run_id and store.find("bad").run_id == bad.run_id
    pruned = {each.name for each in store.prune(keep_last=0)}
    assert pruned == {"good", "bad", "worse"}


def test_a_damaged_record_is_shown_as_lost_and_the_others_are_read(run: RunFolder) -> None:
    fill(run, 20)
    sql(run, "UPDATE record SET body = cast(x'ff00' AS TEXT) WHERE seq = 7")
    sql(run, "UPDATE record SET body = x'00000064ff' WHERE seq = 9")
    with JournalReader.open(run) as reader:
        records = list(reader.read())
    assert [record.seq for record in records if record.kind == "lost"] == [7, 9]
    assert b"damaged here" in bytes(records[6].body) and len(records) == 20


def test_a_store_whose_key_cannot_be_read_still_records(tmp_path: Path, clock: ManualClock) -> None:
    root = tmp_path / "runs"
    (root / ".key").mkdir(parents=True)
    run = Store(root, clock).create(RunSpec(run_id="unsigned"))
    fill(run, 5)
    assert verify_journal(run).verdict == "not signed"
