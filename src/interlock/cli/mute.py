"""interlock mute: silence a false alarm."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..core import BadInput, InterlockError, from_json
from .app import new_app
from .output import print_json, say, say_error

app = new_app()

ISSUE_ID = re.compile(r"[^:]+:\d+:[0-9a-f]{8}")
"""The format of an issue's id: it names one finding of one run."""


@app.command()
def mute(
    finding: Annotated[str | None, Argument(help="An issue's id, its `key` in the details, or an issue type.")] = None,
    run: Annotated[str | None, Option(help="The run that the issue's id is from; default: any.")] = None,
    remove: Annotated[bool, Option("--remove", help="Unmute it.")] = False,
    json: Annotated[bool, Option("--json", help='{"project", "muted": [...]}')] = False,
) -> None:
    """Mark a finding as a false alarm for the project in this folder. Without a finding, list what is muted.

    Example: interlock mute "loop:bash:1f3a" --remove
    """
    from ..contain import refuse_inside
    from ..runtime import read_mutes, write_mutes

    project = Path.cwd()
    muted = read_mutes(project)
    if finding is not None:
        refuse_inside("mute a finding")
        key = _muted_key(finding, run, muted) if remove else _key_of(finding, run)
        muted = muted - {key} if remove else muted | {key}
        write_mutes(project, muted)
    if json:
        print_json({"project": str(project), "muted": sorted(muted)})
    elif finding is not None:
        say(f"{key} {'unmuted' if remove else 'muted'} in {project}.")
    else:
        say("\n".join(sorted(muted)) or f"Nothing is muted in {project}.")


def _key_of(finding: str, run: str | None) -> str:
    """The key to mute: of the issue with this id, or a given key, or an issue type for all of its findings."""
    from ..detect import issue_types

    seen = _seen(run)
    if finding in seen:
        return seen[finding]
    keys = set(seen.values())
    types = issue_types() | {key.partition(":")[0] for key in keys}
    if finding in keys | types:
        return finding
    kind, _, rest = finding.partition(":")
    if kind in types and rest and finding.isprintable() and not ISSUE_ID.fullmatch(finding):
        # Scanning a recorded trace leaves no run.
        say_error(f"no run has shown {finding} so far; it will be muted if it occurs.")
        return finding
    raise BadInput(f"{finding!r} is neither a finding nor an issue type", todo=_nearest(finding, keys | types, types))


def _muted_key(finding: str, run: str | None, muted: frozenset[str]) -> str:
    """The key to unmute; BadInput if it is not muted."""
    key = finding if finding in muted else _seen(run).get(finding, finding)
    if key not in muted:
        raise BadInput(f"{finding!r} is not muted here", todo=_nearest(finding, muted, muted))
    return key


def _seen(run: str | None) -> dict[str, str]:
    """The key of every issue by its id, in one run or in all; the newest run wins if two have the same id."""
    from ..core import Issue
    from ..detect import finding_key
    from ..journal import JournalReader
    from .runs import the_store

    store = the_store()
    seen: dict[str, str] = {}
    for folder in [store.find(run)] if run is not None else store.folders():
        # Skip runs that cannot be read.
        with suppress(InterlockError), JournalReader.open(folder) as reader:
            for record in reader.read(kinds=frozenset(("issue",))):
                issue = from_json(record.body, Issue)
                seen.setdefault(issue.id, finding_key(issue))
    return seen


def _nearest(word: str, words: Collection[str], listed: Collection[str]) -> str:
    from ..config import nearest

    found = nearest(word, words)
    meant = f"Did you mean {found}? " if found else ""
    return f"{meant}Known: {', '.join(sorted(listed)) or 'nothing is muted here'}"
