"""The ladder as a picture: five rungs, each wider than the one below, filled where the run has been."""

from __future__ import annotations

from msgspec import Struct

from ..core import LADDER, PAUSE
from .line import Line, Piece, fit

NAMES = ("hint", "reminder", "throttle", "rollback", "ask/stop")
"""The rungs in one word each, from the mildest to the strongest: what there is room for of their names."""

WIDTH = 10
_FULL, _EMPTY = "█", "░"


class RungCount(Struct):
    """How often a level was used, and how it went."""

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
    """The rung of an intervention by its name; None for one of a plug-in."""
    return LADDER.index(kind) if kind in LADDER else len(LADDER) - 1 if kind == PAUSE else None


def empty_ladder() -> LadderCounts:
    return LadderCounts(tuple(RungCount() for _ in LADDER))


def draw_ladder(ladder: LadderCounts) -> list[Line]:
    """Five rows, the strongest on top."""
    return [_row(ladder, level) for level in reversed(range(len(LADDER)))]


def draw_ladder_row(ladder: LadderCounts) -> Line:
    """The ladder lying down, in one row."""
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
    told = (_told(rung), "" if rung.used else "dim")
    mark = ((" ◂", f"level{level}!"),) if level == ladder.last else ()
    return (name, drawn, told, *mark)


def _told(rung: RungCount) -> str:
    if not rung.used:
        return "–"
    worked = f" ✓{rung.worked}" if rung.worked else ""
    failed = f" ✗{rung.failed}" if rung.failed else ""
    return f"×{rung.used} {worked}{failed}"
