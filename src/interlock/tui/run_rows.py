"""A run in one row of the list of runs: as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..report import RunRow
from .line import Line, Piece, fit, flat
from .palette import status_sign
from .words import count, spark, span, spend


class Column(Struct, frozen=True):
    """A column: its heading, its width, and from how wide a screen it is shown."""

    name: str
    width: int
    draw: Callable[[RunRow, int, float], Piece]
    since: int = 0
    right: bool = False
    wide: int = 0
    wide_since: int = 999

    def at(self, screen: int) -> int:
        return self.wide if screen >= self.wide_since else self.width


def heading(width: int, *, hosts: bool = False) -> Line:
    """The names of the columns."""
    return tuple((fit(column.name, room, right=column.right) + "  ", "") for column, room in _columns(width, hosts))


def draw_run(row: RunRow, width: int, now: float, asked: str = "", *, hosts: bool = False) -> Line:
    """One run; `asked` is a command that it has not answered yet."""
    pieces: list[Piece] = []
    for column, room in _columns(width, hosts):
        text, style = column.draw(row, room, now)
        if column.name == "STATUS" and asked:
            text, style = f"{text[:2]}{asked}", "warn"
        pieces += [(fit(text, room, right=column.right), style), ("  ", "")]
    return tuple(pieces)


def short_model(model: str | None) -> str:
    """A model's name without its maker and its date."""
    name = (model or "–").rpartition("/")[2].removeprefix("claude-")
    head, _, tail = name.rpartition("-")
    return head if head and len(tail) == 8 and tail.isdigit() else name


def iteration(row: RunRow) -> str:
    return f"{count(row.iter)}/{count(row.max)}" if row.max else count(row.iter)


def budget_style(row: RunRow) -> str:
    """How near the spend is to its end."""
    if not row.max_cost:
        return ""
    share = row.cost / row.max_cost
    return "bad" if share >= 1 else "warn" if share >= 0.8 else ""


def _status(row: RunRow, _room: int, _now: float) -> Piece:
    sign, style = status_sign(row.status)
    return f"{sign} {row.status}", style


def _name(row: RunRow, room: int, _now: float) -> Piece:
    return flat(row.name or row.run_id, room + 1), "strong" if row.status in ("running", "pausing", "paused") else ""


def _issue(row: RunRow, _room: int, _now: float) -> Piece:
    return flat((row.issue or "–").replace("_", " "), 60), "level2" if row.issue else "dim"


def _task(row: RunRow, _room: int, _now: float) -> Piece:
    return flat(row.task, 240), "dim"


_COLUMNS = (
    Column("STATUS", 10, _status),
    Column("NAME", 15, _name, wide=24, wide_since=110),
    Column("ITER", 7, lambda row, _r, _n: (iteration(row), ""), right=True),
    Column("MODEL", 12, lambda row, _r, _n: (flat(short_model(row.model), 20), ""), since=96),
    Column("ISSUE NOW", 13, _issue, wide=22, wide_since=110),
    Column("INT", 3, lambda row, _r, _n: (count(row.interventions), "" if row.interventions else "dim"), right=True),
    Column("SPEND", 10, lambda row, _r, _n: (spend(row.cost, row.max_cost), budget_style(row)), right=True),
    Column("TOKENS", 6, lambda row, _r, _n: (count(row.tokens), ""), since=120, right=True),
    Column("PROGRESS", 8, lambda row, room, _n: (spark(row.spark, room), "good"), wide=16, wide_since=120),
    Column("SEEN", 4, lambda row, _r, now: (span(now - row.updated), "dim"), since=104, right=True),
    Column("AGENT", 10, lambda row, _r, _n: (flat(row.adapter, 12), ""), since=150),
)
_HOST = Column("HOST", 14, lambda row, _r, _n: (flat(row.host or "", 20), "link"))
_LEAST_TASK = 16


def _columns(width: int, hosts: bool) -> list[tuple[Column, int]]:
    shown = [(column, column.at(width)) for column in _COLUMNS if width >= column.since]
    if hosts:
        shown.insert(2, (_HOST, _HOST.width))
    left = width - sum(room + 2 for _, room in shown)
    while hosts and left < 0:
        shown.pop()
        left = width - sum(room + 2 for _, room in shown)
    if left >= _LEAST_TASK:
        shown.append((Column("TASK", 0, _task), left))
    return shown
