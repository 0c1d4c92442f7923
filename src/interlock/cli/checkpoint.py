"""interlock checkpoint (create, show, diff, gc, verify) and checkpoints, which lists those of a workspace."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import asdict
from typer import Argument, Option

from .app import new_app
from .completion import offer_runs
from .output import check_text, many, print_json, say, table_console

app = new_app("Create, inspect and maintain checkpoints of the current workspace.")

AsJson = Annotated[bool, Option("--json", help="One JSON document.")]
Wanted = Annotated[str, Argument(help="A checkpoint's id, short id (c12) or unique prefix.")]


@app.command()
def create(
    label: Annotated[str, Option(help="A label to find it by.")] = "",
    json: Annotated[bool, Option("--json", help='{"id", "label", "time", "files", "bytes", ...}')] = False,
) -> None:
    """Save the workspace as it is now.

    Example: interlock checkpoint create --label "before the upgrade"
    """
    from ..report import size
    from .workspace import open_checkpoints, progress_bar

    check_text("label", label)
    with open_checkpoints() as found, progress_bar("Saving") as progress:
        made = found.create(label, cause="by hand", progress=progress)
    if json:
        print_json(asdict(made))
        return
    say(f"{made.id}: {many(made.files, 'file')}, {size(made.bytes)}")
    for line in made.not_covered:
        say(f"  not covered: {line}")


@app.command()
def show(wanted: Wanted, json: AsJson = False) -> None:
    """Show one checkpoint in full.

    Example: interlock checkpoint show c12
    """
    from .checkpoint_text import print_checkpoint
    from .console import Console
    from .workspace import open_checkpoints

    with open_checkpoints() as found:
        info = found.get(wanted)
    if json:
        print_json(asdict(info))
    else:
        print_checkpoint(Console(highlight=False), info)


@app.command()
def diff(
    a: Annotated[str, Argument(help="A checkpoint.")],
    b: Annotated[str | None, Argument(help="The other checkpoint; default: the current workspace.")] = None,
    patch: Annotated[bool, Option("--patch", help="Show a unified diff.")] = False,
    json: Annotated[bool, Option("--json", help='{"a", "b", "changes": [{"path", "kind", ...}]}')] = False,
) -> None:
    """Show what changed from one checkpoint to another, or to the current workspace.

    Example: interlock checkpoint diff c12 --patch
    """
    from .checkpoint_text import print_changes
    from .console import Console
    from .workspace import open_checkpoints

    with open_checkpoints() as found:
        text = found.patch(a, b) if patch else ""
        changes = [] if patch and not json else found.diff(a, b)
    if json:
        print_json({"a": a, "b": b, "changes": changes} | ({"patch": text} if patch else {}))
    elif patch:
        say(text, nl=False)
    elif changes:
        print_changes(Console(highlight=False), changes, everything=True)
    else:
        say("No difference.")


@app.command()
def gc(json: AsJson = False) -> None:
    """Remove checkpoints that are too old, too many or too large (configuration: checkpoints).

    Example: interlock checkpoint gc
    """
    from ..report import size
    from .workspace import open_checkpoints, progress_bar

    with open_checkpoints() as found, progress_bar("Collecting") as progress:
        swept = found.gc(progress)
    if json:
        print_json(swept)
        return
    freed = size(max(0, swept.bytes_before - swept.bytes_after))
    say(f"Removed {many(len(swept.removed), 'checkpoint')}, kept {swept.kept}; {freed} freed.")
    if not swept.removed and swept.kept > 1:
        say("To remove more, keep fewer: INTERLOCK_CHECKPOINTS__KEEP_COUNT=10 interlock checkpoint gc")


@app.command()
def verify(json: AsJson = False) -> None:
    """Read everything that is stored and list what is damaged; exit status 1 if something is.

    Example: interlock checkpoint verify
    """
    from ..report import size
    from .workspace import open_checkpoints, progress_bar

    with open_checkpoints() as found, progress_bar("Reading") as progress:
        audited = found.verify(progress)
    if json:
        print_json(audited)
    else:
        say(
            f"Read {many(audited.checkpoints, 'checkpoint')}, {many(audited.contents, 'content')}, "
            f"{size(audited.bytes)}: {many(len(audited.problems), 'problem')}."
        )
        for problem in audited.problems:
            say(f"  {problem.checkpoint} {problem.path}: {problem.what}")
    if audited.problems:
        raise SystemExit(1)


list_app = new_app()


@list_app.command()
def checkpoints(
    run: Annotated[
        str | None, Argument(help="Only this run's; default: all of the current workspace.", autocompletion=offer_runs)
    ] = None,
    json: Annotated[bool, Option("--json", help='{"workspace": ..., "checkpoints": [{"id", ...}]}')] = False,
) -> None:
    """List checkpoints, newest first (with --json oldest first).

    Example: interlock checkpoints
    """

    from .checkpoint_text import print_checkpoints
    from .workspace import open_checkpoints, resolve_run

    wanted = resolve_run(run)
    with open_checkpoints(run) as found:
        infos = [info for info in found.list() if wanted is None or info.run_id == wanted]
        if json:
            print_json({"workspace": str(found.workspace), "checkpoints": [asdict(info) for info in infos]})
        elif infos:
            print_checkpoints(table_console(), infos)
        else:
            say(f"No checkpoints of {found.workspace} yet. Create one with: interlock checkpoint create")
