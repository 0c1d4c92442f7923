"""interlock gui analyze: what pictures of a screen show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import print_json, say_error

if TYPE_CHECKING:
    from ..gui.analyzer import AnalysisResult


def analyze(
    images: Annotated[list[Path], typer.Argument(help="Screenshots.", metavar="IMAGE...")],
    expect: Annotated[str | None, typer.Option("--expect", help="The file that should be open.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help='{"images": [{"image", "status", "confidence", ...}]}')] = False,
) -> None:
    """Classify screenshots by their pixels: normal, dialog, wrong_file, error, terminal, unknown.

    Example: interlock gui analyze screen.png --json
    """
    from ..config import load
    from ..core import BadInput
    from ..gui import PictureJudge, read_picture

    judge = PictureJudge(load(config).gui, expect)
    judged: list[tuple[Path, AnalysisResult]] = []
    bad = 0
    for path in images:
        try:
            judged.append((path, judge.judge(read_picture(path))))
        except BadInput as error:
            bad += 1
            say_error(str(error))
    if json:
        print_json({"images": [_plain(path, result) for path, result in judged]})
    elif judged:
        _print_table(judged)
    raise typer.Exit(2 if bad else 0)


def _plain(path: Path, result: AnalysisResult) -> dict[str, object]:
    import msgspec

    return {"image": str(path), "problem": result.is_problem, **msgspec.to_builtins(result)}


def _print_table(judged: list[tuple[Path, AnalysisResult]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from .console import Console
    from .gui_text import STATUS

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("IMAGE", "STATUS", "SURE"):
        table.add_column(column, no_wrap=True)
    table.add_column("SEES")
    table.add_column("WOULD DO")
    for path, result in judged:
        status = result.status.value
        table.add_row(
            path.name,
            Text(status, style=STATUS.get(status, "")),
            f"{result.confidence:.2f}",
            Text(result.description),
            Text("; ".join(result.recovery_actions)),
        )
    Console(highlight=False).print(table)
