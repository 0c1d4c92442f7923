"""The text output of checkpoints, differences and restores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict
from rich.text import Text

from ..checkpoint import FORCIBLE, Change, LeftAlone, Restored, RestorePlan
from ..core import CheckpointInfo, printable_path
from ..report import size
from .console import Console, new_table
from .output import ROOMY, many, print_table
from .runs import moment

SHOWN = 40
"""Changes that are listed; the rest is counted."""

_SIGNS = {
    "created": ("+", "green"),
    "deleted": ("-", "red"),
    "content": ("~", "yellow"),
    "type": ("!", "yellow"),
    "mode": ("m", "yellow"),
    "attributes": ("m", "yellow"),
    "touched": ("t", "dim"),
}


def print_checkpoints(console: Console, infos: Sequence[CheckpointInfo]) -> None:
    """A table, newest first."""
    # On a narrow terminal, a run that all share is left out, and numbers give way to runs.
    roomy = console.width >= ROOMY
    named = roomy or len({info.run_id for info in infos}) > 1
    counted = roomy or not named
    numbers = ("STEP", "FILES", "SIZE") if counted else ("SIZE",)
    columns = ("CHECKPOINT", "WHEN", *numbers, "CAUSE", *(("RUN",) if named else ()), "LABEL")
    table = new_table(*columns, right=numbers, fold=("LABEL",))
    for info in reversed(infos):
        table.add_row(
            info.id,
            moment(info.time),
            *((str(info.step), f"{info.files:,}") if counted else ()),
            size(info.bytes),
            info.cause,
            *((info.run_id or "",) if named else ()),
            Text(info.label + (f" ({len(info.not_covered)} not covered)" if info.not_covered else "")),
        )
    print_table(console, table)


def print_checkpoint(console: Console, info: CheckpointInfo) -> None:
    """One checkpoint in full."""
    for name, value in asdict(info).items():
        if name == "time":
            value = moment(info.time)
        elif name == "bytes":
            name, value = "size", size(info.bytes)
        elif name == "last_error_time" and value is not None:
            value = moment(value)
        elif name == "not_covered":
            value = "".join(f"\n  {printable_path(line)}" for line in info.not_covered) or "nothing excluded"
        if value not in (None, ""):
            console.print(Text(f"{name.replace('_', ' '):<16}{value}"))


def print_changes(console: Console, changes: Sequence[Change], *, everything: bool = False) -> None:
    """Print one line per change; beyond a limit, only the number of the rest."""
    shown = changes if everything else changes[:SHOWN]
    for change in shown:
        sign, style = _SIGNS[change.kind]
        console.print(Text(f"  {sign} {printable_path(change.path)}", style=style))
    if len(changes) > len(shown):
        console.print(Text(f"  and {len(changes) - len(shown):,} more"))


def print_plan(console: Console, plan: RestorePlan, *, advise: bool = True) -> None:
    """Print what a rollback would do; `advise`: and how to include what it leaves alone."""
    console.print(
        Text(f"Rolling back to {plan.checkpoint} changes {many(len(plan.changes), 'path')}{':' * bool(plan.changes)}")
    )
    print_changes(console, plan.changes)
    print_left(console, plan.left_alone, advise=advise)
    for lock in plan.locks:
        console.print(Text(f"A git command seems to be running: {lock}", style="red"))
    if plan.not_covered:
        console.print(Text(f"The checkpoint does not cover {many(len(plan.not_covered), 'path')}:"))
        for line in plan.not_covered[:SHOWN]:
            console.print(Text(f"  {printable_path(line)}", style="dim"))


def print_restored(console: Console, done: Restored, what: str, said: RestorePlan | None = None) -> None:
    """Print the result of a rollback, without the skipped paths that the plan has already listed."""
    console.print(Text(f"{what}: {many(len(done.changed), 'path')} changed, {_verified(done)}."))
    print_left(console, [left for left in done.left_alone if said is None or left not in said.left_alone])
    for wrong in done.wrong:
        console.print(Text(f"  {printable_path(wrong.path)}: {wrong.reason}", style="red"))
    console.print(Text("Revert this with: interlock undo", style="dim"))


def restored_status(done: Restored) -> int:
    """The exit status: 4 not verified, 1 where something that differs was left alone."""
    return 4 if not done.verified else int(bool(done.left_alone))


def print_left(console: Console, left: Iterable[LeftAlone], *, advise: bool = True) -> None:
    lines = list(left)
    if lines:
        console.print(Text(f"Left alone, {many(len(lines), 'path')}:"))
        for one in lines[:SHOWN]:
            console.print(Text(f"  {printable_path(one.path)}: {one.reason}", style="yellow"))
        for why in FORCIBLE if advise else ():
            if any(one.reason == why for one in lines):
                console.print(Text(f"Add --force to include what is {why} too."))


def _verified(done: Restored) -> str:
    return "verified" if done.verified else f"NOT verified: {many(len(done.wrong), 'path')} differ"
