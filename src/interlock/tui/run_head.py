"""The head of a run's page, and its side panel on a wide screen: ladder, charts, problems and requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..report import RunRow, Series, ShownRequest
from .control_keys import LIVE
from .line import Line, Piece, fit, flat, spread, status_sign
from .problem_rows import OUTCOMES, draw_briefly, request_message
from .run_reader import View
from .run_rows import calls, short_model
from .words import (
    clock_time,
    count,
    draw_ladder,
    draw_ladder_row,
    empty_ladder,
    gauge,
    reason_first,
    span,
    spark,
    spend,
)


def draw_head(
    run: RunRow, view: View | None, doing: str, problem: str | None, now: float, width: int, *, ladder: bool
) -> list[Line]:
    """Three rows; the last one is an urgent message, else the ladder if wanted."""
    sign, style = status_sign(run.status, run.outcome)
    left: list[Piece] = [(flat(run.name or run.run_id, 40), "strong"), (f"  {sign} {run.outcome or run.status}", style)]
    if doing:
        left.append((f"  {doing}", "warn"))
    left.append((f"  {calls(run)} calls  {flat(short_model(run.model), 24)}", ""))
    rows = [
        spread(tuple(left), draw_budget(run.cost, run.max_cost, 10, run.unpriced_tokens), width),
        spread(((flat(run.task or "no task given", width), "dim"),), ((_age(run, now), "dim"),), width),
    ]
    banner = _banner(run, view, problem)
    if banner is not None:
        rows.append(banner)
    elif ladder:
        rows.append(draw_ladder_row(view.ladder if view is not None else empty_ladder()))
    return rows


def _age(run: RunRow, now: float) -> str:
    if run.ended:
        return f"took {span(run.ended - run.started)}, ended {span(now - run.ended)} ago"
    return f"started {span(now - run.started)} ago"


def _banner(run: RunRow, view: View | None, problem: str | None) -> Line | None:
    if problem:
        return ((f"! {flat(reason_first(problem))}", "bad"),)
    if view is not None and view.incidents and view.incidents[0].status == "open":
        words = f"i shows the report and the options  {view.incidents[0].id}"
        return (("‼ emergency stop: ", "bad"), (words, ""))
    if view is not None and view.waiting is not None and run.status in LIVE:
        keys = "a approve, x reject" if view.waiting.kind == "approval" else "r resumes it"
        return ((f"? needs you ({keys}): ", "warn!"), (flat(view.waiting.text), ""))
    if run.status == "unknown":
        return ((f"? no contact with {flat(run.host)}: this is the last known state", "bad"),)
    if run.status == "lost":
        return (("? this run has no owner: requests wait 30 s for one to come back", "bad"),)
    return None


def draw_side(
    view: View, series: Series | None, entries: Sequence[ShownRequest], width: int, height: int
) -> list[Line]:
    """As much as fits, the most important on top."""
    lines: list[Line] = [_title("LADDER", width), *draw_ladder(view.ladder), ()]
    lines += [_title("BY STEP", width), *draw_charts(view, series, width), ()]
    rest = max(4, height - len(lines) - 3)
    asked = entries[: max(2, rest // 3)]
    lines += [_title("CONTROL", width)]
    lines += [_control(entry, width) for entry in asked] or [(("no requests yet", "dim"),)]
    lines += [(), _title("STUCK ON", width)]
    room = max(1, height - len(lines))
    lines += [draw_briefly(each, width) for each in view.problems[:room]] or [(("nothing so far", "dim"),)]
    return lines


def draw_charts(view: View, series: Series | None, width: int) -> list[Line]:
    """The share of useful calls, tokens, cost and issues over the steps, each in one row."""
    row = view.row
    if series is None:
        return [(("counting …", "dim"),), (), (), ()]
    if not series.steps:
        return [(("no steps", "dim"),), (), (), ()]
    useful = f"{series.progress[-1]:.0%}"
    room = max(6, width - 9 - 8)

    def chart(name: str, values: Sequence[float], style: str, now: str) -> Line:
        return ((fit(name, 9), "dim"), (spark(values, room), style), (fit(now, 8, right=True), ""))

    return [
        chart("useful", series.progress, "good", useful),
        chart("tokens", _growth(series.tokens, room), "link", count(row.tokens)),
        chart("cost", _growth(series.cost, room), "level2", spend(row.cost, None, row.unpriced_tokens)),
        chart("issues", _growth(series.issues, room), "level3", count(row.issues)),
    ]


def draw_budget(cost: float, budget: float | None, width: int, unpriced_tokens: int = 0) -> Line:
    """The spend, as a bar if there is a budget and the cost is known."""
    if not budget or (unpriced_tokens and not cost):
        return ((spend(cost, budget, unpriced_tokens), "warn" if budget else ""),)
    share = cost / budget
    used, left = gauge(share, width)
    style = "bad" if share >= 1 else "warn" if share >= 0.8 else "good"
    return (
        (f"{spend(cost, budget, unpriced_tokens)} ", style if share >= 0.8 else ""),
        (used, style),
        (left, "faint"),
        (f" {share:.0%}", "dim"),
    )


def _growth(sums: Sequence[float], most: int) -> list[float]:
    """The increase from point to point, over at least two steps: a call costs, its result does not."""
    points = max(1, min(most, len(sums) // 2))
    marks = [sums[len(sums) * at // points - 1] for at in range(1, points + 1)]
    return [max(0.0, b - a) for a, b in pairwise((0, *marks))]


def _title(words: str, width: int) -> Line:
    return ((words, "link!"), (f" {'─' * max(0, width - len(words) - 1)}", "faint"))


def _control(entry: ShownRequest, width: int) -> Line:
    sign, style = OUTCOMES[entry.outcome]
    waiting = ("accepted" if entry.acked else "requested") if entry.outcome == "pending" else ""
    words = request_message(entry) or waiting
    return (
        (f"{clock_time(entry.requested)} ", "dim"),
        (f"{sign} {entry.command} ", style),
        (flat(words, width), "dim"),
    )
