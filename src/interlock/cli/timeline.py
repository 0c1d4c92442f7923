"""How a run's records are shown as a timeline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from ..core import Record, RunSpec
from ..journal import RunSummary
from .runs import STATUS, moment, money, shown_status

SEVERITY = {"low": "cyan", "medium": "yellow", "high": "red", "critical": "bold red"}
LEVEL = ("green", "cyan", "yellow", "magenta", "bold red")
WIDTH = 120


def print_header(console: Console, run: RunSummary, spec: RunSpec) -> None:
    """What the run is."""
    status = shown_status(run)
    console.print(Text.assemble((run.run_id, "bold"), f"  {run.name}  ", (status, STATUS.get(status, ""))))
    if run.task:
        console.print(Text(f"  {' '.join(run.task.split())}", style="italic"))
    facts = [
        f"started {moment(run.started)}",
        f"{run.steps:,} steps",
        f"{run.issues:,} issues",
        f"{run.interventions:,} interventions",
        f"{run.tokens:,} tokens",
        money(run.cost_usd, run.max_cost_usd),
    ]
    console.print("  " + ", ".join(facts))
    for label, value in (("workspace", run.workspace), ("continues", spec.continues), ("waits for", run.waiting)):
        if value:
            console.print(f"  {label} {value}", markup=False)
    console.print()


def print_record(console: Console, record: Record) -> None:
    """One record in one line; kinds that people need not see are left out."""
    show = SHOWN.get(record.kind)
    if show is None:
        return
    line = show(msgspec.json.decode(record.body))
    at = datetime.fromtimestamp(record.time).strftime("%H:%M:%S")
    console.print(Text.assemble((f"{at}  ", "dim"), line), soft_wrap=False, overflow="ellipsis", no_wrap=True)


def _step(body: Any) -> Text:
    step = body["step"]
    tool = step.get("tool")
    said = f"{tool.get('name')} {msgspec.json.encode(tool.get('arguments', {})).decode()}" if tool else ""
    text = " ".join((said or step.get("content", "")).split())[:WIDTH]
    mark = "✗" if step.get("error") else "·"
    line = Text.assemble((f"{step['index']:>5} {mark} ", "dim"), f"{step['role']:<9} ", text)
    verdict = (body.get("review") or {}).get("verdict", "allow")
    if verdict != "allow":
        line.append(f"  [{verdict}]", style="red" if verdict == "block" else "yellow")
    return line


def _issue(body: Any) -> Text:
    severity = body.get("severity") or "medium"
    return Text.assemble(("      ! ", ""), (f"{body['type']} ({severity}) ", SEVERITY[severity]), body["description"])


def _intervention(body: Any) -> Text:
    made = body["intervention"]
    style = LEVEL[min(made["level"], len(LEVEL) - 1)]
    outcome = made.get("outcome", "pending")
    return Text.assemble(
        "      → ", (f"{made['type']} ", style), f"[{outcome}] " if outcome != "pending" else "", made.get("reason", "")
    )


def _words(template: str) -> Callable[[Any], Text]:
    def show(body: Any) -> Text:
        return Text("      " + template.format_map(_Missing(body)), style="dim")

    return show


class _Missing(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


SHOWN: dict[str, Callable[[Any], Text]] = {
    "step": _step,
    "issue": _issue,
    "intervention": _intervention,
    "effect": _words("effect: {type} on {issue_type}: {outcome}"),
    "checkpoint": _words("checkpoint {id} ({cause})"),
    "restored": _words("restored to checkpoint {checkpoint_id}, undo with {safety_id}"),
    "limit": _words("limit: {what}"),
    "fault": _words("fault: {part}: {why}"),
    "tamper": _words("tampered with: {what} {path} ({answer})"),
    "hold": _words("hold: {reason}"),
    "resume": _words("resumed"),
    "incident": _words("incident {id}: {summary}"),
    "gui_session": _words("session {session_id}: {chunks} chunks"),
    "gui_chunk": _words("typed chunk {chunk}: {path}"),
    "gui_event": _words("screen: {status}, {outcome}: {description} {reason}"),
    "gui_trouble": _words("trouble at chunk {chunk}: {trouble}"),
    "gui_verification": _words("verification: {summary}"),
    "end": _words("end: {status} {reason} {message}"),
}
