"""Judging pictures from files: what the pixels alone tell."""

from __future__ import annotations

from pathlib import Path

from ..config import Gui
from ..core import BadInput
from .analyzer.factory import create_analyzer
from .analyzer.local import LocalAnalyzer
from .analyzer.result import AnalysisResult, ScreenSituation
from .screenshot.screenshot import Screenshot


def read_picture(path: Path) -> Screenshot:
    """A picture from a file; BadInput if it is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return Screenshot.of_image(image.convert("RGB"), path.stat().st_mtime)
    except FileNotFoundError:
        raise BadInput("the file does not exist", where=str(path)) from None
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise BadInput(f"not a readable image ({error})", where=str(path)) from None


class PictureJudge:
    """Judges one picture after the other, each on its own."""

    def __init__(self, config: Gui, expected_file: str | None = None) -> None:
        self._config, self._situation = config, ScreenSituation(expected_file)

    def judge(self, picture: Screenshot) -> AnalysisResult:
        """The verdict of the configured analyzer; a fresh one, for what was seen before must not count."""
        analyzer, _ = create_analyzer(self._config, LocalAnalyzer())
        return analyzer.analyze(picture, self._situation)
