"""Many worlds, no violation; and the checker is not blind."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from . import mutants, time_mutants
from .checker import check
from .mutant import MUTANTS
from .simulation import World

SEEDS = 1_500
PARTS = 6
"""The seeds of `make test` in parts, so that the workers share them."""

TORTURE_SEEDS = 1_000_000
MUTANT_SEEDS = 1_500


def find_bad(seeds: range) -> list[tuple[int, list[str]]]:
    """The seeds with a violation. Each one replays: python -m tests.control.simulation SEED."""
    return [(seed, found) for seed in seeds if (found := check(World(seed).run()))]


@pytest.mark.parametrize("part", range(PARTS))
def test_no_world_has_a_violation(part: int) -> None:
    assert find_bad(range(part, SEEDS, PARTS)) == []


def test_a_crash_at_every_boundary_of_every_command_breaks_nothing() -> None:
    bad = []
    for seed in range(4):
        boundaries = World(seed, calm=True).run().boundaries
        assert boundaries > 50
        for place in range(boundaries):
            world = World(seed, calm=True, crash_at=place).run()
            assert world.restarts == 1
            bad += [(seed, place, found) for found in check(world)]
    assert bad == []


def test_there_are_mutants_enough() -> None:
    assert len(MUTANTS) >= 10 and mutants and time_mutants


@pytest.mark.parametrize("name", MUTANTS)
def test_the_checker_catches(name: str) -> None:
    with MUTANTS[name]():
        assert any(check(World(seed).run()) for seed in range(MUTANT_SEEDS)), f"{name} was not caught"


def test_a_seed_replays_exactly_in_another_process() -> None:
    def take_digest(hash_seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.control.simulation", "7"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        )
        return hashlib.sha256(done.stdout).hexdigest()

    assert take_digest("1") == take_digest("2")


def test_the_worlds_are_rough_enough() -> None:
    worlds = [World(seed).run() for seed in range(60)]
    assert sum(world.restarts for world in worlds) > 60
    outcomes = {answer.outcome for world in worlds for answer in world.answers.values()}
    codes = {answer.code for world in worlds for answer in world.answers.values()}
    assert outcomes == {"success", "failure", "unknown"}
    assert {None, "invalid_state", "not_found"} <= codes
    assert any(told.code == "duplicate" for world in worlds for told in world.told)
    assert any(b'"what":"expired"' in bytes(r.body) for world in worlds for r in world.log if r.kind == "audit")


@pytest.mark.torture
def test_a_million_worlds_have_no_violation() -> None:
    chunk = 2_000
    ranges = [range(start, start + chunk) for start in range(SEEDS, SEEDS + TORTURE_SEEDS, chunk)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        bad = [found for part in pool.map(find_bad, ranges) for found in part]
    assert bad == []
