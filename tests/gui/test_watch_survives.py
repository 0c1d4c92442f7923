"""Whatever the parts of a watch raise, every check leaves its event and the watch stays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from structlog.testing import capture_logs

from interlock.config import Config
from interlock.config.schema import Gui, Store
from interlock.gui import (
    AnalysisResult,
    InterventionEvent,
    InterventionOrchestrator,
    RecoveryResult,
    ReplayStatus,
    Screenshot,
)
from interlock.gui import watcher as watching_module
from interlock.gui.analyzer.evidence import ScreenSituation
from interlock.gui.assembly import Screen as DisplayScreen
from interlock.gui.assembly import ScreenMonitor
from interlock.gui.screen_supervision import NoRun
from interlock.gui.watcher import WatchOptions, watch_display
from interlock.journal import JournalReader, open_store

from .scripted_screen import DIALOG, NORMAL, Screen, Steps, Verdicts, orchestrator

TIMES = 10_000


def boom(*_: object, **__: object) -> Any:
    raise RuntimeError("boom")


class SameScreen(Screen):
    """A screen that is captured once and handed out for ever: encoding pictures is not what is tested."""

    def __init__(self, fails: Exception | None = None) -> None:
        super().__init__(fails)
        self._shot = Screenshot.of_image(Image.new("RGB", (400, 300), "white"), 1.0)

    def capture_screen(self) -> Screenshot:
        if self.fails:
            raise self.fails
        return self._shot


class Journal(NoRun):
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.events: list[InterventionEvent] = []

    def record(self, body: object) -> None:
        assert isinstance(body, InterventionEvent)
        self.events.append(body)


class Turns(Verdicts):
    """A dialog and a normal screen by turns, so that every second check is a recovery; each part may raise."""

    def __init__(self, raising: str = "") -> None:
        super().__init__(NORMAL)
        self._raising, self._checks = raising, 0

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        self._checks += 1
        if self._raising == "analyze":
            boom()
        return DIALOG

    def settle(self, capture: Callable[[], object], context: object, give_up: Callable[[], bool]) -> bool:
        if self._raising == "settle":
            boom()
        return False

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        if self._raising == "tried":
            boom()


class RaisingSteps(Steps):
    def execute(self, actions: list[str]) -> RecoveryResult:
        return boom()  # type: ignore[no-any-return]


class Alternating(Verdicts):
    """A failed recovery, then a normal check: each row of failures is critical once."""

    def __init__(self) -> None:
        super().__init__(NORMAL)
        self._checks = 0

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        self._checks += 1
        return NORMAL if self._checks % 3 == 0 else DIALOG


KINDS = (
    "capture", "analyzer", "executor", "critical callback", "on_event", "safe_point", "situation", "settle", "tried",
    "record", "is_paused",
)  # fmt: skip


def raising(kind: str, journal: Journal, pace: Callable[[float], bool]) -> InterventionOrchestrator:
    """A watch one of whose parts raises at every check."""
    config = Gui(save_screenshots=False, min_cooldown_seconds=0, max_retries=1, interval_seconds=1)
    analyzer = Alternating() if kind == "critical callback" else Turns({"analyzer": "analyze"}.get(kind, kind))
    steps = RaisingSteps() if kind == "executor" else Steps()
    screen = SameScreen(OSError("no screen") if kind == "capture" else None)
    watch = InterventionOrchestrator(config, screen, analyzer, steps, run=journal, pace=pace)
    if kind == "critical callback":
        watch.set_critical_failure_callback(boom)
    elif kind == "on_event":
        watch.on_event = boom
    elif kind == "safe_point":
        watch.safe_point = boom
    elif kind == "situation":
        watch.situation = boom
    elif kind == "record":
        kept = journal.record

        def record(body: object) -> None:
            kept(body)
            boom()

        journal.record = record  # type: ignore[method-assign]
    elif kind == "is_paused":
        journal.is_paused = boom  # type: ignore[method-assign]
    return watch


@pytest.mark.parametrize("kind", KINDS)
def test_background_watching_outlives_ten_thousand_exceptions_of_each_callback(kind: str) -> None:
    journal, over, asked = Journal(), threading.Event(), [0]
    checks = TIMES * 2 if kind == "critical callback" else TIMES

    def pace(seconds: float) -> bool:
        asked[0] += 1
        if asked[0] <= checks:
            return False
        over.set()
        return True

    with capture_logs() as logs:
        watch = raising(kind, journal, pace)
        watch.start()
        thread = watch._thread
        assert thread is not None
        thread.join(300)
        watch.stop()
    assert over.is_set(), "the watch died"
    assert len(journal.events) == watch.checks == checks
    assert max(watch.errors.values()) >= TIMES
    # A log does not grow with every one of them.
    assert 0 < len([entry for entry in logs if entry.get("part")]) < 100


def test_an_executor_that_raises_is_a_failed_recovery_with_its_text(tmp_path: Path) -> None:
    calls: list[int] = []
    watch = orchestrator(tmp_path, DIALOG, steps=RaisingSteps(), max_retries=2)
    watch.set_critical_failure_callback(lambda: calls.append(1))
    events = [watch.check_now() for _ in range(3)]
    assert [(event.outcome, event.recovery_success, event.reason) for event in events] == [
        ("failed", False, "RuntimeError: boom")
    ] * 3
    assert watch.get_events() == events
    assert calls == [1]


class Listing(Steps):
    """An executor that gives one result an action, as ours does."""

    def __init__(self, *results: RecoveryResult) -> None:
        super().__init__()
        self._results = list(results)

    def execute(self, actions: list[str]) -> Any:
        return self._results


@pytest.mark.parametrize(
    ("results", "outcome", "taken", "reason"),
    [
        ([RecoveryResult(True, "press Escape"), RecoveryResult(True, "wait 1")], "recovered", ["press Escape", "wait 1"], ""),
        ([RecoveryResult(True, "press Escape"), RecoveryResult(False, "key f9", "no such key")], "failed", ["press Escape"], "key f9: no such key"),
        ([], "failed", [], "no action was carried out"),
    ],
)  # fmt: skip
def test_an_executor_may_give_a_list_of_results(
    tmp_path: Path, results: list[RecoveryResult], outcome: str, taken: list[str], reason: str
) -> None:
    event = orchestrator(tmp_path, DIALOG, NORMAL, steps=Listing(*results)).check_now()
    assert (event.outcome, event.actions_taken, event.reason) == (outcome, taken, reason)


def test_a_check_that_breaks_anywhere_is_an_event(tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, DIALOG)
    watch.situation = boom
    event = watch.check_now()
    assert (event.status, event.outcome) == (ReplayStatus.UNKNOWN, "failed" if "check" in watch.errors else "none")
    assert "boom" in event.reason + event.description
    watch.situation = lambda: ScreenSituation()
    assert watch.check_now().status is ReplayStatus.DIALOG_BLOCKING


@pytest.fixture
def scripted_watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`gui watch` with a screen by script; its run, its journal and its loop are the real ones."""

    @contextmanager
    def display(name: str | None) -> Iterator[DisplayScreen]:
        yield DisplayScreen(display=":none")

    def assemble(screen: DisplayScreen, config: Gui, *, run: Any, **_: object) -> ScreenMonitor:
        watch = InterventionOrchestrator(config, SameScreen(), Verdicts(DIALOG), RaisingSteps(), run=run)
        return ScreenMonitor(watch, None, None)  # type: ignore[arg-type]

    monkeypatch.setattr(watching_module, "open_display", display)
    monkeypatch.setattr(watching_module, "assemble", assemble)
    yield


def test_gui_watch_outlives_ten_thousand_exceptions_with_every_event_in_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted_watch: None
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = Gui(save_screenshots=False, min_cooldown_seconds=0)
    config = Config(store=Store(dir=str(tmp_path / "runs")), gui=settings)
    with capture_logs() as logs:
        watch_display(config, WatchOptions(interval_s=0.0, checks=TIMES), boom)
    [folder] = open_store(config).folders()
    with JournalReader.open(folder) as reader:
        records = list(reader.read())
        summary = reader.summary()
    assert [record.kind for record in records].count("gui_event") == TIMES
    assert summary is not None
    assert summary.status == "done"
    assert (logs[-1]["event"], logs[-1]["on_event"]) == ("parts of the monitor raised exceptions", TIMES)
