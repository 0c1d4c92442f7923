"""interlock gui verify: the files on disk against what a session meant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import print_json


def verify(
    session: Annotated[Path, typer.Argument(help="The session, a JSON file.")],
    workspace: Annotated[Path, typer.Option("--workspace", help="The folder that it was replayed into.")],
    strict: Annotated[
        bool | None, typer.Option("--strict/--no-strict", help="Want equality after line ends; default: configured.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help='{"success", "summary", "comparisons": [...]}')] = False,
) -> None:
    """Compare a workspace with what a session meant: exit status 0 if all is right, 1 if something differs.

    What files were before the replay is known from its own records; without them, files start empty.

    Example: interlock gui verify demo.json --workspace . --strict
    """
    from ..config import load
    from ..core import BadInput
    from ..gui.replay.store import SessionStore
    from ..gui.session import read_session
    from ..gui.verifier import FileVerifier

    settings = load(config).gui.verification
    script = read_session(session)
    if not workspace.is_dir():
        raise BadInput("the workspace is not a folder", where=str(workspace))
    verifier = FileVerifier(
        workspace,
        settings.similarity_threshold,
        partial=settings.partial_threshold,
        strict=settings.strict if strict is None else strict,
        originals=SessionStore(workspace, script.session_id).originals(),
    )
    result = verifier.verify_session(script)
    if json:
        print_json(result)
    else:
        from .console import Console
        from .gui_text import print_verification

        print_verification(Console(highlight=False, soft_wrap=True), result)
    raise typer.Exit(0 if result.success else 1)
