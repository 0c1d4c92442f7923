"""LimitMeter: compares a run's usage with its limits. An exceeded limit ends the run; a throttle makes it wait."""

from __future__ import annotations

import math

import msgspec
from msgspec import Struct

from ..core import Limits, SetLimits, Spend, from_json
from .usage_tracker import UsageTracker

MINUTE = 60.0

BUDGETS: tuple[tuple[str, str, str], ...] = (
    ("max_steps", "calls", "tool calls"),
    ("max_tokens", "tokens", "tokens"),
    ("max_cost_usd", "cost_usd", "US dollars"),
    ("max_file_operations", "file_operations", "file operations"),
    ("max_execution_time", "execution_time", "seconds"),
    ("max_memory_mb", "memory_mb", "MB of memory"),
)
"""Each limit, its counter, and its unit in words."""


HEADROOM = 1.5
"""A throttled process may use this multiple of its peak usage; with less it would be killed, not slowed down."""

NOT_A_RATE = frozenset(("max_memory_mb", "max_steps", "max_cost_usd"))
"""Memory is enforced by the process package; steps and dollars are only budgets."""


class LimitExceeded(Struct, frozen=True):
    """A limit that was reached, how much was used and allowed, and the source of the limit."""

    limit: str
    used: float
    allowed: float
    unit: str
    throttled: bool = False
    default: bool = False

    @property
    def ends(self) -> bool:
        """Whether it ends the run; a default limit only holds the run for a person."""
        return not self.throttled and not self.default

    def __str__(self) -> str:
        if self.default:
            return f"the run has spent ${self.used:,.2f} and has no limit of its own (limits.{self.limit})"
        who = "the throttled limit" if self.throttled else "the limit"
        used = round(self.used, 1) if self.unit == "seconds" else self.used
        return f"{who} {self.limit} is reached: {used:,.6g} of {self.allowed:,.6g} {self.unit}"


class RateLimitWait(Struct, frozen=True):
    """A rate limit that was reached, and how long until there is room again; infinite if never."""

    seconds: float
    reason: str


NO_LIMITS = Limits()


class LimitMeterState(Struct):
    """The state of the meter: the run's own limits, and those of a throttle."""

    own: Limits
    budget: Limits = NO_LIMITS
    rates: Limits = NO_LIMITS
    ceiling: float | None = None


class LimitMeter:
    """The limits of one run.

    The run's own limits and a throttle's budget apply to the whole run. A throttle's rates apply per window: calls
    wait until the window has room.
    """

    def __init__(self, configured: Limits, window: float = 60.0, ceiling: float | None = None) -> None:
        self.window = window
        self._ceiling = ceiling
        self._s = LimitMeterState(configured, ceiling=ceiling)
        self._merged, self._merged_from = configured, (configured, NO_LIMITS, NO_LIMITS)

    @property
    def windowed(self) -> tuple[str, ...]:
        """The limits that apply per window."""
        rates = self._s.rates
        return tuple(name for name in rates.__struct_fields__ if getattr(rates, name) is not None)

    @property
    def limits(self) -> Limits:
        """The effective limits, as shown to the agent."""
        parts = (self._s.own, self._s.budget, self._s.rates)
        if any(one is not other for one, other in zip(parts, self._merged_from, strict=True)):
            # Cached: read at every step, but rarely changed.
            self._merged, self._merged_from = parts[0].smaller(parts[1]).smaller(parts[2]), parts
        return self._merged

    def tighten(self, limits: Limits) -> None:
        """Reduce the run's own limits permanently, except those that only come from a throttle."""
        throttled = {
            name for name in limits.__struct_fields__ if getattr(limits, name) == getattr(self._s.budget, name)
        }
        self._s.own = self._s.own.smaller(limits.replace(**dict.fromkeys(throttled.union(self.windowed))))

    def throttle(self, order: SetLimits, spend: Spend) -> None:
        """Apply tighter limits on top of the run's own, until `loosen`.

        A budget is at least what was already spent plus half of what was left: the run is slowed, not ended.
        """
        names = order.limits.__struct_fields__
        rates = order.limits.replace(**{name: None for name in names if name not in order.windowed})
        budget = order.limits.replace(**dict.fromkeys(order.windowed))
        floors: dict[str, float | None] = {}
        for limit, counted, _ in BUDGETS:
            wanted, allowed, used = getattr(budget, limit), getattr(self._s.own, limit), getattr(spend, counted)
            if wanted is not None and allowed is not None and wanted < used + (allowed - used) / 2:
                half = used + (allowed - used) / 2
                floors[limit] = half if isinstance(allowed, float) else int(half)
        self._s.budget = self._s.budget.smaller(budget.replace(**floors))
        self._s.rates = self._s.rates.smaller(rates)

    def loosen(self) -> None:
        """Lift the throttle: the problem is over, and the run's own limits apply."""
        self._s.budget, self._s.rates = NO_LIMITS, NO_LIMITS

    def raise_ceiling(self, spend: Spend) -> None:
        """A person continued a run past the default ceiling: raise it by the same amount again."""
        while self._ceiling and self._s.ceiling is not None and spend.cost_usd > self._s.ceiling:
            self._s.ceiling += self._ceiling

    def for_processes(self, used_mb: float) -> Limits:
        """The limits of the process tree: a throttle leaves room above its usage, the run's own limits apply fully."""
        limits, configured = self.limits, self._s.own.max_memory_mb
        if limits.max_memory_mb is None or limits.max_memory_mb == configured:
            return limits
        room = max(limits.max_memory_mb, math.ceil(used_mb * HEADROOM))
        return limits.replace(max_memory_mb=room if configured is None else min(room, configured))

    def over(self, spend: Spend) -> LimitExceeded | None:
        """The first exceeded limit; throttled memory does not count, as the process tree enforces it."""
        for limit, counted, unit in BUDGETS:
            own, throttled = getattr(self._s.own, limit), getattr(self._s.budget, limit)
            if limit == "max_memory_mb":
                throttled = None
            allowed = min((value for value in (own, throttled) if value is not None), default=None)
            if allowed is None:
                continue
            used = getattr(spend, counted)
            if used >= allowed if limit == "max_steps" else used > allowed:
                return LimitExceeded(limit, used, allowed, unit, throttled=own is None or allowed < own)
        if self._s.ceiling is not None and spend.cost_usd > self._s.ceiling:
            return LimitExceeded("default_max_cost_usd", spend.cost_usd, self._s.ceiling, "US dollars", default=True)
        return None

    def wait(self, ledger: UsageTracker, now: float) -> RateLimitWait | None:
        """How long the next call has to wait; None if it need not."""
        per_minute = self.limits.max_calls_per_minute
        if per_minute == 0:
            return RateLimitWait(math.inf, "max_calls_per_minute is 0: no call is allowed")
        if per_minute is not None:
            calls, oldest = ledger.calls_since(now - MINUTE)
            if calls >= per_minute and oldest is not None:
                left = min(MINUTE, max(0.0, oldest + MINUTE - now))
                return RateLimitWait(left, f"{calls} calls in the last minute, {per_minute} allowed")
        if not self.windowed:
            return None
        use = ledger.growth(now).last_window
        for limit, counted, unit in BUDGETS:
            allowed = getattr(self._s.rates, limit)
            if allowed is None or limit in NOT_A_RATE:
                continue
            used = getattr(use, counted)
            if used >= allowed:
                why = f"throttled: {used:,.6g} {unit} in the last {self.window:g} s, {allowed:,.6g} allowed"
                return RateLimitWait(ledger.room_after(counted, allowed, now), why)
        return None

    def save(self) -> bytes:
        return msgspec.json.encode(self._s)

    def restore(self, state: bytes) -> None:
        self._s = from_json(state, LimitMeterState)
