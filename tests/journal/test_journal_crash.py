"""kill -9 at any moment: the journal opens, is sound, and has everything that was durable."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from interlock.journal import Journal, JournalReader, RunFolder

CHILD = Path(__file__).with_name("crash_child.py")


@pytest.mark.parametrize("mode", ["write", "reopen"])
def test_nothing_durable_is_lost_when_the_owner_is_killed(run: RunFolder, mode: str) -> None:
    kill_over_and_over(run, mode, 15, random.Random(mode))


@pytest.mark.torture
@pytest.mark.parametrize("mode", ["write", "reopen"])
def test_nothing_durable_is_lost_in_five_hundred_kills(make_run: Callable[[], RunFolder], mode: str) -> None:
    chance = random.Random(f"torture {mode}")
    for _ in range(10):
        kill_over_and_over(make_run(), mode, 50, chance)


def kill_over_and_over(run: RunFolder, mode: str, kills: int, chance: random.Random) -> None:
    durable: dict[int, int] = {}
    for _ in range(kills):
        told = kill_one(run, mode, chance)
        assert told.keys().isdisjoint(durable), "a number was given twice"
        durable |= told
        check(run, durable)
    assert durable, "no child came far enough to tell of anything"
    with Journal.open(run):
        pass
    check(run, durable)


def kill_one(run: RunFolder, mode: str, chance: random.Random) -> dict[int, int]:
    """Start a writer, kill it after some reports and a moment more; seq to batch of what it called durable."""
    with subprocess.Popen([sys.executable, CHILD, mode, run.path], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        heard = b"".join(child.stdout.readline() for _ in range(chance.randint(1, 6)))
        select.select([], [], [], chance.random() * 0.008)
        child.kill()
        heard += child.stdout.read()
    # The last line may be cut; the numbers before it are whole.
    lines = heard[: heard.rfind(b"\n") + 1].decode().splitlines()
    return {int(seq): int(batch) for seq, batch in (line.split() for line in lines) if seq != "0"}


def check(run: RunFolder, durable: dict[int, int]) -> None:
    assert run.owner() is None
    with JournalReader.open(run) as reader:
        assert reader.check() == []
        records = list(reader.read())
        summary = reader.summary()
    bodies = [msgspec.json.decode(record.body) for record in records]
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    batches = [(number, list(parts)) for number, parts in groupby(bodies, key=lambda body: body["batch"])]
    assert [number for number, _ in batches] == list(range(1, len(batches) + 1))
    for _, parts in batches:
        assert [part["part"] for part in parts] == list(range(parts[0]["parts"])), "half a batch"
    for seq, batch in durable.items():
        assert bodies[seq - 1]["batch"] == batch
    assert summary is not None and summary.steps == len(batches)
