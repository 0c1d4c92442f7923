"""interlock report: one run as one self-contained file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..core import BadInput, write_output
from .app import new_app
from .completion import offer_runs
from .output import say

app = new_app()

FORMATS = ("html", "md", "json")


@app.command()
def report(
    run: Annotated[str, Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    output: Annotated[
        str | None, Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output.")
    ] = None,
    form: Annotated[
        str | None, Option("--format", metavar="FORMAT", help="html, md or json; default: by the file's extension.")
    ] = None,
    diffs: Annotated[bool, Option("--diffs/--no-diffs", help="Include file changes.")] = True,
) -> None:
    """Write what happened, why and what it cost into one file that you can share.

    Example: interlock report my-run --output report.html
    """
    from .runs import the_store

    made = choose_format(form, output)
    folder = the_store().find(run)
    target: Path | None = Path(output or f"interlock-{folder.run_id}.{made}")
    if output == "-" or (output is None and not sys.stdout.isatty()):
        target = None
    if target is not None and not target.parent.is_dir():
        raise BadInput(
            f"the folder {target.parent} does not exist", where=str(target), todo="Create it, or choose another."
        )

    from ..config import load
    from ..report import RunChanges, Story, gather, read_changes, render

    with Story.open(folder) as story:
        config, workspace = load(), story.spec.workspace
        changes = read_changes(story.checkpoints, workspace, config) if diffs else RunChanges(note="Omitted.")
        album = config.gui.screenshot_dir
        text = render(gather(story, changes, albums=(Path(album).expanduser(),) if album else ()), made)
    if target is None:
        sys.stdout.write(text)
        return
    write_output(target, text)
    say(f"{target}: {len(text.encode()) / 1024:,.0f} KB")


def choose_format(form: str | None, output: str | None) -> str:
    """The requested format, or the one of the file's extension."""
    if form is None:
        ending = Path(output or "").suffix.lstrip(".").lower()
        return {"md": "md", "markdown": "md", "json": "json"}.get(ending, "html")
    if form not in FORMATS:
        raise BadInput(f"there is no format {form!r}", todo=f"Choose one of {', '.join(FORMATS)}")
    return form
