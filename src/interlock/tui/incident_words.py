"""An incident in words: the report of the emergency stop, and the four options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .line import Line
from .pager import text_lines

if TYPE_CHECKING:
    from ..runtime import StoredIncident


def incident_lines(stored: StoredIncident, width: int) -> list[Line]:
    """The report, then each way on with the command that takes it."""
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
