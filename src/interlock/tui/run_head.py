"""The head of a run's page: what it is, how it is, and what must be known before anything else."""

from __future__ import annotations

from ..report import RunRow
from .control_keys import LIVE
from .ladder import draw_ladder_row, empty_ladder
from .line import Line, Piece, flat, spread
from .palette import status_sign
from .run_rows import iteration, short_model
from .side import draw_budget
from .view import View
from .words import reason_first, span


def draw_head(
    run: RunRow, view: View | None, doing: str, problem: str | None, now: float, width: int, *, ladder: bool
) -> list[Line]:
    """Three rows; the last one is the ladder where it is wanted, unless there is something more urgent."""
    sign, style = status_sign(run.status, run.outcome)
    left: list[Piece] = [(flat(run.name or run.run_id, 40), "strong"), (f"  {sign} {run.outcome or run.status}", style)]
    if doing:
        left.append((f"  {doing}", "warn"))
    left.append((f"  iter {iteration(run)}  {flat(short_model(run.model), 24)}", ""))
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
