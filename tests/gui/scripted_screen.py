"""A screen, verdicts and recovery steps by script, and an orchestrator over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from interlock.gui import (
    AnalysisResult,
    InterventionConfig,
    InterventionOrchestrator,
    RecoveryResult,
    ReplayStatus,
    Screenshot,
    ScreenshotBackend,
)

NORMAL = AnalysisResult(ReplayStatus.NORMAL, 0.95, "fine")


DIALOG = AnalysisResult(ReplayStatus.DIALOG_BLOCKING, 0.95, "a dialog", ["press Escape"])


WRONG = AnalysisResult(ReplayStatus.WRONG_FILE, 0.95, "b.py", ["open_file a.py"])


UNSURE = AnalysisResult(ReplayStatus.DIALOG_BLOCKING, 0.84, "perhaps a dialog", ["press Escape"])


UNKNOWN = AnalysisResult(ReplayStatus.UNKNOWN, 0.0, "no idea")


class Screen(ScreenshotBackend):
    """A screen that is white, or that cannot be captured."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.captured, self.fails = 0, fails

    def capture_screen(self) -> Screenshot:
        self.captured += 1
        if self.fails:
            raise self.fails
        return Screenshot.of_image(Image.new("RGB", (400, 300), "white"), 1000.0 + self.captured)

    def capture_window(self, window_id: int | str) -> Screenshot:
        return self.capture_screen()

    def is_available(self) -> bool:
        return True


class Verdicts:
    """Gives these verdicts in turn, the last one for ever."""

    def __init__(self, *verdicts: AnalysisResult | Exception) -> None:
        self._verdicts, self.contexts = list(verdicts), list[Any]()

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        self.contexts.append(context)
        verdict = self._verdicts.pop(0) if len(self._verdicts) > 1 else self._verdicts[0]
        if isinstance(verdict, Exception):
            raise verdict
        return verdict


class Steps:
    """Writes the actions down; they work or not."""

    def __init__(self, *, works: bool = True) -> None:
        self.executed: list[list[str]] = []
        self._works = works

    def execute(self, actions: list[str]) -> RecoveryResult:
        self.executed.append(actions)
        return RecoveryResult(True, "; ".join(actions)) if self._works else RecoveryResult(False, "", "no such key")


def orchestrator(
    tmp_path: Path,
    *verdicts: AnalysisResult | Exception,
    steps: Steps | None = None,
    screen: Screen | None = None,
    **keys: Any,
) -> InterventionOrchestrator:
    extra = {key: keys.pop(key) for key in ("clock", "pace", "run", "window_id", "pictures") if key in keys}
    config = InterventionConfig(**({"screenshot_dir": str(tmp_path), "min_cooldown_seconds": 0} | keys))
    return InterventionOrchestrator(config, screen or Screen(), Verdicts(*verdicts), steps or Steps(), **extra)
