"""The chaos run: a replay without end, faults at random, and an account of what became of each."""

from __future__ import annotations

import random
import statistics
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from ...config.model import Gui
from ...core import Clock, InterlockError, SystemClock
from ..analyzer.result import ReplayStatus
from ..assembly import Screen, assemble
from ..editor.desk import EditorDesk
from ..replay.engine import ReplayEngine
from ..replay.store import SessionStore, read_text
from ..waiting import wait_until
from .faults import FAULTS, inject
from .looks import Looks
from .sessions import FILES, make_session

LOOK_EVERY_S = 0.1
DETECT_S, RECOVER_S = 45.0, 120.0
"""After these a fault counts as not detected, as not recovered."""

CALM_S = (2.0, 5.0)
"""Undisturbed typing between two faults."""


class FaultReport(Struct, frozen=True):
    """What became of one fault."""

    kind: str
    detected: bool
    recovered: bool
    detect_s: float | None = None
    recover_s: float | None = None
    verdict: str = ""


class ChaosReport(Struct, frozen=True):
    """What became of all of them. `looks` are those while nothing was wrong and text was typed."""

    faults: int
    detected: int
    recovered: int
    false_alarms: int
    looks: int
    median_detect_s: float | None
    exact: bool = True
    reports: Sequence[FaultReport] = ()
    alarms: Sequence[str] = ()


class ChaosRun:
    """Replays sessions into a desk's editor, and throws faults into it meanwhile."""

    def __init__(
        self,
        desk: EditorDesk,
        folder: Path,
        seed: int,
        *,
        kinds: Sequence[str] = tuple(FAULTS),
        clock: Clock | None = None,
        on_fault: Callable[[FaultReport], None] = lambda report: None,
    ) -> None:
        self._desk, self._folder, self._on_fault = desk, folder, on_fault
        self._clock = clock or SystemClock()
        self._fates, self._texts = random.Random(seed), random.Random(seed + 1)
        self._kinds = tuple(kinds)
        self._over = threading.Event()
        self._chunks = 0
        self._exact = True
        self._sessions = 0
        self._reports: list[FaultReport] = []
        self._calm: list[tuple[float, float]] = []
        config = Gui(
            analyzer="local",
            save_screenshots=False,
            interval_seconds=LOOK_EVERY_S,
            min_cooldown_seconds=0,
            max_retries=50,
        )
        screen = Screen(
            display=desk.display.name, windows=desk.windows, keyboard=desk.keyboard, controller=desk.controller,
            accessibility=desk.accessibility, server_answers=desk.server.answers,
        )  # fmt: skip
        self._watch = assemble(screen, config)
        self._looks = Looks(self._watch.local, self._clock)
        self._watch.orchestrator.analyzer = self._looks

    def run(self, faults: int, min_looks: int = 0) -> ChaosReport:
        """Throw this many faults in, then look until there were enough looks at undisturbed typing."""
        typing = threading.Thread(target=self._type, name="interlock-chaos", daemon=True)
        typing.start()
        try:
            self._wait_for_chunks(1, RECOVER_S)
            for number in range(faults):
                self._calm_down()
                kind = self._kinds[number % len(self._kinds)] if faults <= len(self._kinds) else None
                self._throw(kind or self._fates.choice(self._kinds))
            while len(self._calm_looks()) < min_looks and typing.is_alive():
                self._calm_down()
        finally:
            self._over.set()
            if self._engine is not None:
                self._engine.request_abort("chaos is over")
            typing.join(30)
        return self._report()

    _engine: ReplayEngine | None = None

    def _type(self) -> None:
        """Replay one session after the other; each must come out exactly."""
        while not self._over.is_set():
            before = {path: read_text(self._desk.workspace / path) or "" for path in FILES}
            self._sessions += 1
            session = make_session(self._sessions, self._texts, before)
            engine = ReplayEngine(
                self._desk.controller,
                self._watch.orchestrator,
                store=lambda workspace, name: SessionStore(workspace, name, self._folder / "state"),
                on_progress=self._progress,
            )
            self._engine = engine
            self._watch.follow(engine.situation)
            engine.load_session(session)
            try:
                result = engine.execute()
            except InterlockError:
                continue
            if result.completed and not result.success:
                self._exact = False

    def _progress(self, done: int, total: int, path: str) -> None:
        self._chunks += 1

    def _throw(self, kind: str) -> None:
        thrown = self._clock.monotonic()
        chunks = self._chunks
        if not inject(kind, self._desk):
            # Not in a state for this one: another fault takes its place.
            kind = "palette"
            thrown = self._clock.monotonic()
            inject(kind, self._desk)
        found = self._first_alarm(thrown)
        recovered_at = None
        if found is not None and self._wait_for_chunks(chunks + 2, RECOVER_S) and self._is_normal():
            recovered_at = self._clock.monotonic()
        report = FaultReport(
            kind,
            found is not None,
            recovered_at is not None,
            round(found[0] - thrown, 3) if found else None,
            round(recovered_at - thrown, 3) if recovered_at else None,
            found[1] if found else "",
        )
        self._reports.append(report)
        self._on_fault(report)

    def _first_alarm(self, thrown: float) -> tuple[float, str] | None:
        """When a look first saw a problem, and which."""

        def alarm() -> tuple[float, str] | None:
            for look in self._looks.since(thrown - LOOK_EVERY_S):
                if look.result.is_problem and look.time > thrown:
                    return look.time, f"{look.result.status.value}: {look.result.description}"
            return None

        wait_until(alarm, DETECT_S, every_s=0.02)
        return alarm()

    def _is_normal(self) -> bool:
        """Whether looks see nothing wrong any more."""
        moment = self._clock.monotonic()

        def normal() -> bool:
            looks = self._looks.since(moment)
            return bool(looks) and looks[-1].result.status is ReplayStatus.NORMAL

        return wait_until(normal, 20.0)

    def _calm_down(self) -> None:
        """Let it type undisturbed for a while; alarms in this time are false."""
        self._is_normal()
        started = self._clock.monotonic()
        self._over.wait(self._fates.uniform(*CALM_S))
        self._calm.append((started, self._clock.monotonic()))

    def _wait_for_chunks(self, count: int, timeout_s: float) -> bool:
        return wait_until(lambda: self._chunks >= count, timeout_s, every_s=0.05)

    def _calm_looks(self) -> list[tuple[float, str]]:
        return [
            (look.time, f"{look.result.status.value}: {look.result.description}" if look.result.is_problem else "")
            for start, end in self._calm
            for look in self._looks.between(start, end)
        ]

    def _report(self) -> ChaosReport:
        looks = self._calm_looks()
        alarms = [words for _, words in looks if words]
        times = [report.detect_s for report in self._reports if report.detect_s is not None]
        return ChaosReport(
            len(self._reports),
            sum(report.detected for report in self._reports),
            sum(report.recovered for report in self._reports),
            len(alarms),
            len(looks),
            round(statistics.median(times), 3) if times else None,
            self._exact,
            tuple(self._reports),
            tuple(alarms),
        )
