"""An issue in one row, and in full."""

from __future__ import annotations

from ..core import Issue
from .line import Line, fit, flat
from .pager import text_lines
from .palette import severity_style


def issue_heading(width: int) -> Line:
    return ((fit("STEP", 6, right=True), ""), (fit("  SEVERITY", 12), ""), (fit("ISSUE", 22), ""), ("WHY", ""))


def draw_issue(issue: Issue, width: int) -> Line:
    style = severity_style(issue.severity)
    return (
        (fit(str(issue.step), 6, right=True), "dim"),
        (fit(f"  {issue.severity or 'medium'}", 12), f"{style}!"),
        (fit(issue.type.replace("_", " "), 22), style),
        (flat(issue.description), ""),
    )


def issue_lines(issue: Issue, width: int) -> list[Line]:
    """Everything that is known of an issue."""
    sure = f"{issue.confidence:.0%}" if issue.confidence is not None else "not said"
    since = f", since step {issue.started_step}" if issue.started_step is not None else ""
    lines: list[Line] = [
        ((issue.type.replace("_", " "), f"{severity_style(issue.severity)}!"), (f"  {issue.severity or 'medium'}", "")),
        (("found at ", "dim"), (f"step {issue.step}{since}", "")),
        (("sure     ", "dim"), (sure, "")),
        (("quiet it ", "dim"), (f"interlock mute {flat(issue.id)}", "")),
        (),
        *text_lines(issue.description, width, "strong"),
    ]
    if issue.evidence:
        lines += [(), (("evidence", "link"),), *text_lines("steps " + ", ".join(map(str, issue.evidence)), width)]
    for name, value in issue.details.items():
        lines += [(), ((flat(name.replace("_", " ")), "link"),), *text_lines(str(value), width)]
    return lines
