"""Parking: whether and when a run stopped by a usage limit may resume by itself. Pure; clocks are passed in."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct

from ..config import Resume

FIRST_WAIT_S = 300.0
"""How long to wait if the reset time is unknown; doubled each time in a row, up to MOST_WAIT_S."""

MOST_WAIT_S = 3600.0

SPACING_S = 20.0
"""Minimum time between two runs that resume on the same quota."""


class ParkClock(Struct, frozen=True):
    """The current time: the wall clock, which may jump; the seconds since boot, which do not; and the boot id."""

    wall: float
    since_boot: float
    boot: str


class Parked(Struct, frozen=True, kw_only=True):
    """One park, as stored in the run's folder: everything needed to resume the run without its owner.

    `delay` counts from `at`. `until` is the end of the window, in seconds since the epoch. `held_by` is why the run
    waits for a person instead. `session` is the client's session, `status` its exit status, None while it is alive.
    """

    number: int
    reason: str
    source: str
    quota: str
    at: ParkClock
    delay: float
    until: float | None = None
    held_by: str = ""
    session: str = ""
    status: int | None = None

    @property
    def wake(self) -> float | None:
        """When the run resumes, by the wall clock at parking; None if it waits for a person."""
        return None if self.held_by else self.at.wall + self.delay


class Due(Struct, frozen=True):
    """The run is due: resume it now."""


class NotYet(Struct, frozen=True):
    """Check again after this many seconds."""

    seconds: float


class NeedsPerson(Struct, frozen=True):
    """The run may no longer resume by itself."""

    why: str


def park(
    number: int,
    reason: str,
    source: str,
    *,
    resets_in: float | None,
    passes: bool,
    quota: str,
    rules: Resume,
    now: ParkClock,
    started: float,
    cost_usd: float,
    jitter: float,
    in_a_row: int = 1,
) -> Parked:
    """A park under the configured rules. `jitter` is from 0 to 1, `in_a_row` counts unknown resets."""
    wait = resets_in if resets_in is not None else min(MOST_WAIT_S, FIRST_WAIT_S * 2 ** (in_a_row - 1))
    delay = wait + jitter * rules.jitter_s
    until = window_end(rules.until, started) if rules.until is not None else None
    held_by = ""
    if not passes:
        held_by = "waiting does not resolve this limit"
    elif number > rules.max_parks:
        held_by = f"the run has already been parked {rules.max_parks} times (unattended.resume.max_parks)"
    elif rules.max_cost_usd is not None and cost_usd >= rules.max_cost_usd:
        held_by = f"the run has spent ${cost_usd:,.2f} (unattended.resume.max_cost_usd {rules.max_cost_usd:g})"
    elif until is not None and now.wall + delay > until:
        held_by = f"the limit resets after {rules.until} (unattended.resume.until)"
    return Parked(
        number=number, reason=reason, source=source, quota=quota, at=now, delay=delay, until=until, held_by=held_by
    )


def window_end(until: str, started: float) -> float:
    """The first time after the run's start at which a clock shows `until`."""
    begun = datetime.fromtimestamp(started)
    hour, minute = map(int, until.split(":"))
    end = begun.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (end if end > begun else end + timedelta(days=1)).timestamp()


def decide_wake(parked: Parked, now: ParkClock) -> Due | NotYet | NeedsPerson:
    """Whether a parked run is due.

    Within the same boot, the seconds since boot count, because the wall clock may have been set. After a
    reboot the wall clock counts, unless it is before the time of parking: then the whole delay starts again.
    The window is closed as soon as either clock says so: a run that waits for a person is safe, a run that spends
    money at the wrong time is not.
    """
    if parked.held_by:
        return NeedsPerson(parked.held_by)
    if now.boot == parked.at.boot:
        passed = now.since_boot - parked.at.since_boot
    else:
        passed = max(now.wall - parked.at.wall, now.since_boot)
    if parked.until is not None and max(now.wall, parked.at.wall + passed) > parked.until:
        return NeedsPerson("the window for resuming has passed (unattended.resume.until)")
    left = parked.delay - passed
    return Due() if left <= 0 else NotYet(left)


class QuotaUse(Struct, frozen=True):
    """Shared by runs on one quota: which run resumed last and when, and until when the limit applies."""

    run_id: str = ""
    woke: ParkClock | None = None
    limited: ParkClock | None = None
    limited_for: float = 0.0


def wait_for_turn(use: QuotaUse, run_id: str, now: ParkClock) -> float:
    """Seconds that a due run still has to wait for others on its quota; 0 if it is its turn."""
    left = 0.0
    if use.woke is not None and use.run_id != run_id and use.woke.boot == now.boot:
        left = max(left, use.woke.since_boot + SPACING_S - now.since_boot)
    if use.limited is not None and use.limited.boot == now.boot:
        left = max(left, use.limited.since_boot + use.limited_for - now.since_boot)
    return left
