"""interlock show: one run in full."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Set
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core import ENDED, BadInput, Record
from .app import new_app
from .completion import offer_runs
from .output import json_text, say_error

if TYPE_CHECKING:
    from ..journal import RunFolder, Verification

app = new_app()

AT_ONCE = 20_000
"""Records that are verified before anything is shown: a fraction of a second."""


@app.command()
def show(
    run: Annotated[str, Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    kinds: Annotated[list[str] | None, Option("--kind", help="Only records of this kind; may be repeated.")] = None,
    after: Annotated[int, Option(min=0, help="Only records after this number.")] = 0,
    limit: Annotated[int | None, Option(min=1, help="At most this many records.")] = None,
    not_done: Annotated[
        bool,
        Option("--not-done", help="Only what did not happen: blocked or unanswered calls, failed checks."),
    ] = False,
    json: Annotated[
        bool,
        Option("--json", help='{"run": {...}, "spec": {...}, "episodes": [...], "records": [...], "journal": {...}}'),
    ] = False,
) -> None:
    """Show one run: its task, its state, and everything that happened.

    Lines are printed as they are read, however long the run is. Warns if the journal was changed.

    Example: interlock show my-run --kind issue --kind intervention
    """
    from ..journal import JournalReader, summarize, verify_journal
    from ..report import read_moment, read_problems
    from .console import Console
    from .runs import shown_run, the_store
    from .timeline import print_header, print_moment, print_problems

    folder = the_store().find(run)
    wanted = frozenset(kinds) if kinds else None
    if not_done:
        print_not_done(folder, as_json=json)
        return
    with JournalReader.open(folder) as reader:
        if wanted is not None:
            check_kinds(wanted, reader.counts().keys())
        summary = summarize(folder)
        problems = read_problems(reader, ended=summary is not None and summary.status in ENDED)
        records = reader.read(after, wanted, limit)
        if json:
            head: dict[str, object] = {
                "run": summary and shown_run(summary),
                "spec": folder.spec(),
                "episodes": problems,
            }
            print_records(head, records, lambda: verify_journal(folder))
            return
        console = Console(highlight=False)
        if summary is not None:
            print_header(console, summary, folder.spec())
        # For a long run, print the first lines before verifying to the last record.
        last = reader.last()
        is_long = last is not None and last.seq > AT_ONCE
        if not is_long:
            say_damage(verify_journal(folder))
        if wanted is None:
            print_problems(console, problems)
        for record in records:
            entry = read_moment(record, hidden=wanted is not None)
            # Internal records are shown only if asked for by kind.
            if entry is not None and (wanted is not None or entry.level != "quiet"):
                print_moment(console, entry)
        if is_long and limit is None:
            say_damage(verify_journal(folder))


def print_not_done(folder: RunFolder, *, as_json: bool) -> None:
    """Print what did not happen in a run, most serious first."""
    from ..core import printable
    from ..report import read_ending
    from .output import say

    entries = read_ending(folder).not_done
    if as_json:
        say(json_text(entries))
        return
    for each in entries:
        say(printable(f"{each.words}, step {each.step}" if each.step else each.words))
    if not entries:
        say("nothing was blocked, rejected or left unanswered, and no check failed")


def print_records(head: dict[str, object], records: Iterable[Record], verify: Callable[[], Verification]) -> None:
    """Print one JSON document while reading."""
    sys.stdout.write(json_text(head)[:-1] + ',"records":[')
    between = ""
    for record in records:
        if record.kind != "snapshot":
            row = {"seq": record.seq, "time": record.time, "kind": record.kind, "body": record.body}
            sys.stdout.write(between + json_text(row))
            between = ","
    sys.stdout.write(f'],"journal":{json_text(verify())}}}\n')
    sys.stdout.flush()


def say_damage(found: Verification) -> None:
    """Report records that are not as their owner wrote them."""
    for damage in found.damage:
        say_error(f"the journal of {found.run_id}: {damage.what}")


def check_kinds(wanted: Set[str], there: Set[str]) -> None:
    """Reject a kind that neither we nor this journal know: a typo would look like a run in which nothing happened."""
    from ..journal_records import KINDS

    known = {*KINDS, *there}
    for kind in wanted:
        if kind not in known:
            raise BadInput(f"there is no kind of record {kind!r}", todo=f"Known: {', '.join(sorted(known))}")
