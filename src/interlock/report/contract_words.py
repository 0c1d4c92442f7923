"""The words of a contract: its clauses in a few lines, what broke it, and what came of saying "done"."""

from __future__ import annotations

from ..core import Clause, Contract
from ..records import BreachRecord, StopGateRecord

SHOWN = 8
"""Lines of a contract that the start of a run shows; the journal has all of them."""

TITLES = {
    "may_change": "may change", "protect": "protected", "may_run": "may run", "may_not": "must not", "hosts": "hosts",
    "done_when": "done when", "constraints": "reminded of", "goals": "goal",
}  # fmt: skip


def contract_lines(contract: Contract, most: int = SHOWN) -> list[str]:
    """A contract for people: one line for each source of each kind of clause."""
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


def breach_title(body: BreachRecord) -> str:
    """What broke a clause, and what was done about it."""
    if body.restored:
        return f"restored {', '.join(body.restored[:3])}: changed against the contract"
    return f"{', '.join(body.left[:3])} changed against the contract and was left alone"


def stop_gate_words(body: StopGateRecord) -> tuple[str, str]:
    """Title and detail of what came of saying "done"."""
    failed = next((result for result in body.results if not result.passed), None)
    what = f"`{failed.command}` " + (failed.why or f"failed with exit status {failed.exit_status}") if failed else ""
    title = {
        "passed": "done: " + ", ".join(f"`{result.command}` passed" for result in body.results),
        "returned": f"not done: {what}; back to the agent (try {body.returns})",
        "asked": "asked the agent to prove what it claims",
        "unproven": f"unproven: {what}",
        "observed": f"observed: {what or 'done_when passed'}",
    }[body.outcome]
    return title, "\n".join(body.claims) or (failed.output if failed else "")
