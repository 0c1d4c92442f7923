"""A run's problems and requests, as rows and in full; and its incident in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Issue
from ..report import Problem, ShownRequest, Tried
from .line import Line, Piece, fit, flat, severity_style, spread
from .pager import text_lines
from .words import clock_time, date_time, span

if TYPE_CHECKING:
    from ..runtime import StoredIncident


SIGNS = {"worked": ("✓", "good"), "did not work": ("✗", "bad"), "not applied": ("–", "dim"), "postponed": ("…", "dim")}
"""The outcome of an intervention; others are pending, or ended the run."""


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
        (fit(f"  {flat(name, 60)}", 32) + "  ", f"{style}!"),
        (fit(flat(achieved, 23), 24), _achieved_style(problem)),
        *rest,
    )


def draw_briefly(problem: Problem | Issue, width: int) -> Line:
    """One row in the side panel."""
    style = severity_style(problem.severity)
    if isinstance(problem, Issue):
        name, note = problem.type.replace("_", " "), f"{problem.severity or 'medium'} @{problem.step}"
    else:
        name, note = problem.what, problem.achieved.partition(":")[0]
    return spread(((f"! {flat(name, 60)}", style),), ((f" {note}", _achieved_style(problem)),), width)


def problem_lines(problem: Problem | Issue, width: int) -> list[Line]:
    """Everything known about a problem."""
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
        lines.append((("where    ", "dim"), (flat(problem.place), "")))
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


def incident_lines(stored: StoredIncident, width: int) -> list[Line]:
    """The options with their commands, then the report."""
    lines: list[Line] = []
    if stored.status != "open":
        by = f", as run {stored.continued_by}" if stored.continued_by else ""
        lines += [((f"Settled: {stored.option}{by}.", "good"),), ()]
    else:
        lines += [(("OPTIONS", "link!"), ("  in a terminal: the agent continues where you start it", "dim"))]
        for option in stored.options:
            mark, style = ("•", "strong") if option.applicable else ("✗", "dim")
            lines += [((f" {mark} {option.name}", style),)]
            lines += text_lines(option.description, width, indent="   ")
            said = option.command if option.applicable else f"not possible: {option.reason}"
            lines += text_lines(said, width, "link" if option.applicable else "dim", indent="   ")
        lines += [()]
    return [*lines, (("REPORT", "link!"),), *text_lines(stored.report.to_text(), width)]


OUTCOMES = {"pending": ("…", "warn"), "success": ("✓", "good"), "failure": ("✗", "bad"), "unknown": ("?", "level3")}


def control_heading(width: int) -> Line:
    return (
        (fit("TIME", 10), ""),
        (fit("COMMAND", 11), ""),
        (fit("ACK", 10), ""),
        (fit("RESULT", 12), ""),
        ("MESSAGE", ""),
    )


def draw_control(entry: ShownRequest, width: int) -> Line:
    sign, style = OUTCOMES[entry.outcome]
    ack: Piece = (clock_time(entry.acked), "") if entry.acked else ("–" if entry.in_journal else "sent", "dim")
    result = clock_time(entry.answered) if entry.answered else "unknown" if entry.outcome == "unknown" else "waiting"
    words = "  ".join(filter(None, (request_message(entry), f"“{entry.reason}”" if entry.reason else "", entry.actor)))
    return (
        (fit(clock_time(entry.requested), 10), "dim"),
        (fit(entry.command, 11), "strong"),
        (fit(ack[0], 10), ack[1]),
        (fit(f"{sign} {result}", 12), style),
        (flat(words), "" if entry.outcome != "success" else "dim"),
    )


def control_lines(entry: ShownRequest, width: int) -> list[Line]:
    """Everything known about a request."""
    sign, style = OUTCOMES[entry.outcome]
    acked = clock_time(entry.acked) if entry.acked else "the journal has none"
    answered = clock_time(entry.answered) if entry.answered else "the journal has none"
    return [
        (("REQUEST  ", "dim"), (f"{entry.command} at {clock_time(entry.requested)}", "strong")),
        (("by       ", "dim"), (flat(entry.actor or "–"), "")),
        (("reason   ", "dim"), (flat(entry.reason or "–"), "")),
        (("ACK      ", "dim"), (acked, "")),
        (("RESULT   ", "dim"), (answered, "")),
        (("outcome  ", "dim"), (f"{sign} {entry.outcome}", style)),
        (),
        *text_lines(request_message(entry) or "No reply yet.", width),
    ]


def request_message(entry: ShownRequest) -> str:
    """The reply to a request, or what is known instead."""
    text = entry.message or entry.notice
    if entry.outcome == "unknown" and not text:
        return "the run has no owner: it may or may not have been carried out"
    return f"{entry.code}: {text}" if entry.code and entry.in_journal else text
