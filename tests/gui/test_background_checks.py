"""Checks in the background: at their interval, one at a time, at safe points, and whatever breaks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from interlock.gui import (
    AnalysisResult,
    InterventionConfig,
    InterventionOrchestrator,
    MSSBackend,
    ReplayStatus,
    Screenshot,
)
from interlock.gui.display import Programs, VirtualDisplay

from .scripted_screen import DIALOG, NORMAL, Screen, Steps, Verdicts, orchestrator


def paced(times: int) -> tuple[Callable[[float], bool], list[float], threading.Event]:
    """A pace that lets a number of checks through at once, and then stops."""
    asked: list[float] = []
    over = threading.Event()

    def pace(seconds: float) -> bool:
        asked.append(seconds)
        if len(asked) > times:
            over.set()
            return True
        return False

    return pace, asked, over


def test_checks_run_in_the_background_at_the_interval(tmp_path: Path) -> None:
    pace, asked, over = paced(3)
    watch = orchestrator(tmp_path, NORMAL, pace=pace, interval_seconds=600)
    watch.start()
    assert over.wait(150)
    watch.stop()
    assert asked == [600] * 4
    assert len(watch.get_events()) == 3


def test_starting_twice_warns(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.start()
    with capture_logs() as logs:
        watch.start()
    watch.stop()
    assert [entry["log_level"] for entry in logs] == ["warning"]


def test_it_can_be_started_again_after_a_stop(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, DIALOG, NORMAL)
    watch.start()
    watch.stop()
    watch.start()
    assert watch.check_now().outcome == "recovered"
    watch.stop()


def test_stop_ends_the_thread(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.start()
    thread = watch._thread
    assert thread is not None
    watch.stop()
    assert not thread.is_alive()


def test_stop_returns_though_the_analyzer_hangs(tmp_path: Path) -> None:
    release, entered, left = threading.Event(), threading.Event(), threading.Event()

    class Hanging(Verdicts):
        def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
            entered.set()
            release.wait(500)
            left.set()
            return DIALOG

    steps = Steps()
    config = InterventionConfig(screenshot_dir=str(tmp_path), interval_seconds=0.01)
    watch = InterventionOrchestrator(config, Screen(), Hanging(DIALOG), steps)
    watch.start()
    assert entered.wait(150)
    watch.stop()
    assert not left.is_set()
    release.set()
    watch.analyzer = Verdicts(NORMAL)
    assert watch.check_now().status is ReplayStatus.NORMAL
    assert steps.executed == []


def test_only_one_check_runs_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    class Slow(Verdicts):
        def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()
            return NORMAL

    config = InterventionConfig(screenshot_dir=str(tmp_path))
    watch = InterventionOrchestrator(config, Screen(), Slow(NORMAL), Steps())
    threads = [threading.Thread(target=watch.check_now) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(watch.get_events()) == 5


def test_a_recovery_happens_at_a_safe_point_or_not_at_all(tmp_path: Path) -> None:
    order: list[str] = []
    steps = Steps()
    watch = orchestrator(tmp_path, DIALOG, NORMAL, steps=steps)

    @contextmanager
    def parked() -> Any:
        order.append(f"parked before {len(steps.executed)}")
        yield True
        order.append(f"released after {len(steps.executed)}")

    watch.safe_point = parked
    watch.check_now()
    assert order == ["parked before 0", "released after 1"]

    @contextmanager
    def busy() -> Any:
        yield False

    refused = orchestrator(tmp_path, DIALOG, steps=steps)
    refused.safe_point = busy
    assert refused.check_now().reason == "the replay did not reach a safe point"
    assert len(steps.executed) == 1


def test_a_full_disk_does_not_end_the_watch(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    event = orchestrator(tmp_path, NORMAL, screenshot_dir=str(tmp_path / "file" / "folder")).check_now()
    assert (event.status, event.screenshot_path) == (ReplayStatus.NORMAL, None)


def test_a_display_that_goes_away_in_mid_watch_ends_nothing(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path / "programs"), 320, 200, manager=False, bus=False)
    watch = InterventionOrchestrator(
        InterventionConfig(screenshot_dir=str(tmp_path)), MSSBackend(display.name), Verdicts(NORMAL), Steps()
    )
    assert watch.check_now().status is ReplayStatus.NORMAL
    display.close()
    event = watch.check_now()
    assert event.status is ReplayStatus.UNKNOWN
    assert "capture failed" in event.reason
    watch.stop()
