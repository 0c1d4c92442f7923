"""The HTML report of a replay, with its pictures and the comparison of its files."""

from __future__ import annotations

from pathlib import Path

from ..config import Config
from ..core import InterlockError
from .output import say_error


def write_report(run_folder: Path, config: Config, target: Path | None) -> Path | None:
    """Write the run's report, into its own folder if nothing else is said; None, and a line on stderr, if it fails."""
    from ..journal import RunFolder
    from ..report import Story, gather, read_changes, render

    page = target or run_folder / "report.html"
    album = config.gui.screenshot_dir
    albums = (Path(album).expanduser(),) if album else ()
    try:
        with Story.open(RunFolder(run_folder)) as story:
            changes = read_changes(story.checkpoints, story.spec.workspace, config)
            page.write_text(render(gather(story, changes, albums=albums), "html"), encoding="utf-8")
    except (InterlockError, OSError) as error:
        say_error(f"the report could not be written ({error})")
        return None
    return page
