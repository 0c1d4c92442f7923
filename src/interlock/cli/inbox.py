"""interlock inbox: everything that needs a person, and the answers to it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from .app import new_app
from .output import print_hanging, print_json, say, say_error

if TYPE_CHECKING:
    from ..report import InboxItem
    from .control_requests import LocalRuns

EVIDENCE_LINES = 6
"""Lines of an item's text."""

app = new_app()

TIMEOUT_S = 60.0


@app.command()
def inbox(
    item: Annotated[str | None, Argument(help="An item's id or a unique prefix.")] = None,
    answer: Annotated[str | None, Argument(help="One of its answers.")] = None,
    reason: Annotated[str, Option(help="The reason; the agent receives it when you reject a call.")] = "",
    hub: Annotated[str | None, Option(metavar="URL", help="Include other machines: nats://...")] = None,
    json: Annotated[bool, Option("--json", help='{"items": [...]}; with an answer, its result.')] = False,
) -> None:
    """List what needs you, newest first; or answer it.

    Exit status of an answer: 0 done, 3 no such item (answered, changed or expired), 4 refused, 5 unknown.

    Example: interlock inbox 1f2e approve
    """
    from ..report import find_item, read_inbox
    from .control_requests import LocalRuns
    from .runs import open_hub, the_store

    with closing(LocalRuns(the_store(), open_hub(hub) if hub else None)) as runs:
        if item is not None and answer is not None:
            _answer(runs, item, answer, reason, json)
            return
        items = [find_item(runs.store, item, runs.hub)] if item is not None else read_inbox(runs.store, runs.hub)
    if json:
        print_json({"items": items})
        return
    for each in items:
        _print(each)
    if not items:
        say("Nothing needs you.")


def _answer(runs: LocalRuns, ref: str, name: str, reason: str, json: bool) -> None:
    from ..report import answer_item
    from .control_requests import EXIT

    item, answered = answer_item(runs, ref, name, reason, timeout=TIMEOUT_S, notice=say_error)
    if json:
        print_json({"item": item.id, "answer": name, "ok": answered.ok, "message": answered.message})
    elif answered.ok:
        say(f"{item.run}: {answered.message}")
    else:
        say_error(f"{item.run}: {answered.message}")
    if not answered.ok:
        raise SystemExit(EXIT.get(answered.code or "", 5))


def _print(item: InboxItem) -> None:
    from rich.text import Text

    from ..redact import one_line
    from .console import Console
    from .runs import moment

    console = Console(highlight=False)
    expires = f", expires {moment(item.expires)}" if item.expires is not None else ""
    console.print(
        Text.assemble((item.id, "bold"), "  ", (item.title, "yellow"), f"  {one_line(item.run)}"),
        Text(f"{moment(item.time)}{expires}", style="dim"),
        soft_wrap=True,
    )
    if item.text:
        for line in item.text.splitlines()[:EVIDENCE_LINES]:
            print_hanging(console, f"    {one_line(line, 400)}")
    for each in item.answers:
        words = each.words if not each.command and each.words else f"interlock inbox {item.id} {each.name}"
        print_hanging(console, f"    {each.name}: {each.does}")
        if each.here or each.words:
            console.print(Text(f"      {words}", style="dim"), soft_wrap=True)
    if any(each.name == "dismiss" for each in item.answers):
        console.print(Text(f"    more: interlock show {one_line(item.run_id)}", style="dim"), soft_wrap=True)
