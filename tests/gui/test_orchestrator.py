"""A check captures, saves, analyses, decides, recovers, looks again, and leaves exactly one event."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from structlog.testing import capture_logs

from interlock.core import ManualClock
from interlock.gui import (
    AnalysisResult,
    InterventionConfig,
    InterventionEvent,
    InterventionOrchestrator,
    MSSBackend,
    RecoveryResult,
    ReplayStatus,
    Screenshot,
    ScreenshotBackend,
)
from interlock.gui.analyzer import Situation
from interlock.gui.desktop.display import VirtualDisplay
from interlock.gui.desktop.programs import Programs
from interlock.gui.run import NoRun

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


def test_a_normal_screen_needs_nothing(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL, clock=ManualClock(5.0))
    event = watch.check_now({"expected_file": "a.py"})
    assert event == InterventionEvent(
        5.0, ReplayStatus.NORMAL, 0.95, [], None, event.screenshot_path, "none", "", "fine"
    )
    assert watch.analyzer.contexts == [{"expected_file": "a.py"}]  # type: ignore[attr-defined]
    assert watch.recovery_executor.executed == []  # type: ignore[attr-defined]
    assert watch.get_events() == [event]


def test_the_picture_is_saved(tmp_path: Path) -> None:
    event = orchestrator(tmp_path, NORMAL).check_now()
    assert event.screenshot_path is not None
    assert Path(event.screenshot_path).parent == tmp_path
    assert orchestrator(tmp_path, NORMAL, save_screenshots=False).check_now().screenshot_path is None


def test_a_dialog_is_recovered_when_the_screen_is_normal_afterwards(tmp_path: Path) -> None:
    steps, screen = Steps(), Screen()
    event = orchestrator(tmp_path, DIALOG, NORMAL, steps=steps, screen=screen).check_now()
    assert steps.executed == [["press Escape"]]
    assert screen.captured == 2
    assert (event.outcome, event.recovery_success, event.actions_taken) == ("recovered", True, ["press Escape"])
    assert event.status is ReplayStatus.DIALOG_BLOCKING


def test_keys_that_were_sent_are_no_success_while_the_dialog_stays(tmp_path: Path) -> None:
    steps = Steps()
    event = orchestrator(tmp_path, DIALOG, steps=steps).check_now()
    assert (event.outcome, event.recovery_success) == ("failed", False)
    assert event.reason == "afterwards: dialog, a dialog"
    assert len(steps.executed) == 1


class Patient(Verdicts):
    """Verdicts that can wait for a normal screen: so many waits are in vain."""

    def __init__(self, *verdicts: AnalysisResult | Exception, in_vain: int) -> None:
        super().__init__(*verdicts)
        self.in_vain, self.heard = in_vain, list[tuple[list[str], bool]]()

    def settle(self, capture: Callable[[], object], context: object, give_up: Callable[[], bool]) -> bool:
        assert capture() is not None
        self.in_vain -= 1
        return self.in_vain < 0

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        self.heard.append((list(result.recovery_actions), helped))


CLOSE = AnalysisResult(ReplayStatus.DIALOG_BLOCKING, 0.95, "a dialog", ["close_dialog"])


def test_a_click_that_was_not_heard_is_followed_by_other_steps_in_the_same_check(tmp_path: Path) -> None:
    watch, patient = orchestrator(tmp_path, NORMAL), Patient(CLOSE, DIALOG, NORMAL, in_vain=1)
    watch.analyzer = patient
    event = watch.check_now()
    assert (event.outcome, event.actions_taken) == ("recovered", ["close_dialog", "press Escape"])
    assert patient.heard == [(["close_dialog"], False), (["press Escape"], True)]


def test_steps_that_never_help_are_a_failed_recovery_after_a_few_rounds(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.analyzer = Patient(*[CLOSE, DIALOG] * 5, in_vain=99)
    event = watch.check_now()
    assert (event.outcome, event.actions_taken) == ("failed", ["close_dialog", "press Escape", "close_dialog"])


def test_a_trouble_behind_the_first_is_dealt_with_in_the_same_check(tmp_path: Path) -> None:
    steps = Steps()
    event = orchestrator(tmp_path, DIALOG, WRONG, NORMAL, steps=steps).check_now()
    assert event.outcome == "recovered"
    assert event.actions_taken == ["press Escape", "open_file a.py"]


def test_a_step_that_fails_is_a_failed_recovery(tmp_path: Path) -> None:
    event = orchestrator(tmp_path, DIALOG, NORMAL, steps=Steps(works=False)).check_now()
    assert (event.outcome, event.recovery_success, event.reason) == ("failed", False, "no such key")


@pytest.mark.parametrize(
    ("verdict", "outcome", "reason"),
    [
        (UNKNOWN, "none", ""),
        (UNSURE, "skipped", "confidence 0.84 is below 0.85"),
        (AnalysisResult(ReplayStatus.ERROR_STATE, 0.9, "an error"), "no_action", "no steps are known"),
    ],
)
def test_what_is_not_acted_on_says_why(tmp_path: Path, verdict: AnalysisResult, outcome: str, reason: str) -> None:
    steps = Steps()
    event = orchestrator(tmp_path, verdict, steps=steps).check_now()
    assert (event.outcome, event.reason, event.recovery_success) == (outcome, reason, None)
    assert steps.executed == []


def test_the_threshold_itself_is_enough(tmp_path: Path) -> None:
    sure = AnalysisResult(ReplayStatus.DIALOG_BLOCKING, 0.85, "", ["press Escape"])
    assert orchestrator(tmp_path, sure, NORMAL).check_now().outcome == "recovered"


def test_a_second_recovery_waits_for_the_cooldown(tmp_path: Path) -> None:
    clock = ManualClock()
    watch = orchestrator(tmp_path, DIALOG, NORMAL, DIALOG, DIALOG, NORMAL, clock=clock, min_cooldown_seconds=60)
    assert watch.check_now().outcome == "recovered"
    clock.advance(59.9)
    skipped = watch.check_now()
    assert (skipped.outcome, skipped.reason) == ("skipped", "cooldown: 0.1 s left")
    clock.advance(0.1)
    assert watch.check_now().outcome == "recovered"


def test_the_critical_callback_comes_once_after_max_retries(tmp_path: Path) -> None:
    calls: list[int] = []
    watch = orchestrator(tmp_path, DIALOG, max_retries=3)
    watch.set_critical_failure_callback(lambda: calls.append(1))
    for expected in (0, 0, 1, 1, 1):
        watch.check_now()
        assert len(calls) == expected


@pytest.mark.parametrize("between", [(NORMAL,), (DIALOG, NORMAL)], ids=["normal check", "success"])
def test_a_normal_check_or_a_success_resets_the_count(tmp_path: Path, between: tuple[AnalysisResult, ...]) -> None:
    calls: list[int] = []
    failed = (DIALOG, DIALOG)
    watch = orchestrator(tmp_path, *failed, *failed, *between, *failed, *failed, max_retries=3)
    watch.set_critical_failure_callback(lambda: calls.append(1))
    for _ in range(5):
        watch.check_now()
    assert calls == []


def test_a_capture_that_fails_is_an_event_and_asks_nobody(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL, screen=Screen(fails=OSError("no screen")))
    with capture_logs() as logs:
        event = watch.check_now()
    assert (event.status, event.outcome) == (ReplayStatus.UNKNOWN, "none")
    assert "no screen" in event.reason
    assert watch.analyzer.contexts == []  # type: ignore[attr-defined]
    assert any(entry["log_level"] == "error" for entry in logs)


def test_an_analyzer_that_raises_is_an_event(tmp_path: Path) -> None:
    event = orchestrator(tmp_path, RuntimeError("boom")).check_now()
    assert event.status is ReplayStatus.UNKNOWN
    assert "boom" in event.description


def test_disabled_means_no_look_and_no_thread(tmp_path: Path) -> None:
    screen = Screen()
    watch = orchestrator(tmp_path, DIALOG, screen=screen, enabled=False)
    watch.start()
    event = watch.check_now()
    assert (event.outcome, event.reason, screen.captured) == ("skipped", "disabled", 0)
    assert watch._thread is None
    watch.stop()


def test_events_are_given_as_a_copy(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.check_now()
    watch.get_events().clear()
    assert len(watch.get_events()) == 1


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
    assert over.wait(10)
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


def test_stop_returns_within_five_seconds_though_the_analyzer_hangs(tmp_path: Path) -> None:
    release, entered = threading.Event(), threading.Event()

    class Hanging(Verdicts):
        def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
            entered.set()
            release.wait(60)
            return DIALOG

    steps = Steps()
    config = InterventionConfig(screenshot_dir=str(tmp_path), interval_seconds=0.01)
    watch = InterventionOrchestrator(config, Screen(), Hanging(DIALOG), steps)
    watch.start()
    assert entered.wait(10)
    started = time.monotonic()
    watch.stop()
    took = time.monotonic() - started
    release.set()
    assert took < 5
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


def test_the_live_situation_goes_to_the_analyzer(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.situation = lambda: Situation("src/a.py", typing=True)
    watch.check_now("Just finished: b.py")
    assert watch.analyzer.contexts == [Situation("src/a.py", "Just finished: b.py", True)]  # type: ignore[attr-defined]


def test_every_event_goes_to_the_runs_journal(tmp_path: Path) -> None:
    records: list[tuple[str, object]] = []

    class Journal(NoRun):
        def record(self, kind: str, body: object) -> None:
            records.append((kind, body))

        def gate(self) -> Any:
            return "proceed"

    watch = orchestrator(tmp_path, DIALOG, NORMAL, run=Journal())
    event = watch.check_now()
    assert records == [("gui_event", event)]


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


def test_the_configuration_may_be_a_mapping(tmp_path: Path) -> None:
    watch = InterventionOrchestrator({"enabled": False}, Screen(), Verdicts(NORMAL), Steps())
    assert watch.check_now().reason == "disabled"
