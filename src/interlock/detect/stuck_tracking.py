"""Tracks whether what an agent is stuck on happened again in this step, regardless of alarm thresholds."""

from __future__ import annotations

from msgspec.structs import replace

from ..core import Sign, Stuck
from .agent_history import AgentHistory
from .check_commands import same_check
from .completed_call import CompletedCall

QUIET = 10
"""Turns without an opportunity to recur that together count as one."""
MARKS = 12
"""Failures or outcomes remembered per `Stuck`."""

Followed = tuple[Stuck, Sign | None]


def failure_of(
    turn: CompletedCall, marks: tuple[int, ...] = (), *, names: tuple[int, ...] = (), any_target: bool = False
) -> Stuck:
    """The `Stuck` of a failing call; `marks` are failures that alternate with it, `names` the tests that failed."""
    targets = () if any_target else turn.targets
    every = tuple(dict.fromkeys((*marks, turn.failure)))[-MARKS:]
    return Stuck(
        kind="failure",
        key=f"{turn.program or turn.tool} {' '.join(targets)}:{min(every):x}",
        tool=turn.tool,
        program=turn.program,
        targets=targets,
        marks=every,
        names=tuple(dict.fromkeys((*names, *turn.failing))),
        failures=turn.failures,
        passes=turn.passes,
        place=turn.place,
        any_target=any_target,
    )


def repeat_of(turn: CompletedCall) -> Stuck:
    """The `Stuck` of a call that repeatedly has the same result."""
    return Stuck(
        kind="repeat",
        key=f"{turn.program or turn.tool} {' '.join(turn.targets)}:{turn.key:x}",
        tool=turn.tool,
        program=turn.program,
        targets=turn.targets,
        marks=(repeat_mark(turn),),
        call=turn.key,
    )


def repeat_mark(turn: CompletedCall) -> int:
    """A fingerprint of a call together with its result."""
    return turn.key * 31 + turn.outcome & 0xFFFFFFFFFFFF


def follow(stuck: Stuck, history: AgentHistory, *, shown: bool, spoke: bool) -> Followed:
    """The updated `stuck`, and the sign that this step gives; None if it gives none.

    `shown`: see `StatefulDetector.shows`. `spoke`: the step is a message from the agent without a call.
    """
    turn = history.turn
    if turn is not None and turn.refused and repeat_mark(turn) not in stuck.marks:
        return stuck, None  # what Interlock refuses shows nothing about the agent's problem
    if stuck.kind == "pattern":
        return _pattern(stuck, shown=shown, ends=turn is not None or spoke)
    if turn is None:
        return stuck, None
    if not stuck.acted and _acts(turn, stuck):
        stuck = replace(stuck, acted=True)
    sign = (_failure if stuck.kind == "failure" else _repeat)(stuck, turn)
    if sign in ("better", "solved") and not stuck.acted:
        sign = "moved"
    if sign is not None:
        return _learnt(stuck, turn, sign), sign
    stuck = replace(stuck, turns=stuck.turns + 1, gained=stuck.gained or turn.gain)
    if stuck.turns < QUIET:
        return stuck, None
    # Ignoring a failing check does not fix it; anything else counts as resolved if the run progresses without it.
    left = stuck.gained and not (stuck.kind == "failure" and not stuck.any_target)
    return replace(stuck, turns=0, gained=False), "clear" if left else None


def _acts(turn: CompletedCall, stuck: Stuck) -> bool:
    """Whether a turn did something that may have ended the problem: it wrote, or ran something else that worked."""
    if same_check(turn.program, turn.targets, stuck.program, stuck.targets):
        return False
    return turn.wrote or (turn.effect == "run" and not turn.failed and not turn.waiting)


def _failure(stuck: Stuck, turn: CompletedCall) -> Sign | None:
    # The same words about a test that did not fail before are another failure.
    new = bool(turn.failing and stuck.names) and set(turn.failing).isdisjoint(stuck.names)
    again = turn.failed and turn.failure in stuck.marks and not new
    if not again and not same_check(turn.program, turn.targets, stuck.program, stuck.targets):
        return None
    if turn.timed_out:
        return "changed"
    if not turn.failed:
        return "clear" if stuck.any_target or turn.wrote else "solved"
    if got_better(turn, stuck.failures, stuck.passes):
        return "better"
    if again:
        return "again"
    if new:
        return "better"
    return "changed"


def got_better(turn: CompletedCall, failures: int | None, passes: int | None) -> bool:
    """Whether a check reports fewer failures than ever, or more passes with as few failures."""
    if turn.failures is None or failures is None:
        return False
    return turn.failures < failures or (
        turn.failures == failures and turn.passes is not None and passes is not None and turn.passes > passes
    )


def _repeat(stuck: Stuck, turn: CompletedCall) -> Sign | None:
    if repeat_mark(turn) in stuck.marks:
        # A poll that pauses between is what the hint asked for.
        return "clear" if turn.waiting and stuck.most is None else "again"
    if not same_check(turn.program, turn.targets, stuck.program, stuck.targets):
        return None
    return "better" if turn.key == stuck.call else "clear"


def _learnt(stuck: Stuck, turn: CompletedCall, sign: Sign) -> Stuck:
    """`stuck`, updated with what this turn showed about it."""
    stuck = replace(stuck, turns=0, gained=False)
    if stuck.kind != "failure" or not turn.failed:
        return stuck
    counts = [count for count in (stuck.failures, turn.failures) if count is not None]
    return replace(
        stuck,
        marks=tuple(dict.fromkeys((*stuck.marks, turn.failure)))[-MARKS:],
        names=turn.failing if sign == "better" and turn.failing else stuck.names,
        failures=min(counts, default=None),
        passes=max((count for count in (stuck.passes, turn.passes) if count is not None), default=None),
        place=turn.place or stuck.place,
    )


def _pattern(stuck: Stuck, *, shown: bool, ends: bool) -> Followed:
    """Decide every few turns, by how many of them showed the pattern."""
    if shown and stuck.needed == 1:
        return replace(stuck, turns=0, bad=0), "again"
    bad, turns = stuck.bad + shown, stuck.turns + ends
    if turns < stuck.every:
        return replace(stuck, turns=turns, bad=bad) if (turns, bad) != (stuck.turns, stuck.bad) else stuck, None
    return replace(stuck, turns=0, bad=0), "again" if bad >= stuck.needed else "clear"
