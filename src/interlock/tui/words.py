"""Formatting of numbers and times, sparklines, gauges, and the ladder of interventions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from msgspec import Struct

from ..core import LADDER, PAUSE
from .line import Line, Piece, fit

BARS = "▁▂▃▄▅▆▇"
"""Without the full block: rows would touch each other."""
FULL, EMPTY = "━", "─"


def clock_time(when: float | None) -> str:
    """The time of day."""
    return datetime.fromtimestamp(when).strftime("%H:%M:%S") if when else "        "


def date_time(when: float | None) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M:%S") if when else ""


def span(seconds: float) -> str:
    """A duration in at most four characters."""
    seconds = max(0.0, seconds)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"


def money(amount: float) -> str:
    if amount >= 1000:
        return f"${amount:,.0f}"
    return f"${amount:.2f}" if amount >= 0.005 or amount == 0 else "<1¢"


def spend(amount: float, budget: float | None, unpriced_tokens: int = 0) -> str:
    """Dollars spent and the budget; with a plus if some tokens have no price, unknown if none has one."""
    known = "unknown" if unpriced_tokens and not amount else money(amount) + ("+" if unpriced_tokens else "")
    return known if budget is None else f"{known}/{budget:g}"


def total(amount: float, unpriced_tokens: int) -> str:
    """What many runs spent: the known part, with a plus if there is more."""
    return money(amount) + ("+" if unpriced_tokens else "")


def count(number: float) -> str:
    """A number in at most five characters."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")):
        if number >= size:
            value = number / (1000 if unit == "k" else size)
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def reason_first(problem: str) -> str:
    """An error with its message before its path: rows are short."""
    where, colon, what = problem.partition(": ")
    return f"{what} ({where})" if colon and where.startswith("/") else problem


def spark(values: Sequence[float], width: int) -> str:
    """A row of bars, newest on the right."""
    shown = downsample(values, width)
    if not shown:
        return " " * width
    low, high = min(0.0, *shown), max(shown)
    reach = (high - low) or 1.0
    bars = "".join(BARS[min(6, int((value - low) / reach * 6.999))] for value in shown)
    return bars.rjust(width)


def downsample(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values, each the maximum of its share."""
    if len(values) <= width:
        return list(values)
    edges = [len(values) * index // width for index in range(width + 1)]
    return [max(values[a:b]) for a, b in pairwise(edges)]


def gauge(share: float, width: int) -> tuple[str, str]:
    """A bar in two parts: used and left."""
    used = round(max(0.0, min(1.0, share)) * width)
    if share > 0 and used == 0:
        used = 1
    return FULL * used, EMPTY * (width - used)


NAMES = ("hint", "reminder", "throttle", "rollback", "ask/stop")
"""Short names of the rungs, from the mildest to the strongest."""

WIDTH = 10
_FULL, _EMPTY = "█", "░"


class RungCount(Struct):
    """How often a level was used, and with what outcome."""

    used: int = 0
    worked: int = 0
    failed: int = 0


class LadderCounts(Struct, frozen=True):
    """The run's interventions by level; `last` is the level of the newest one."""

    rungs: tuple[RungCount, ...]
    last: int | None = None

    @property
    def used(self) -> int:
        return sum(rung.used for rung in self.rungs)


def level_of(kind: str) -> int | None:
    """The rung of an intervention by its name; None for a plug-in's."""
    return LADDER.index(kind) if kind in LADDER else len(LADDER) - 1 if kind == PAUSE else None


def empty_ladder() -> LadderCounts:
    return LadderCounts(tuple(RungCount() for _ in LADDER))


def draw_ladder(ladder: LadderCounts) -> list[Line]:
    """Five rows, the strongest on top."""
    return [_row(ladder, level) for level in reversed(range(len(LADDER)))]


def draw_ladder_row(ladder: LadderCounts) -> Line:
    """The ladder in one row."""
    pieces: list[Piece] = []
    for level, (name, rung) in enumerate(zip(NAMES, ladder.rungs, strict=True)):
        if pieces:
            pieces.append((" ─ ", "faint"))
        bold = "!" if level == ladder.last else ""
        if rung.used:
            pieces.append((f"{level + 1} {name} ×{rung.used}", f"level{level}{bold}"))
        else:
            pieces.append((f"{level + 1} {name}", "dim"))
    return tuple(pieces)


def _row(ladder: LadderCounts, level: int) -> Line:
    rung, bar = ladder.rungs[level], (level + 1) * WIDTH // len(LADDER)
    style = f"level{level}" if rung.used else "faint"
    name = (fit(f"{level + 1} {NAMES[level]}", 12), f"level{level}!" if rung.used else "dim")
    drawn = (fit((_FULL if rung.used else _EMPTY) * bar, WIDTH + 1), style)
    use = (_use(rung), "" if rung.used else "dim")
    mark = ((" ◂", f"level{level}!"),) if level == ladder.last else ()
    return (name, drawn, use, *mark)


def _use(rung: RungCount) -> str:
    if not rung.used:
        return "–"
    worked = f" ✓{rung.worked}" if rung.worked else ""
    failed = f" ✗{rung.failed}" if rung.failed else ""
    return f"×{rung.used} {worked}{failed}"
