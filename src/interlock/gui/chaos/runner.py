"""The chaos run: an endless replay, random faults, and the outcome of each."""

from __future__ import annotations

import random
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from ...config import Gui
from ...core import BadInput, InterlockError, InvalidState, SystemClock
from ..analyzer.evidence import ReplayStatus
from ..assembly import assemble
from ..display import wait_until
from ..editor.editor_session import EditorSession
from ..open_editor import SIZE, interrupted, screen_of
from ..replay.engine import ReplayEngine
from ..replay.store import SessionStore
from ..session import read_text
from .faults import FAULTS, FILES, InjectedFault, clean_up, is_there, make_session, prepare, throw
from .report import ChaosReport, FaultReport, LoggedVerdict, VerdictLog

log = structlog.get_logger("interlock.gui")

CHECK_EVERY_S = 0.1
MIN_CHECKS = 500
"""Of undisturbed typing, in a run of 50 faults or more: fewer say little about false alarms."""

DETECT_S, RECOVER_S = 45.0, 120.0
"""After these times a fault counts as not detected, or as not recovered."""

TYPING_S = 30.0
"""How long to wait for a moment in which text is typed."""

EFFECT_S = 8.0
"""How long a fault may take to have an effect."""

LOST_CHUNKS = 3
"""A fault without an effect after this many chunks was lost."""

THROWS = 3
"""How often a fault is injected; an overloaded editor drops some."""

CALM_S = (1.0, 3.0)
"""Undisturbed typing between two faults."""


class ChaosRun:
    """Replays sessions into an editor, and injects faults into it meanwhile."""

    def __init__(
        self,
        editor: EditorSession,
        folder: Path,
        seed: int,
        *,
        kinds: Sequence[str] = tuple(FAULTS),
        on_fault: Callable[[FaultReport], None] = lambda report: None,
    ) -> None:
        self._editor, self._folder, self._on_fault = editor, folder, on_fault
        self._clock = SystemClock()
        self._fault_random, self._text_random = random.Random(seed), random.Random(seed + 1)
        self._kinds = tuple(kinds)
        self._over = threading.Event()
        self._engine: ReplayEngine | None = None
        self._typing = threading.Thread()
        self._chunks = 0
        self._exact = True
        self._sessions = 0
        self._reports: list[FaultReport] = []
        self._calm: list[tuple[float, float]] = []
        config = Gui(
            analyzer="local",
            save_screenshots=False,
            interval_seconds=CHECK_EVERY_S,
            min_cooldown_seconds=0,
            max_retries=50,
        )
        self._watch = assemble(screen_of(editor), config)
        self._verdicts = VerdictLog(self._watch.local, self._clock)
        self._watch.orchestrator.analyzer = self._verdicts

    def run(self, faults: int, min_checks: int = 0) -> ChaosReport:
        """Inject this many faults, then continue until there were enough checks of undisturbed typing."""
        self._typing = threading.Thread(target=self._type, name="interlock-chaos", daemon=True)
        self._typing.start()
        try:
            self._wait_for_chunks(1, RECOVER_S)
            for number in range(faults):
                self._calm_down()
                self._raise_if_stopped()
                kind = self._kinds[number % len(self._kinds)] if faults <= len(self._kinds) else None
                self._throw(kind or self._fault_random.choice(self._kinds))
            while len(self._calm_verdicts()) < min_checks:
                self._calm_down()
                self._raise_if_stopped()
        finally:
            self._over.set()
            if self._engine is not None:
                self._engine.request_abort("chaos is over")
            self._typing.join(30)
        return self._report()

    def stop(self, reason: str = "") -> None:
        """End it early."""
        self._over.set()

    def _raise_if_stopped(self) -> None:
        """Raise if it was stopped."""
        if self._over.is_set():
            raise KeyboardInterrupt
        if not self._typing.is_alive():
            raise InvalidState("typing has stopped")

    def _wait(self, condition: Callable[[], object], timeout_s: float, every_s: float = 0.02) -> bool:
        """Wait, but not after the run was stopped or typing has ended."""

        def is_over() -> bool:
            return self._over.is_set() or not self._typing.is_alive()

        return wait_until(condition, timeout_s, every_s=every_s, give_up=is_over)

    def _type(self) -> None:
        """Replay one session after the other; each must be typed exactly."""
        while not self._over.is_set():
            before = {path: read_text(self._editor.workspace / path) or "" for path in FILES}
            self._sessions += 1
            session = make_session(self._sessions, self._text_random, before)
            engine = ReplayEngine(
                self._editor.controller,
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
        kind, thrown, chunks = self._throw_one(kind)
        found = self._first_alarm(thrown, DETECT_S)
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
        clean_up(kind, self._editor)
        self._reports.append(report)
        self._on_fault(report)
        if not report.recovered:
            self._heal()

    def _throw_one(self, kind: str) -> tuple[str, float, int]:
        """Inject this fault, or another one if the editor does not take it."""
        start = self._kinds.index(kind)
        for each in (*self._kinds[start:], *self._kinds[:start]):
            self._raise_if_stopped()
            thrown = self._throw_in(each)
            if thrown is not None:
                return each, *thrown
        raise InvalidState("no fault can be injected", todo="The editor no longer accepts typing.")

    def _throw_in(self, kind: str) -> tuple[float, int] | None:
        """Inject a fault while text is typed; when that was, and how many chunks were done by then."""
        for _ in range(THROWS):
            fault = prepare(kind, self._editor)
            if fault is None or not self._wait_for_moment(fault):
                continue
            thrown, chunks = self._clock.monotonic(), self._chunks
            if throw(kind, fault) and self._took_effect(kind, thrown, chunks):
                return thrown, chunks
            clean_up(kind, self._editor)
        return None

    def _wait_for_moment(self, fault: InjectedFault) -> bool:
        """Wait until text is being typed and the fault is due."""
        return self._wait(lambda: self._is_typing() and fault.is_due(), TYPING_S, every_s=0.005)

    def _heal(self) -> None:
        """Restart the window after a fault that was not recovered, so that it does not affect the next one."""
        try:
            self._editor.restart_server()
            self._editor.restart_window()
        except InterlockError as error:
            log.error("the editor cannot be started again", error=str(error))
        self._wait_for_chunks(self._chunks + 1, RECOVER_S)

    def _took_effect(self, kind: str, thrown: float, chunks: int) -> bool:
        """Whether there is an alarm, or a fault to detect; an overloaded editor loses some keys."""
        assert self._engine is not None
        situation = self._engine.situation

        def there() -> bool:
            # While the session has its own box open, a box means nothing.
            before = situation()
            if before.operating or before.expected_file is None:
                return False
            # The session may have moved on to its next file since.
            found = is_there(kind, self._editor, before.expected_file)
            return found and situation().serial == before.serial

        def over() -> bool:
            # What has had no effect by now was lost: the session continues typing.
            return self._alarm(thrown) is not None or there() or self._chunks >= chunks + LOST_CHUNKS

        return self._wait(over, EFFECT_S, every_s=0.1) and (self._alarm(thrown) is not None or there())

    def _is_typing(self) -> bool:
        situation = self._engine.situation() if self._engine is not None else None
        return situation is not None and situation.typing and not situation.operating

    def _first_alarm(self, thrown: float, timeout_s: float) -> tuple[float, str] | None:
        """When a check first saw a problem, and which."""
        self._wait(lambda: self._alarm(thrown), timeout_s)
        return self._alarm(thrown)

    def _alarm(self, thrown: float) -> tuple[float, str] | None:
        # A check that was under way may have seen it too: on a busy machine one takes a second.
        verdicts = self._verdicts.ended_since(thrown)
        return next(((verdict.time, verdict.alarm) for verdict in verdicts if verdict.alarm), None)

    def _is_normal(self) -> bool:
        """Whether checks no longer see anything wrong."""
        moment = self._clock.monotonic()

        def normal() -> bool:
            verdicts = self._verdicts.between(moment)
            return bool(verdicts) and verdicts[-1].result.status is ReplayStatus.NORMAL

        return self._wait(normal, 20.0)

    def _calm_down(self) -> None:
        """Type undisturbed for a while; alarms in this time are false."""
        self._is_normal()
        started = self._clock.monotonic()
        self._over.wait(self._fault_random.uniform(*CALM_S))
        self._calm.append((started, self._clock.monotonic()))

    def _wait_for_chunks(self, count: int, timeout_s: float) -> bool:
        return self._wait(lambda: self._chunks >= count, timeout_s, every_s=0.05)

    def _calm_verdicts(self) -> list[LoggedVerdict]:
        return [verdict for start, end in self._calm for verdict in self._verdicts.between(start, end)]

    def _report(self) -> ChaosReport:
        verdicts = self._calm_verdicts()
        alarms = [verdict.alarm for verdict in verdicts if verdict.alarm]
        return ChaosReport(tuple(self._reports), len(verdicts), tuple(alarms), self._exact, self._sessions)


def run_chaos(
    seed: int,
    faults: int,
    *,
    kinds: Sequence[str] | None = None,
    say: Callable[[str], None] = lambda line: None,
    on_fault: Callable[[FaultReport], None] = lambda report: None,
) -> ChaosReport:
    """A chaos run with its own display and editor; nothing is left behind."""
    unknown = [kind for kind in kinds or () if kind not in FAULTS]
    if unknown:
        raise BadInput(f"there is no fault {unknown[0]!r}", todo=f"Known: {', '.join(FAULTS)}")
    with tempfile.TemporaryDirectory(prefix="interlock-chaos-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        workspace = folder / "workspace"
        workspace.mkdir()
        for name in (*FILES, "other.txt"):
            (workspace / name).write_text("")
        say("Opening the editor ...")
        editor = EditorSession(folder, workspace, SIZE, say)
        try:
            run = ChaosRun(editor, folder, seed, kinds=tuple(kinds or FAULTS), on_fault=on_fault)
            with interrupted(run.stop):
                return run.run(faults, min(MIN_CHECKS, faults * MIN_CHECKS // 50))
        finally:
            editor.close()
