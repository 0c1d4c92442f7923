"""interlock proof: the claims of a run, and whether they are true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from .app import new_app
from .completion import offer_runs
from .output import print_json

if TYPE_CHECKING:
    from ..journal_records import ProofRecord
    from .console import Console

app = new_app()

STYLES = {"proven": "green", "own_check": "yellow", "stale": "yellow", "contradicted": "red", "unproven": "yellow"}
MARKS = {"proven": "✓", "own_check": "~", "stale": "~", "contradicted": "✗", "unproven": "?"}


@app.command()
def proof(
    run: Annotated[str, Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    json: Annotated[
        bool, Option("--json", help='{"run_id": "...", "claims": [...], "tests": [...], "tree": "..."}')
    ] = False,
) -> None:
    """Show each claim of a run with its verdict and the evidence, and what changed about its tests.

    Exit status: 0 every claim is proven, 1 one is not, tests were weakened, or its contract was not met.

    Example: interlock proof my-run
    """
    from ..journal import JournalReader
    from ..report import last_gate, read_proof, sorted_claims
    from .runs import the_store

    folder = the_store().find(run)
    with JournalReader.open(folder) as reader:
        found = sorted_claims(read_proof(reader))
        gate = last_gate(reader)
        summary = reader.summary()
    unmet = summary is not None and summary.reason == "UNPROVEN"
    checks = gate.results if gate is not None else ()
    if json:
        print_json(
            {"run_id": folder.run_id, "claims": found.claims, "tests": found.tests, "tree": found.tree,
             "step": found.step, "ending": found.ending, "done_when": checks,
             "contract": "not met" if unmet else "met" if gate else ""}
        )  # fmt: skip
    else:
        from .console import Console

        console = Console(highlight=False)
        if unmet:
            console.print("The run ended without meeting its contract.", style="red")
        print_proof(console, found)
    open_claims = any(each.verdict != "proven" for each in found.claims)
    raise typer.Exit(1 if unmet or found.tests or open_claims else 0)


def print_proof(console: Console, found: ProofRecord) -> None:
    """Print the claims as a table, then the facts about the tests."""
    from rich.table import Table
    from rich.text import Text

    from ..report import fact_line

    for line in found.contract:
        console.print(Text(f"contract: {line}"))
    if not found.claims:
        console.print("No claims of completion or success.")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for each in found.claims:
        verdict = Text(f"{MARKS[each.verdict]} {each.verdict.replace('_', ' ')}", style=STYLES[each.verdict])
        words = Text.assemble(each.claim.text, "\n", (each.why, "dim"))
        table.add_row(verdict, f"step {each.claim.step}", words)
    if found.claims:
        console.print(table)
    if found.tests:
        console.print(Text("Tests and checking rules, from the run's start to now:", style="bold"))
        for fact in found.tests:
            console.print(Text(f"  {fact_line(fact)}"))
    if found.ending:
        console.print(Text(f"{found.ending[:1].upper()}{found.ending[1:]}.", style="yellow"))
    if found.tree:
        console.print(Text(f"Files as of checkpoint {found.tree}.", style="dim"))
