"""interlock gui verify: the files on disk against what a session meant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import print_json


def verify(
    session: Annotated[Path, typer.Argument(help="The session, a JSON file.")],
    workspace: Annotated[Path, typer.Option("--workspace", help="The folder of the replay.")],
    strict: Annotated[
        bool | None,
        typer.Option(
            "--strict/--no-strict", help="Require equality apart from line endings; default: from the configuration."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help='{"success", "summary", "comparisons": [...]}')] = False,
) -> None:
    """Compare a workspace with the expected result of a session: exit status 0 if it matches, 1 if it differs.

    The original files come from the records of the replay; without them, files start empty.

    Example: interlock gui verify demo.json --workspace . --strict
    """
    from ..config import load
    from ..core import BadInput
    from ..gui import read_session
    from ..gui.replay import SessionStore
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
