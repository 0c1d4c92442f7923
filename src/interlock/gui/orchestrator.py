"""InterventionOrchestrator: checks the screen periodically, recovers, and checks again."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec
import structlog

from ..config import Gui
from ..core import Clock, SystemClock, from_plain
from ..journal_records import InterventionEvent
from .analyzer.auto import Analyzer
from .analyzer.evidence import AnalysisResult, ReplayStatus, ScreenSituation, unknown
from .recovery import Pacing, RecoveryExecutor, RecoveryResult, decide
from .screen_supervision import NoRun
from .screenshot.album import Album
from .screenshot.backend import ScreenshotBackend
from .screenshot.screenshot import Screenshot

InterventionConfig = Gui
"""The section `gui` of the configuration."""

MAX_EVENTS = 10_000
STOP_S = 4.5
"""How long stop() waits for a check under way; one that hangs longer is abandoned and does nothing more."""

ROUNDS = 3
"""One problem may hide another: up to this many are handled in one check."""

log = structlog.get_logger("interlock.gui")


class Executor(Protocol):
    """Executes actions; RecoveryExecutor is ours."""

    def execute(self, actions: list[str]) -> RecoveryResult | Sequence[RecoveryResult]: ...


class InterventionOrchestrator:
    """Captures, analyses, decides, recovers and checks again; every check produces exactly one event."""

    def __init__(
        self,
        config: Gui | Mapping[str, object],
        screenshot_backend: ScreenshotBackend,
        analyzer: Analyzer,
        recovery_executor: Executor,
        *,
        clock: Clock | None = None,
        run: NoRun | None = None,
        window_id: int | str | None = None,
        pace: Callable[[float], bool] | None = None,
        pictures: Path | None = None,
    ) -> None:
        self.config = from_plain(config, Gui) if isinstance(config, Mapping) else config
        self.screenshot_backend, self.analyzer, self.recovery_executor = screenshot_backend, analyzer, recovery_executor
        self._clock = clock or SystemClock()
        self._run = run or NoRun()
        self._window_id = window_id
        self._pacing = Pacing(self.config, self._clock)
        self._album = self._new_album(pictures)
        self._events: deque[InterventionEvent] = deque(maxlen=MAX_EVENTS)
        self._checking = threading.Lock()
        self._stopping = threading.Event()
        # Waits this many seconds; True if it was asked to stop meanwhile.
        self._pace = pace or self._stopping.wait
        self._thread: threading.Thread | None = None
        self._on_critical: Callable[[], object] = lambda: None
        self.safe_point: Callable[[], AbstractContextManager[bool]] = lambda: contextlib.nullcontext(True)
        """Entered around a recovery: a replay stops typing meanwhile, or yields False if it cannot."""
        self.situation: Callable[[], ScreenSituation] | None = None
        """What should be on the screen right now, if a replay knows."""
        self.observe = False
        """Check, never act."""
        self.on_event: Callable[[InterventionEvent], None] = lambda event: None
        """Called with every event, to show it."""
        self.checks = 0
        """The number of checks so far; get_events() has the newest."""
        self.errors: Counter[str] = Counter()
        """How often each part that we call has raised; none of them ends monitoring."""

    def start(self) -> None:
        """Check every `interval_seconds` in the background."""
        if not self.config.enabled:
            return
        if self._thread is not None and self._thread.is_alive():
            log.warning("monitoring is already running")
            return
        self._stopping.clear()
        self._call_parts("start")
        self._thread = threading.Thread(target=self._watch, name="interlock-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the background checks within 5 seconds, whatever they are doing."""
        self._stopping.set()
        self._call_parts("stop")
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_S)
            if thread.is_alive():
                log.warning("a check is still running and was abandoned")
                # A hanging check keeps its lock; later checks need a new one.
                self._checking = threading.Lock()
                return
        self._call_parts("start")

    def check_now(self, context: object = None) -> InterventionEvent:
        """Check once, after any other check that is under way, and report the result."""
        if not self.config.enabled:
            return self._record(self._event(unknown(""), "skipped", "disabled"))
        checking = self._checking
        with checking:
            try:
                event = self._check(context, lambda: checking is not self._checking)
            except Exception as error:  # noqa: BLE001 - whatever a part raises, the check leaves its event
                reason = f"the check failed: {self._raised('check', error)}"
                event = self._event(unknown(reason), "failed", reason)
            return self._record(event)

    def set_critical_failure_callback(self, callback: Callable[[], object]) -> None:
        """Set what is called, once, when `max_retries` recoveries in a row have failed."""
        self._on_critical = callback

    def get_events(self) -> list[InterventionEvent]:
        """All events so far, the newest last; a copy."""
        return list(self._events)

    def _watch(self) -> None:
        while not self._pace(self.config.interval_seconds) and not self._stopping.is_set():
            self.check_now()

    def _check(self, context: object, is_abandoned: Callable[[], bool]) -> InterventionEvent:
        shot, failure = self._capture()
        if shot is None:
            return self._event(unknown(failure), "none", failure)
        path = self._save(shot)
        result = self._analyze(shot, context)
        decision = decide(result, self.config, self._pacing)
        if decision.outcome != "act":
            self._pacing.note_status(result.status)
            return self._event(result, decision.outcome, decision.reason, path)
        if self.observe:
            return self._event(result, "skipped", "observing", path)
        if is_abandoned():
            return self._event(result, "skipped", "stopped", path)
        if self._run.is_paused():
            return self._event(result, "skipped", "the run is paused", path)
        with self.safe_point() as parked:
            if not parked:
                return self._event(result, "skipped", "the replay did not reach a safe point", path)
            return self._recover(result, shot, context, path)

    def _recover(
        self, result: AnalysisResult, shot: Screenshot, context: object, path: str | None
    ) -> InterventionEvent:
        """Execute steps and check again; other steps follow if these did not help or another problem appears."""
        first, executed, reason, helped, seen = result, list[str](), "", False, None
        for _ in range(ROUNDS):
            settled: bool | None = None
            done = self._execute(result, shot)
            executed += [each.action_taken for each in done if each.success and each.action_taken]
            reason = _failure(done)
            if reason:
                break
            settled = self._settle(context)
            if settled is False:
                # Before the check, so that it suggests other steps.
                self._call_optional(self.analyzer, "tried", result, False)
            again, failure = self._capture()
            after = self._analyze(again, context) if again is not None else unknown(failure)
            helped = after.status is ReplayStatus.NORMAL
            seen = self._save(again) if again is not None else None
            reason = "" if helped else f"afterwards: {after.status.value}, {after.description}"
            if again is None or helped or not self._should_continue(result, after):
                break
            result, shot = after, again
        if helped or settled is None:
            self._call_optional(self.analyzer, "tried", result, helped)
        self._pacing.recovered(helped)
        event = self._event(first, "recovered" if helped else "failed", reason, path, executed, helped, seen)
        if self._pacing.is_critical():
            log.error("too many recoveries failed in a row", times=self.config.max_retries, last=reason)
            self._guard("critical callback", self._on_critical)
        return event

    def _should_continue(self, before: AnalysisResult, after: AnalysisResult) -> bool:
        """Whether there are steps that have not just been tried: for another problem, or other ones for this."""
        return (
            decide(after, self.config, None).outcome == "act"
            and (after.status is not before.status or list(after.recovery_actions) != list(before.recovery_actions))
            and not self._stopping.is_set()
        )

    def _settle(self, context: object) -> bool | None:
        """Wait for the effect of the steps; whether the screen became normal, None if the analyzer cannot wait."""
        wait = getattr(self.analyzer, "settle", None)
        if not callable(wait):
            return None
        return bool(wait(lambda: self._capture()[0], self._context(context), self._stopping.is_set))

    def _execute(self, result: AnalysisResult, shot: Screenshot) -> list[RecoveryResult]:
        """The result of each action; a custom executor may return one result for all, or raise."""
        actions = list(result.recovery_actions)
        try:
            done: RecoveryResult | Sequence[RecoveryResult]
            if isinstance(self.recovery_executor, RecoveryExecutor):
                done = self.recovery_executor.execute(actions, shot)
            else:
                done = self.recovery_executor.execute(actions)
            return [done] if isinstance(done, RecoveryResult) else list(done)
        except Exception as error:  # noqa: BLE001 - a recovery that raises has failed; the watch has not
            return [RecoveryResult(False, "", self._raised("executor", error))]

    def _capture(self) -> tuple[Screenshot | None, str]:
        try:
            if self._window_id is not None:
                return self.screenshot_backend.capture_window(self._window_id), ""
            return self.screenshot_backend.capture_screen(), ""
        except Exception as error:  # noqa: BLE001 - whatever a backend raises, the replay continues
            self._raised("capture", error)
            return None, f"capture failed: {error}"

    def _save(self, shot: Screenshot) -> str | None:
        path = self._album.keep(shot) if self._album is not None else None
        return str(path) if path is not None else None

    def _analyze(self, shot: Screenshot, context: object) -> AnalysisResult:
        try:
            return self.analyzer.analyze(shot, self._context(context))
        except Exception as error:  # noqa: BLE001 - an analyzer of somebody else's may raise; the watch stays
            self._raised("analyzer", error)
            return unknown(f"the analyzer failed: {error}")

    def _context(self, context: object) -> object:
        """What should be on the screen, if a replay knows."""
        if self.situation is None:
            return context
        return msgspec.structs.replace(self.situation(), note=str(context or ""))

    def _event(
        self,
        result: AnalysisResult,
        outcome: str,
        reason: str = "",
        path: str | None = None,
        executed: Sequence[str] = (),
        success: bool | None = None,
        seen: str | None = None,
    ) -> InterventionEvent:
        return InterventionEvent(
            self._clock.time(), result.status, result.confidence, list(executed), success, path, outcome, reason,  # type: ignore[arg-type]
            result.description, result.raw_response, tuple(result.evidence), seen,
        )  # fmt: skip

    def _record(self, event: InterventionEvent) -> InterventionEvent:
        self._events.append(event)
        self.checks += 1
        self._guard("record", self._run.record, event)
        self._guard("on_event", self.on_event, event)
        return event

    def _call_parts(self, method: str) -> None:
        for part in (self.recovery_executor, self.analyzer):
            self._call_optional(part, method)

    def _call_optional(self, part: object, method: str, *arguments: object) -> None:
        """Call a method that a part may have."""
        function = getattr(part, method, None)
        if callable(function):
            self._guard(method, function, *arguments)

    def _guard(self, part: str, function: Callable[..., object], *arguments: object) -> None:
        """Call foreign code; whatever it raises is counted and logged, and ends nothing."""
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001 - the watch must outlive every callback
            self._raised(part, error)

    def _raised(self, part: str, error: Exception) -> str:
        """Count and log what a part raised; returns its text."""
        self.errors[part] += 1
        times = self.errors[part]
        # The 1st, 2nd, 4th, 8th ...: a callback that always raises does not fill the log.
        if times & (times - 1) == 0:
            log.error("a part of the monitor raised an exception", part=part, times=times, error=_text(error))
        return _text(error)

    def _new_album(self, pictures: Path | None) -> Album | None:
        """Where screenshots go: the configured folder, else the run's own, else the user's."""
        if not self.config.save_screenshots:
            return None
        folder = self.config.screenshot_dir or pictures
        return Album(folder, self.config.screenshot_retention_days, self._clock)


def _failure(done: Sequence[RecoveryResult]) -> str:
    """Which action failed and why; empty if none did."""
    if not done:
        return "no action was carried out"
    failed = next((each for each in done if not each.success), None)
    if failed is None:
        return ""
    why = failed.error or "the recovery failed"
    return f"{ascii(failed.action_taken)[1:-1][:80]}: {why}" if failed.action_taken else why


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
