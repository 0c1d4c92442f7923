"""interlock show: one run in full."""

from __future__ import annotations

from collections.abc import Set
from typing import Annotated

import typer

from ..core import BadInput
from ..core.decoding import from_json
from .app import new_app
from .completion import offer_runs
from .output import print_json

app = new_app()


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Only records of this kind; may be repeated.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help='{"run": {...}, "spec": {...}, "episodes": [...], "records": [...]}')
    ] = False,
) -> None:
    """Show one run: what it was for, how it is, and everything that happened.

    Example: interlock show my-run --kind issue --kind intervention
    """
    from ..core import ENDED
    from ..journal import JournalReader
    from ..journal.store import summarize
    from ..report.episodes import read_problems
    from ..report.timeline_entry import read_moment
    from .console import Console
    from .runs import the_store
    from .timeline import print_header, print_moment, print_problems

    folder = the_store().find(run)
    wanted = frozenset(kinds) if kinds else None
    with JournalReader.open(folder) as reader:
        check_kinds(wanted or frozenset(), reader.counts().keys())
        summary = summarize(folder)
        problems = read_problems(reader, ended=summary is not None and summary.status in ENDED)
        if json:
            records = [
                {"seq": r.seq, "time": r.time, "kind": r.kind, "body": from_json(r.body)}
                for r in reader.read(kinds=wanted)
                if r.kind != "snapshot"
            ]
            print_json({"run": summary, "spec": folder.spec(), "episodes": problems, "records": records})
            return
        console = Console(highlight=False)
        if summary is not None:
            print_header(console, summary, folder.spec())
        if wanted is None:
            print_problems(console, problems)
        for record in reader.read(kinds=wanted):
            told = read_moment(record, hidden=wanted is not None)
            # Housekeeping is shown to those who ask for it by name.
            if told is not None and (wanted is not None or told.level != "quiet"):
                print_moment(console, told)


def check_kinds(wanted: Set[str], there: Set[str]) -> None:
    """Refuse a kind that neither we nor this journal know: a slip would look like a run in which nothing happened."""
    from ..records import KINDS

    known = {*KINDS, *there}
    for kind in wanted:
        if kind not in known:
            raise BadInput(f"there is no kind of record {kind!r}", todo=f"Known: {', '.join(sorted(known))}")
