"""A contract in words: its clauses in a few lines, and the outcome of its stop gate."""

from __future__ import annotations

from ..core import Clause, Contract
from ..journal_records import StopGateRecord

SHOWN = 8
"""Lines of a contract that are shown at the start of a run; the journal has all."""

TITLES = {
    "may_change": "may change", "protect": "protected", "may_run": "may run", "may_not": "must not", "hosts": "hosts",
    "done_when": "done when", "constraints": "reminders", "goals": "goal",
}  # fmt: skip


def contract_lines(contract: Contract, most: int = SHOWN) -> list[str]:
    """A contract as text: one line per kind of clause and source."""
    groups: dict[tuple[str, str], list[Clause]] = {}
    for clause in contract.clauses:
        groups.setdefault((clause.key, clause.phrase or clause.source), []).append(clause)
    lines = []
    for (key, _), clauses in groups.items():
        first = clauses[0]
        values = ", ".join(clause.value for clause in clauses[:4]) + (", ..." if len(clauses) > 4 else "")
        if first.phrase and key != "constraints":
            lines.append(f'{TITLES[key]}: {values} ({first.source}: "{first.phrase}")')
        else:
            lines.append(f"{TITLES[key]}: {values}" + (f" ({first.source})" if first.source else ""))
    if len(lines) > most:
        lines = [*lines[: most - 1], f"and {len(lines) - most + 1} more clauses: see interlock show"]
    return lines


def stop_gate_words(body: StopGateRecord) -> tuple[str, str]:
    """Title and detail of a stop gate's outcome."""
    failed = next((result for result in body.results if not result.passed), None)
    what = failed.words if failed else ""
    title = {
        "passed": "done: " + ", ".join(result.words for result in body.results),
        "own_check": "own check: " + ", ".join(result.words for result in body.results),
        "returned": f"not done: {what}; returned to the agent (attempt {body.returns})",
        "asked": "asked the agent to prove what it claims",
        "unproven": f"unproven: {what}",
        "observed": f"observed: {what or 'done_when passed'}",
    }[body.outcome]
    return title, "\n".join(body.claims) or (failed.output if failed else "")
