"""interlock mute: a false alarm stays quiet from now on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.typed import from_json
from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def mute(
    finding: Annotated[str | None, typer.Argument(help="An issue's id, or its `key` in the details.")] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="The run that the issue's id is from; default: the newest.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Let it be heard again.")] = False,
    json: Annotated[bool, typer.Option("--json", help='{"project", "muted": [...]}')] = False,
) -> None:
    """Mark a finding as a false alarm for the project in this folder. Without a finding, list what is quiet.

    Example: interlock mute "loop:bash:1f3a" --remove
    """
    from ..runtime.mutes import read_mutes, write_mutes

    project = Path.cwd()
    muted = read_mutes(project)
    if finding is not None:
        key = _key_of(finding, run)
        muted = muted - {key} if remove else muted | {key}
        write_mutes(project, muted)
    if json:
        print_json({"project": str(project), "muted": sorted(muted)})
    elif finding is not None:
        typer.echo(f"{key} is {'heard again' if remove else 'quiet from now on'} in {project}.")
    else:
        typer.echo("\n".join(sorted(muted)) or f"Nothing is muted in {project}.")


def _key_of(finding: str, run: str | None) -> str:
    """The key of a finding: the one given, or that of the issue with this id in a run."""

    from ..core import Issue
    from ..detect import finding_key
    from ..journal import JournalReader
    from .runs import the_store

    store = the_store()
    folders = [store.find(run)] if run is not None else store.folders()[:1]
    for folder in folders:
        with JournalReader.open(folder) as reader:
            for record in reader.read(kinds=frozenset(("issue",))):
                issue = from_json(record.body, Issue)
                if issue.id == finding:
                    return finding_key(issue)
    return finding
