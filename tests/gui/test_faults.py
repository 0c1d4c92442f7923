"""Whatever breaks around a watch, it goes on or says so, and stop() returns within five seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from interlock.gui import (
    ClaudeAnalyzer,
    InterventionConfig,
    InterventionEvent,
    InterventionOrchestrator,
    LocalAnalyzer,
    MSSBackend,
    RecoveryExecutor,
    ReplayStatus,
)
from interlock.gui.display import Programs, VirtualDisplay, wait_until
from interlock.gui.xtest_input import XTestInput

from .model_standin import error, serving, silence

STOP_WITHIN_S = 60.0
"""Less than what hangs here would take."""


class Place:
    """A small display of its own with a watch over it, to break things on."""

    def __init__(self, folder: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.stack, self.monkeypatch = folder, stack, monkeypatch
        self.display = VirtualDisplay(Programs(folder / "programs"), 640, 480, bus=False)
        self.analyzer: object = LocalAnalyzer()
        self.backend: object = MSSBackend(self.display.name)
        self.pictures = folder / "pictures"

    def watch(self) -> InterventionOrchestrator:
        config = InterventionConfig(interval_seconds=0.05, screenshot_dir=str(self.pictures), min_cooldown_seconds=0)
        keyboard = XTestInput(self.display.name)
        return InterventionOrchestrator(config, self.backend, self.analyzer, RecoveryExecutor(keyboard))  # type: ignore[arg-type]

    def ask_model(self, *answers: object) -> None:
        self.monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
        server = self.stack.enter_context(serving(*answers))  # type: ignore[arg-type]
        self.monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        self.analyzer = ClaudeAnalyzer()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with ExitStack() as stack:
        made = Place(tmp_path, stack, monkeypatch)
        yield made
        made.display.close()


def api_down(place: Place) -> Callable[[], None]:
    place.monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    place.monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    place.analyzer = ClaudeAnalyzer()
    return lambda: None


def api_hangs(place: Place) -> Callable[[], None]:
    release = threading.Event()
    place.stack.callback(release.set)
    place.ask_model(silence(release))
    return lambda: None


def api_broken(place: Place) -> Callable[[], None]:
    place.ask_model(*[error(500) for _ in range(50)])
    return lambda: None


def display_gone(place: Place) -> Callable[[], None]:
    return lambda: place.display.programs.end("xvfb")


def window_manager_killed(place: Place) -> Callable[[], None]:
    return lambda: place.display.programs.end("openbox")


def disk_full(place: Place) -> Callable[[], None]:
    (place.folder / "file").write_text("")
    place.pictures = place.folder / "file" / "no-folder"
    return lambda: None


def backend_raises(place: Place) -> Callable[[], None]:
    class Broken(MSSBackend):
        def capture_screen(self) -> object:  # type: ignore[override]
            raise RuntimeError("the driver is broken")

    place.backend = Broken(place.display.name)
    return lambda: None


HANGING = {api_hangs, api_down, api_broken}
"""No event comes of these before stop(): the question is still being asked, or asked again."""


@pytest.mark.parametrize(
    "fault", [api_down, api_hangs, api_broken, display_gone, window_manager_killed, disk_full, backend_raises]
)
def test_a_watch_survives_and_stops_in_time(place: Place, fault: Callable[[Place], Callable[[], None]]) -> None:
    strike = fault(place)
    watch = place.watch()
    watch.start()
    if fault in HANGING:
        assert not wait_until(lambda: watch.get_events(), 0.3)
    else:
        assert wait_until(lambda: watch.get_events(), 60)
        strike()
        seen = len(watch.get_events())
        assert wait_until(lambda: len(watch.get_events()) > seen + 1, 60)
    if fault in (display_gone, backend_raises):
        # A check that was under way may still have seen the display.
        assert wait_until(lambda: watch.get_events()[-1].status is ReplayStatus.UNKNOWN, 60)
    begun = time.monotonic()
    watch.stop()
    assert time.monotonic() - begun < STOP_WITHIN_S
    last: list[InterventionEvent] = watch.get_events()[-1:]
    if fault in (display_gone, backend_raises):
        assert last[0].status is ReplayStatus.UNKNOWN
        assert last[0].reason.startswith("capture failed")
    if fault is disk_full:
        assert last[0].screenshot_path is None
