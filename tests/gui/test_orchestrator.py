"""A check captures, saves, analyses, decides, recovers, looks again, and leaves exactly one event."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from interlock.core import ManualClock
from interlock.gui import (
    AnalysisResult,
    InterventionEvent,
    InterventionOrchestrator,
    ReplayStatus,
)
from interlock.gui.analyzer import ScreenSituation
from interlock.gui.screen_supervision import NoRun
from interlock.journal_records import RecordBody, kind_of

from .scripted_screen import DIALOG, NORMAL, UNKNOWN, UNSURE, WRONG, Screen, Steps, Verdicts, orchestrator


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


def test_an_event_takes_and_gives_a_datetime_and_a_path_too() -> None:
    moment = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
    event = InterventionEvent(moment, ReplayStatus.NORMAL, screenshot_path=Path("/a/b.jpg"))  # type: ignore[arg-type]
    assert (event.timestamp, event.screenshot_path) == (moment.timestamp(), "/a/b.jpg")
    assert (event.time, event.screenshot) == (moment, Path("/a/b.jpg"))
    decoded = msgspec.json.decode(msgspec.json.encode(event), type=InterventionEvent)
    assert (decoded.time, decoded.screenshot) == (moment, Path("/a/b.jpg"))
    assert InterventionEvent(1.0, ReplayStatus.NORMAL).screenshot is None


def test_events_are_given_as_a_copy(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.check_now()
    watch.get_events().clear()
    assert len(watch.get_events()) == 1


def test_the_live_situation_goes_to_the_analyzer(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, NORMAL)
    watch.situation = lambda: ScreenSituation("src/a.py", typing=True)
    watch.check_now("Just finished: b.py")
    assert watch.analyzer.contexts == [ScreenSituation("src/a.py", "Just finished: b.py", True)]  # type: ignore[attr-defined]


def test_every_event_goes_to_the_runs_journal(tmp_path: Path) -> None:
    records: list[tuple[str, object]] = []

    class Journal(NoRun):
        def record(self, body: RecordBody) -> None:
            records.append((kind_of(body), body))

        def gate(self) -> Any:
            return "proceed"

    watch = orchestrator(tmp_path, DIALOG, NORMAL, run=Journal())
    event = watch.check_now()
    assert records == [("gui_event", event)]


def test_the_configuration_may_be_a_mapping(tmp_path: Path) -> None:
    watch = InterventionOrchestrator({"enabled": False}, Screen(), Verdicts(NORMAL), Steps())
    assert watch.check_now().reason == "disabled"
