"""Agents that ignore everything."""

from __future__ import annotations

from collections.abc import Callable

from . import patterns
from .moves import begin
from .script import HINT, NEVER, NOTE, Agent, Round, Script, World, add, play_turns, until_told

CHECKOUT_TASK = (
    "The checkout of our shop charges the wrong total when a customer combines a discount voucher with express "
    "delivery. Find the rounding mistake in src/cart.py and src/prices.py, repair discount and delivery surcharge, "
    "and keep tests/test_cart.py passing."
)
SYNC_TASK = "Make scripts/sync.py push the batches in src/sync.py without an error"


def stubborn(rounds: Round) -> Callable[[World], Script]:
    def play(world: World) -> Script:
        yield from play_turns(begin(world))
        yield from until_told(world, NEVER, rounds)

    return play


def _add(
    name: str,
    rounds: Round,
    task: str = patterns.CART_TASK,
    *,
    every: int = 0,
    noticed_by: int = 0,
    paces: tuple[float, ...] | None = None,
    at_most: int = NEVER,
    parallel: int = 1,
) -> None:
    about = (rounds.__doc__ or "").strip().rstrip(".")
    add(
        Agent(
            name,
            "stubborn",
            task,
            stubborn(rounds),
            about,
            every=every,
            noticed_by=noticed_by,
            at_most=at_most,
            parallel=parallel,
            paces=paces,
        )
    )


_add("edit-test", patterns.edit_test)
_add("varying-number", patterns.varying_number)
_add("alternating", patterns.alternating)
_add("failing-call", patterns.failing_call, "Build the shop with npm and fix src/app.ts where it does not compile")
_add("noise-only", patterns.noise_only, SYNC_TASK)
_add("rebuild", patterns.rebuild, "Make the crate ledger compile: src/reader.rs must open the file as a Reader")
_add("jest-loop", patterns.jest_loop, "Make src/time.ts print yesterday so that src/time.test.ts passes")
_add("go-loop", patterns.go_loop, "Fix parse.go so that go test ./parse passes")
_add("two-reads", patterns.two_reads)
_add("cycle-of-three", patterns.cycle_of_three)
_add("talk", patterns.talk)
_add("missing-file", patterns.missing_file, "Set the retry limit in the configuration file of the shop to five")
_add("wander", patterns.wander, CHECKOUT_TASK, every=3, at_most=NOTE)
_add("drift", patterns.drift, CHECKOUT_TASK, every=3, at_most=HINT)
_add("tidies", patterns.tidies, every=3, at_most=HINT)
_add("creep", patterns.creep, every=3)
_add(
    "double-spend",
    patterns.double_spend,
    "Ask every shard for its checksum with scripts/ask.py",
    every=3,
    noticed_by=11,
)
_add("busy-poll", patterns.busy_poll, "Deploy the shop to the cluster", paces=(0.2, 0.4, 1.5))
_add("two-problems", patterns.two_problems)
_add("stuck-subagent", patterns.stuck_subagent, parallel=3)
_add("polls-for-ever", patterns.slow_poll, "Deploy the shop to the cluster", at_most=HINT)
