"""Assembles a screen monitor: capture, layers of evidence, input and orchestration for one display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..config import Gui, ModelInfo
from .accessibility import Accessibility, NoAccessibility
from .analyzer.auto import Analyzer, create_analyzer
from .analyzer.budget import QuestionBudget
from .analyzer.evidence import Layer, ScreenSituation
from .analyzer.layers import AccessibilityLayer, DebugPortLayer, ServerLayer, WindowLayer
from .analyzer.local import LocalAnalyzer
from .debug_port import DebugPort
from .editor.vscode import VSCodeController
from .input import InputBackend, InputError
from .orchestrator import InterventionOrchestrator
from .recovery import RecoveryExecutor
from .screen_supervision import NoRun
from .screenshot.backend import create_screenshot_backend
from .windows import DisplayGone, WindowSystem


class Screen(Struct, frozen=True, kw_only=True):
    """What a monitor can reach of a display; everything but the display itself may be missing."""

    display: str | None
    windows: WindowSystem | None = None
    keyboard: InputBackend | None = None
    controller: VSCodeController | None = None
    accessibility: Accessibility | None = None
    debug: DebugPort | None = None
    server_responds: Callable[[], bool] | None = None


class ScreenMonitor(Struct, frozen=True):
    """The parts that monitor a screen, and the budget for its model calls."""

    orchestrator: InterventionOrchestrator
    local: LocalAnalyzer
    budget: QuestionBudget

    def follow(self, situation: Callable[[], ScreenSituation]) -> None:
        """Compare the screen with the situation that a replay reports."""
        self.orchestrator.situation = situation
        self.local.live = situation


def assemble(
    screen: Screen,
    config: Gui,
    *,
    run: NoRun | None = None,
    extra_layers: Sequence[Layer] = (),
    window_id: int | str | None = None,
    expect_editor: bool = True,
    pictures: Path | None = None,
    more_models: Sequence[ModelInfo] = (),
) -> ScreenMonitor:
    """A monitor for a display. `expect_editor` is false for screens where no editor has to be in front."""
    layers = (*_layers(screen, expect_editor), *extra_layers)
    local = LocalAnalyzer(layers, editor=expect_editor, blind_spots=_blind_spots(screen))
    on_call = run.record if run is not None else None
    analyzer: Analyzer
    analyzer, budget = create_analyzer(config, local, on_call, more_models)
    backend = create_screenshot_backend(config, display=screen.display)
    executor = RecoveryExecutor(
        screen.keyboard or _NoKeyboard(), screen.controller, allowed_buttons=config.allowed_buttons
    )
    orchestrator = InterventionOrchestrator(
        config, backend, analyzer, executor, run=run, window_id=window_id, pictures=pictures
    )
    return ScreenMonitor(orchestrator, local, budget)


def _layers(screen: Screen, expect_editor: bool) -> list[Layer]:
    """Every layer that is available, the cheap ones first."""
    layers: list[Layer] = []
    if screen.windows is not None and expect_editor:
        editor = screen.controller
        folder = str(editor.folder) if editor is not None else None
        layers.append(
            WindowLayer(screen.windows, folder, title_shows_state=editor is not None and editor.window() is not None)
        )
    if screen.accessibility is not None:
        behind = screen.controller.is_behind if screen.controller is not None and expect_editor else lambda title: False
        layers.append(AccessibilityLayer(screen.accessibility, behind, lambda: _title(screen.windows)))
    if screen.server_responds is not None:
        layers.append(ServerLayer(screen.server_responds))
    if screen.debug is not None:
        layers.append(DebugPortLayer(screen.debug))
    return layers


def _blind_spots(screen: Screen) -> list[str]:
    """What cannot be observed on this display, and what to install to observe it."""
    spots = []
    if screen.windows is None or screen.windows.window_manager() is None:
        spots.append("which window is in front (no window manager)")
    try:
        if screen.accessibility is None:
            raise NoAccessibility("no accessibility bus")
        screen.accessibility.frames()
    except NoAccessibility as error:
        if "no reply" not in error.what:
            spots.append("dialogs (no accessibility bus)")
    return spots


def _title(windows: WindowSystem | None) -> str:
    """The active window's title."""
    try:
        active = windows.active() if windows is not None else None
    except DisplayGone:
        return ""
    return active.title if active is not None else ""


class _NoKeyboard(InputBackend):
    """A display on which nothing can be typed: recoveries fail and say so."""

    name = "none"

    def _refuse(self, *_: Any, **__: Any) -> None:
        raise InputError("nothing can be typed on this display")

    type_text = key_press = key_combo = mouse_move_click = activate_window = _refuse

    def search_window(self, name: str) -> int | None:
        return None
