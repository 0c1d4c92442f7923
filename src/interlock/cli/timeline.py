"""The text output of show: header, problems and timeline of a run."""

from __future__ import annotations

from datetime import datetime

from rich.table import Table
from rich.text import Text

from ..core import RunSpec, printable
from ..journal import RunSummary
from ..report import Level, Problem, TimelineMoment, tried_line
from .console import Console
from .output import many, print_hanging, spent
from .runs import moment, style_of


def print_header(console: Console, run: RunSummary, spec: RunSpec) -> None:
    """Print a run's description and its numbers."""
    console.print(Text.assemble((run.run_id, "bold"), f"  {run.name}  ", (run.outcome, style_of(run.outcome))))
    if run.task:
        print_hanging(console, f"  {' '.join(run.task.split())}")
    facts = [
        f"started {moment(run.started)}",
        many(run.steps, "step"),
        many(run.issues, "issue"),
        many(run.interventions, "intervention"),
        many(run.tokens, "token"),
        spent(run.cost_usd, run.max_cost_usd, run.unpriced_tokens),
    ]
    print_hanging(console, "  " + ", ".join(facts))
    parked = run.doing is not None and run.doing.word == "parked"
    if run.doing is not None:
        # The timeline says why it is parked.
        evidence = f" ({run.doing.evidence})" if run.doing.evidence and not parked else ""
        asked = f"; it asks: {run.doing.question}" if run.doing.question else ""
        words = f"  {run.doing.words} since {moment(run.doing.since)}{evidence}{asked}"
        console.print(words, markup=False, soft_wrap=True)
    waiting = None if parked else run.waiting
    for label, value in (
        ("processes", run.unstopped),
        ("workspace", run.workspace),
        ("continues", spec.continues),
        ("waiting", waiting),
    ):
        if value:
            console.print(f"  {label} {value}", markup=False, soft_wrap=True)
    console.print()


def print_problems(console: Console, problems: list[Problem]) -> None:
    """Print what the run got stuck on: what was tried, what it achieved and what it cost."""
    if not problems:
        return
    console.print(Text("What it got stuck on", style="bold"))
    for each in problems:
        style = "yellow" if each.open else "green" if each.worked else ""
        location = f" ({each.place})" if each.place else ""
        at = Text(f"{each.opened_step:>7}  ", style="dim")
        words = Text.assemble(f"{each.what}{location}: ", (each.achieved, style), (f"  {each.cost}", "dim"))
        console.print(at + words, soft_wrap=True)
        if each.tried:
            console.print(Text(f"{'':9}{tried_line(each)}", style="dim"), soft_wrap=True)
    console.print()


def print_moment(console: Console, entry: TimelineMoment) -> None:
    """Print one line of the timeline. Steps are cut to the terminal's width, other lines are wrapped."""
    at = datetime.fromtimestamp(entry.time).strftime("%H:%M:%S")
    step = f"{entry.step:>5}" if entry.step is not None else " " * 5
    detail = " ".join(entry.detail.split())
    more = f"  {detail}" if detail and detail not in entry.title and entry.kind != "step" else ""
    begin, mark = f"{at}  {step} ", f"{MARK.get(entry.kind, '·')} "
    if not console.is_terminal:
        # Without rich, which takes minutes for a million lines.
        console.file.write(f"{begin}{mark}{printable(entry.title + more)}\n")
        return
    words = Text.assemble((entry.title, STYLE[entry.level]), (more, "dim"))
    before = Text.assemble((begin, "dim"), (mark, STYLE[entry.level]))
    if entry.kind == "step":
        console.print(before + words, overflow="ellipsis", no_wrap=True)
    else:
        row = Table.grid()
        row.add_column(no_wrap=True)
        row.add_column()
        row.add_row(before, words)
        console.print(row)


STYLE: dict[Level, str] = {"quiet": "dim", "info": "", "notice": "cyan", "warning": "yellow", "critical": "bold red"}
MARK = {"issue": "!", "intervention": "→", "review": "✗", "incident": "■", "approval": "?", "control": "»"}
