"""An owner that is killed loses nothing durable, and its successor decides as it would have."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.config import Config
from interlock.core import Context, ManualClock
from interlock.journal import JournalEntry, JournalReader, Store
from interlock.journal_records import StepRecord
from interlock.runtime import DecisionPipeline, Supervisor
from interlock.runtime.replay import replay
from tests.journal.memory import MemoryJournal
from tests.runtime.scripted import PATIENT, START, TASK, decisions, feed, open_run, steps

COUNT = 60


def reference(root: Path, seed: int) -> list[tuple[str, bytes]]:
    """The decisions of a run that nobody kills."""
    clock = ManualClock(START)
    supervisor = open_run(root, clock)
    feed(supervisor, clock, steps(seed, COUNT))
    folder = supervisor.run.folder
    supervisor.close()
    return decisions(folder)


def kill_and_succeed(root: Path, seed: int, kill_after: int) -> list[tuple[str, bytes]]:
    """Start an owner, kill it after so many steps, and let a successor go on to the end."""
    owner = subprocess.Popen(
        [sys.executable, "-m", "tests.runtime.owner", str(root), str(seed), str(COUNT)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    for _ in range(1 + kill_after):
        owner.stdout.readline()
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    owner.stdin.close()
    (folder,) = Store(root).folders()
    with JournalReader.open(folder) as reader:
        assert reader.check() == []
        acted = sum(1 for _ in reader.read(kinds=frozenset(("applied",))))
        durable = sum(1 for _ in reader.read(kinds=frozenset(("intervention",))))
        assert durable > 0 or acted == 0, "something took effect that the journal does not know"
        seen = [
            msgspec.json.decode(r.body, type=StepRecord).step.index for r in reader.read(kinds=frozenset(("step",)))
        ]
        assert seen == list(range(len(seen)))
        # The summary may be of the step that was killed: a clock that continues is not before it.
        summary = reader.summary()
    script = steps(seed, COUNT)
    clock = ManualClock(max(script[len(seen) - 1].time if seen else START, summary.updated if summary else START))
    successor = Supervisor.reopen(folder, clock=clock, config=PATIENT)
    if not successor.run.ended:
        feed(successor, clock, script[len(seen) :])
    successor.close()
    return decisions(folder)


def check_kills(tmp_path: Path, kills: int, first_seed: int) -> None:
    chance = random.Random(first_seed)
    for number in range(kills):
        seed = first_seed + number // 5
        if number % 5 == 0:
            expected = reference(tmp_path / f"reference-{number}", seed)
        got = kill_and_succeed(tmp_path / f"killed-{number}", seed, chance.randint(0, COUNT))
        assert got == expected, f"seed {seed}"


@pytest.mark.parametrize("first_seed", [100, 200])
def test_a_killed_owner_is_succeeded_with_the_same_decisions(tmp_path, first_seed):
    check_kills(tmp_path, 10, first_seed)


@pytest.mark.torture
@pytest.mark.parametrize("first_seed", range(1000, 11_000, 1000))
def test_a_killed_owner_is_succeeded_with_the_same_decisions_a_thousand_times(tmp_path, first_seed):
    check_kills(tmp_path, 100, first_seed)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), cut=st.integers(0, 80))
def test_a_watch_replayed_at_any_point_goes_on_as_if_nothing_had_happened(seed, cut):
    script = steps(seed, 80)
    whole, first, second = (DecisionPipeline("r", Config(), Context(original_prompt=TASK)) for _ in range(3))
    expected = [answers(whole, step) for step in script]
    journal = MemoryJournal("r", ManualClock(START))
    got = []
    for step in script[:cut]:
        journal.append([JournalEntry("step", StepRecord(step, first.review(step)))])
        got.append(answers(first, step))
    replay(second, journal.reader())
    got += [answers(second, step) for step in script[cut:]]
    assert got == expected


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), cut=st.integers(0, 80))
def test_a_watch_saved_and_restored_at_any_point_goes_on_as_if_nothing_had_happened(seed, cut):
    script = steps(seed, 80)
    whole, first, second = (DecisionPipeline("r", Config(), Context(original_prompt=TASK)) for _ in range(3))
    expected = [answers(whole, step) for step in script]
    got = [answers(first, step) for step in script[:cut]]
    second.restore(first.save())
    got += [answers(second, step) for step in script[cut:]]
    assert got == expected


def answers(watch: DecisionPipeline, step):
    watch.count(step)
    judgement = watch.observe(step, watch.review(step))
    return judgement.issues, judgement.judged, tuple(ruling.intervention for ruling in judgement.rulings)
