"""What a run got stuck on, in one row and in full; an issue where it belongs to no episode."""

from __future__ import annotations

from ..core import Issue
from ..report import Problem, Tried
from .line import Line, Piece, fit, flat, spread
from .pager import text_lines
from .palette import severity_style
from .words import date_time, span

SIGNS = {"worked": ("✓", "good"), "did not work": ("✗", "bad"), "not applied": ("–", "dim"), "postponed": ("…", "dim")}
"""The result of an answer; anything else is not known yet, or was the last thing that was done."""


def problem_heading(width: int) -> Line:
    return ((fit("STEP", 6, right=True), ""), (fit("  STUCK ON", 34), ""), (fit("ACHIEVED", 24), ""), ("TRIED", ""))


def draw_problem(problem: Problem | Issue, width: int) -> Line:
    """One row."""
    style = severity_style(problem.severity)
    if isinstance(problem, Issue):
        name, achieved, step = problem.type.replace("_", " "), str(problem.severity or "medium"), problem.step
        rest: tuple[Piece, ...] = ((flat(problem.description), ""),)
    else:
        name, achieved, step, rest = problem.what, problem.achieved, problem.opened_step, _tried(problem.tried)
    return (
        (fit(str(step), 6, right=True), "dim"),
        (fit(f"  {flat(name, 32)}", 34), f"{style}!"),
        (fit(flat(achieved, 23), 24), _achieved_style(problem)),
        *rest,
    )


def draw_briefly(problem: Problem | Issue, width: int) -> Line:
    """One row alongside everything else."""
    style = severity_style(problem.severity)
    if isinstance(problem, Issue):
        name, note = problem.type.replace("_", " "), f"{problem.severity or 'medium'} @{problem.step}"
    else:
        name, note = problem.what, problem.achieved.partition(":")[0]
    return spread(((f"! {flat(name, 60)}", style),), ((f" {note}", _achieved_style(problem)),), width)


def problem_lines(problem: Problem | Issue, width: int) -> list[Line]:
    """Everything that is known of it."""
    if isinstance(problem, Issue):
        return _issue_lines(problem, width)
    until = f", for {span((problem.closed_at or problem.updated_at) - problem.opened_at)}"
    lines: list[Line] = [
        ((flat(problem.what), f"{severity_style(problem.severity)}!"), (f"  {problem.severity}", "")),
        (("type     ", "dim"), (problem.type.replace("_", " "), "")),
        (("since    ", "dim"), (f"step {problem.opened_step}, {date_time(problem.opened_at)}{until}", "")),
        (("achieved ", "dim"), (problem.achieved, _achieved_style(problem))),
        (("cost     ", "dim"), (problem.cost, "")),
        (("mute it  ", "dim"), (f"interlock mute {flat(problem.issue_id)}", "")),
    ]
    if problem.agent:
        lines.append((("agent    ", "dim"), (flat(problem.agent), "")))
    if problem.place:
        lines.append((("place    ", "dim"), (flat(problem.place), "")))
    if problem.relapses:
        lines.append((("came back", "dim"), (f" {problem.relapses}×", "")))
    lines += [(), *text_lines(problem.description, width, "strong"), (), (("tried", "link"),)]
    for each in problem.tried:
        sign, style = SIGNS.get(each.outcome, ("→", ""))
        lines.append(((fit(str(each.step), 6, right=True), "dim"), (f"  {sign} {each.name}: {each.outcome}", style)))
        lines += [((" " * 10, ""), *line) for line in text_lines(each.reason, width - 10)] if each.reason else []
    return lines if problem.tried else [*lines, (("nothing", "dim"),)]


def _tried(tried: tuple[Tried, ...]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for each in tried:
        sign, style = SIGNS.get(each.outcome, ("", ""))
        pieces.append((f"{each.name}{sign and ' '}{sign}  ", style))
    return tuple(pieces)


def _achieved_style(problem: Problem | Issue) -> str:
    if isinstance(problem, Issue):
        return severity_style(problem.severity)
    return "warn" if problem.open else "good" if problem.worked else ""


def _issue_lines(issue: Issue, width: int) -> list[Line]:
    sure = f"{issue.confidence:.0%}" if issue.confidence is not None else "not given"
    since = f", since step {issue.started_step}" if issue.started_step is not None else ""
    lines: list[Line] = [
        ((issue.type.replace("_", " "), f"{severity_style(issue.severity)}!"), (f"  {issue.severity or 'medium'}", "")),
        (("found at ", "dim"), (f"step {issue.step}{since}", "")),
        (("sure     ", "dim"), (sure, "")),
        (("mute it  ", "dim"), (f"interlock mute {flat(issue.id)}", "")),
        (),
        *text_lines(issue.description, width, "strong"),
    ]
    if issue.evidence:
        lines += [(), (("evidence", "link"),), *text_lines("steps " + ", ".join(map(str, issue.evidence)), width)]
    for name, value in issue.details.items():
        lines += [(), ((flat(name.replace("_", " ")), "link"),), *text_lines(str(value), width)]
    return lines
