"""Resource throttling: tightens each limit by the growth of its usage and tells the agent; the runtime enforces it."""

from __future__ import annotations

import math

from msgspec.structs import replace

from ..config import ReductionFactors, ResourceThrottling
from ..core import Delay, Directive, Growth, Inject, Issue, Limits, RunState, SetLimits
from .message import FIRST, Attempt, guidance, one_line
from .outcome import Continue

NAME = "resource_throttling"

GROWTH_OF = {
    "max_file_operations": "file_operations",
    "max_memory_mb": "memory_mb",
    "max_tokens": "tokens",
    "max_execution_time": "execution_time",
}
"""The limits that throttling changes, and the usage whose growth determines each."""

MODERATE, HIGH, AGGRESSIVE = 1.2, 1.5, 2.0
"""Growth strictly above these uses the factor of the same name."""

LEVELS = frozenset(("max_memory_mb",))
"""Limits on concurrent usage, which accumulate neither over a run nor over a window."""

LONGEST_DELAY_S = 30.0
"""Longer waits look like a hang to an agent's own timeouts."""

STEADY_DELAY_S = 5.0
"""Without growth no limit shrinks; the next call is delayed anyway, so that the throttling has an effect."""

EFFICIENCY = (
    "Do only what the task needs, in smaller batches; reuse results instead of fetching them again; "
    "release what you no longer need."
)


def resource_throttling(
    issue: Issue, state: RunState, config: ResourceThrottling, now: float, attempt: Attempt = FIRST
) -> Continue:
    """Tighten the limits. Unknown growth counts as 1.0; unknown limits stay."""
    limits, windowed, smallest = throttled_limits(state, config.reduction_factors)
    window = config.metrics_window_seconds
    notice = guidance(
        "\n".join(filter(None, (attempt.news(), notice_text(issue, state.limits, limits, windowed, window)))),
        NAME,
        issue,
        state,
        now,
        limits=limits,
    )
    directives: list[Directive] = [
        SetLimits(limits, reason=one_line(issue.description or issue.type), windowed=windowed, window_s=window),
        Inject(notice),
    ]
    if smallest < 1 or not grew(state.growth):
        seconds = min(LONGEST_DELAY_S, window * (1 - smallest)) if smallest < 1 else STEADY_DELAY_S
        directives.append(Delay(seconds, reason=f"throttled: {issue.type}"))
    return Continue(
        state=replace(state, limits=limits, windowed=windowed, throttled=True),
        log="limits tightened" if limits != state.limits else "calls slowed down",
        directives=tuple(directives),
    )


def factor(growth: float, factors: ReductionFactors, *, throttled_before: bool) -> float:
    """The factor for a limit, given the growth of usage from the previous window to the last one."""
    if growth > AGGRESSIVE:
        return factors.severe if throttled_before else factors.aggressive
    if growth > HIGH:
        return factors.high
    return factors.moderate if growth > MODERATE else 1.0


def throttled_limits(state: RunState, factors: ReductionFactors) -> tuple[Limits, tuple[str, ...], float]:
    """The new limits, the names of those that count per window, and the smallest of their factors."""
    changes: dict[str, float | None] = {}
    windowed = list(state.windowed)
    smallest = 1.0
    for name, use in GROWTH_OF.items():
        before = getattr(state.limits, name)
        if before is None:
            start = getattr(state.growth.last_window, use)
            if start <= 0:
                continue
            if name not in LEVELS:
                windowed.append(name)
        else:
            start = before
        share = factor(getattr(state.growth, use), factors, throttled_before=state.throttled)
        changes[name] = _tightened(name, start, share, set_before=before is not None)
        if name in windowed:
            smallest = min(smallest, share)
    if grew(state.growth) and state.limits.batch_size is not None:
        changes["batch_size"] = min(state.limits.batch_size, max(1, state.limits.batch_size // 2))
    return state.limits.replace(**changes), tuple(dict.fromkeys(windowed)), smallest


def grew(growth: Growth) -> bool:
    """Whether any usage grew enough to tighten its limit."""
    return any(getattr(growth, use) > MODERATE for use in GROWTH_OF.values())


def notice_text(issue: Issue, before: Limits, after: Limits, windowed: tuple[str, ...], window_s: float) -> str:
    """The message for the agent: every limit, what changed, and how to stay within it."""
    done = "Your limits are tightened" if before != after else "Your limits stay as they are, and your calls slow down"
    lines = [f"{done} because of this: {one_line(issue.description or issue.type)}"]
    for name in Limits.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if new is None and name not in GROWTH_OF:
            continue
        said = "no limit" if new is None else _number(new)
        scope = f" per {window_s:g} s" if name in windowed else ""
        change = f" (was {_number(old)})" if old is not None and old != new else ""
        lines.append(f"- {name}: {said}{scope}{change}")
    return "\n".join([*lines, "They are enforced: calls beyond them wait or are blocked.", EFFICIENCY])


def _tightened(name: str, start: float, share: float, *, set_before: bool) -> float:
    # The tiny addition keeps 100 x 0.29 from becoming 28.
    exact = start * share
    value = exact if name == "max_execution_time" else math.floor(exact + 1e-9)
    floored = max(1, value)
    # A limit that was already below the floor is never loosened.
    return min(floored, start) if set_before else floored


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
