"""Monitors any display without a replay: for a computer-use agent, for a kiosk."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog
from msgspec import Struct
from msgspec.structs import replace

from ..config import Config
from ..core import BadInput
from ..journal_records import InterventionEvent
from .assembly import assemble
from .open_editor import interrupted, open_display
from .screen_supervision import open_run

log = structlog.get_logger("interlock.gui")


class WatchOptions(Struct, frozen=True, kw_only=True):
    """What to monitor, and how."""

    display: str | None = None
    window: str | None = None
    interval_s: float | None = None
    checks: int | None = None
    observe: bool = False
    editor: bool | None = None
    name: str = "watch"


def watch_display(config: Config, options: WatchOptions, show: Callable[[InterventionEvent], None]) -> None:
    """Check periodically until stopped; every check is an event of a run, which can be paused and cancelled."""
    window = _window_id(options.window)
    settings = config.gui
    if options.interval_s is not None:
        settings = replace(settings, interval_seconds=options.interval_s)
    if not settings.enabled:
        raise BadInput("gui.enabled is false: nothing is monitored", todo="Set it to true.")
    over = threading.Event()
    with open_display(options.display) as screen:
        has_editor = screen.controller is not None and screen.controller.window() is not None
        task = f"watch {screen.display or 'the screen'}"
        run = open_run(replace(config, gui=settings), name=options.name, task=task, workspace=None)
        try:
            watch = assemble(
                screen,
                settings,
                run=run,
                window_id=window,
                expect_editor=has_editor if options.editor is None else options.editor,
                pictures=run.pictures,
                more_models=config.models,
            )
            watch.orchestrator.on_event, watch.orchestrator.observe = show, options.observe
            run.keyboard.on_stop = lambda reason: over.set()
            with interrupted(lambda reason: over.set()):
                left = options.checks
                while not over.is_set() and left != 0:
                    if run.gate() == "stop":
                        break
                    watch.orchestrator.check_now()
                    run.leave()
                    left = left - 1 if left is not None else None
                    if left != 0:
                        over.wait(settings.interval_seconds)
            watch.orchestrator.stop()
            watch.orchestrator.screenshot_backend.close()
            if watch.orchestrator.errors:
                log.warning("parts of the monitor raised exceptions", **watch.orchestrator.errors)
            run.end(True, f"{watch.orchestrator.checks} checks")
        finally:
            run.close()


def _window_id(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise BadInput(f"{text!r} is not a window id", todo="xdotool getactivewindow prints one.") from None
