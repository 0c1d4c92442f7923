"""ReplayEngine: types a scripted session into an editor, monitored, and verifies the result."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import structlog

from ...config import Gui
from ...core import Clock, InterlockError, InvalidState, SystemClock
from ...journal_records import GuiChunkRecord, GuiSessionRecord, GuiTroubleRecord, InterventionEvent, VerificationResult
from ..analyzer.evidence import ScreenSituation
from ..display import wait_until
from ..editor.vscode import VSCodeController
from ..orchestrator import InterventionOrchestrator
from ..screen_supervision import NoRun
from ..session import ReplaySession, inside, read_session, read_text, text_hash
from ..verifier import FileVerifier
from .plan import CHUNK_CHARS, Chunk, ReplayPlan, make_plan, repair_plan
from .store import ReplayResult, SessionStore
from .typist import Aborted, Disturbed, SafePoint, Typist

MAX_TRIES = 5
"""How often one chunk is tried; more help only if the machine is very slow, and then longer waits help more."""

PATIENT_TRIES = 1
"""How often an editor that looks healthy may fail to revert a file before it is restarted.

Seen in VS Code, rarely, after a save conflict and the browser's own dialog: it shows what is typed and saves nothing.
"""

CRITICAL = "too many recoveries failed in a row"
"""The reason when recoveries could not save a replay."""

PATIENCE_S = 3.0
"""How long the replay waits for a routine check; a longer one continues while typing goes on."""

log = structlog.get_logger("interlock.gui")


class ReplayEngine:
    """Types a session chunk by chunk; every chunk is on disk, with the right hash, before the next begins."""

    def __init__(
        self,
        vscode_controller: VSCodeController,
        intervention_orchestrator: InterventionOrchestrator | None = None,
        *,
        config: Gui | None = None,
        run: NoRun | None = None,
        clock: Clock | None = None,
        store: Callable[[Path, str], SessionStore] = SessionStore,
        on_progress: Callable[[int, int, str], None] = lambda done, total, path: None,
    ) -> None:
        self.vscode_controller, self.intervention_orchestrator = vscode_controller, intervention_orchestrator
        self._config = config or Gui()
        self._run, self._clock = run or NoRun(), clock or SystemClock()
        self._new_store, self._on_progress = store, on_progress
        self._session: ReplaySession | None = None
        self._abort_reason: str | None = None
        self._safe_point = SafePoint()
        self._typist = Typist(vscode_controller, self._safe_point, self._clock, lambda: self._abort_reason is not None)
        self._path: str | None = None
        self._last_progress: float | None = None
        self._problems: list[str] = []
        self._opened: set[str] = set()

    def load_session(self, source: str | Path | Mapping[str, object] | ReplaySession) -> ReplaySession:
        """Read and validate a session; errors name the position."""
        self._session = read_session(source)
        return self._session

    def request_abort(self, reason: str = CRITICAL) -> None:
        """End the replay at its next safe point, in practice at once."""
        if self._abort_reason is None:
            self._abort_reason = reason

    def situation(self) -> ScreenSituation:
        """What should be on the screen right now."""
        typist = self._typist
        return ScreenSituation(self._path, "", typist.typing, typist.operating, typist.serial)

    def last_progress(self) -> float | None:
        """When the last chunk reached the disk, by the monotonic clock."""
        return self._last_progress

    def execute(
        self,
        session: str | Path | Mapping[str, object] | ReplaySession | None = None,
        *,
        resume: bool = False,
        verify: bool | None = None,
        repair: bool = False,
    ) -> ReplayResult:
        """Replay a session, without one the session that is loaded.

        `verify` overrides the configuration; `repair` types again what differs.
        """
        if session is not None:
            self.load_session(session)
        if self._session is None:
            raise InvalidState("no session is loaded", todo="Pass one to execute(), or call load_session first.")
        self._abort_reason, self._problems = None, []
        started = self._clock.monotonic()
        store = self._new_store(self.vscode_controller.folder, self._session.session_id)
        plan, done, resumed = self._prepare(store, resume)
        self._run.record(GuiSessionRecord(self._session.session_id, len(plan.chunks)))
        with self._watched(store, plan):
            done, reason = self._replay(plan, done, store, resumed)
            verification = self._verify(plan, verify) if not reason else None
            repaired = False
            if repair and verification is not None and not verification.success:
                reason = self._repair(plan)
                verification, repaired = self._verify(plan, verify), True
        seconds = self._clock.monotonic() - started
        return ReplayResult(
            not reason, done, len(plan.chunks), seconds, reason, verification, tuple(self._problems), repaired
        )

    def _prepare(self, store: SessionStore, resume: bool) -> tuple[ReplayPlan, int, bool]:
        """The plan, how many of its chunks are done, and whether it continues an interrupted run."""
        assert self._session is not None
        chars = self._session.replay_config.get("chunk_chars")
        size = chars if isinstance(chars, int) and chars > 0 else CHUNK_CHARS
        found = store.resume(self._session) if resume else None
        if found is None:
            beginning = store.begin(self._session)
            plan, done = make_plan(self._session, beginning.texts(), size), 0
        else:
            beginning, done = found
            plan = make_plan(self._session, beginning.texts(), size)
            done = self._really_done(plan, done)
            store.rewind(done)
        for path in plan.paths:
            target = inside(self.vscode_controller.folder, path)
            if not target.exists():
                # An editor opens only existing files.
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
        return plan, done, found is not None

    def _really_done(self, plan: ReplayPlan, done: int) -> int:
        """How many chunks are done: one may have reached the disk just before a crash, without being recorded."""
        if done < len(plan.chunks):
            chunk = plan.chunks[done]
            found = read_text(inside(self.vscode_controller.folder, chunk.path))
            if chunk.edits and found is not None and text_hash(found) == chunk.expected:
                return done + 1
        return done

    def _replay(
        self, plan: ReplayPlan, done: int, store: SessionStore | None, resumed: bool = False
    ) -> tuple[int, str]:
        """Type what is left; returns how many chunks are done, and why it ended early. Progress needs a store."""
        self._opened = set()
        try:
            self._check_screen(f"Starting: {plan.session.title or plan.session.session_id}")
            if resumed and done < len(plan.chunks):
                self._path = plan.chunks[done].path
                done = self._recover(plan, done, store, "an earlier run was interrupted")
            while done < len(plan.chunks):
                chunk = plan.chunks[done]
                if self._path is not None and chunk.path != self._path:
                    self._finished(self._path)
                self._path = chunk.path
                self._pass_gate()
                done = self._type_chunk(plan, done, store)
                self._on_progress(done, len(plan.chunks), chunk.path)
            if self._path is not None:
                self._finished(self._path)
        except Aborted:
            return done, self._abort_reason or "aborted"
        except InterlockError as error:
            log.error("the replay ends", error=str(error))
            return done, str(error)
        return done, ""

    def _type_chunk(self, plan: ReplayPlan, done: int, store: SessionStore | None) -> int:
        """Type one chunk and save it, repeating earlier ones if necessary; returns how many are done."""
        goal = done + 1
        for _ in range(MAX_TRIES):
            try:
                while done < goal:
                    chunk = plan.chunks[done]
                    if chunk.path not in self._opened:
                        # Discards what the editor still had of the file.
                        self._typist.rewind(chunk.path, plan.content(chunk.path, done))
                        self._opened.add(chunk.path)
                    self._typist.type_chunk(chunk)
                    self._note(chunk, store)
                    done += 1
                return done
            except Disturbed:
                problem = "a recovery was using the keyboard"
            except InterlockError as error:
                problem = str(error)
            done = self._recover(plan, done, store, problem)
        raise InvalidState(f"chunk {goal - 1} of {plan.chunks[goal - 1].path} cannot be typed ({problem})")

    def _recover(self, plan: ReplayPlan, done: int, store: SessionStore | None, problem: str) -> int:
        """After a problem: check the screen, recover, and go back to the last chunk whose text is known."""
        log.warning("the replay is disturbed", chunk=done, problem=problem)
        self._problems.append(f"chunk {done}: {problem}")
        self._run.record(GuiTroubleRecord(done, problem))
        start = plan.restart(done)
        for attempt in range(MAX_TRIES):
            self._check_until_clear(f"Problem: {problem}")
            try:
                if attempt == PATIENT_TRIES:
                    log.warning("the editor is being restarted", chunk=start, problem=problem)
                    self._typist.renew()
                self._restore(plan, start)
            except (Disturbed, InterlockError) as error:
                problem = str(error) or problem
                log.warning("the editor has not come back yet", chunk=start, problem=problem)
                continue
            if store is not None:
                store.rewind(start)
            return start
        raise InvalidState(f"the editor has not come back ({problem})")

    def _restore(self, plan: ReplayPlan, done: int) -> None:
        """Restore every file of the session to what it should contain by now, the open one also in the editor."""
        current = plan.chunks[min(done, len(plan.chunks) - 1)].path
        for path in plan.paths:
            text = plan.content(path, done)
            target = inside(self.vscode_controller.folder, path)
            found = read_text(target)
            if path == current:
                self._typist.rewind(path, text)
                self._opened.add(path)
            elif found is None or text_hash(found) != text_hash(text):
                log.warning("a file had changed and was restored", path=path)
                target.write_bytes(text.encode("utf-8"))

    def _finished(self, path: str) -> None:
        """A file is done: check the screen, and make a checkpoint."""
        self._check_screen(f"Just finished: {path}")
        self._run.checkpoint(f"{path} is typed")

    def _check_screen(self, context: str) -> None:
        """A routine check; a long one continues while typing goes on."""
        watch = self.intervention_orchestrator
        if watch is None:
            return
        thread = threading.Thread(target=watch.check_now, args=(context,), name="interlock-check", daemon=True)
        self._safe_point.end()
        thread.start()
        thread.join(PATIENCE_S)
        self._safe_point.begin()

    def _check_until_clear(self, context: str) -> None:
        """Check after a problem, again after a cooldown, until nothing more can be done about it."""
        for _ in range(MAX_TRIES):
            if self._abort_reason is not None:
                raise Aborted
            self._pass_gate()
            left = self._check(context)
            self._typist.start_over()
            if left is None:
                return
            wait_until(lambda: False, left, give_up=lambda: self._abort_reason is not None)

    def _check(self, context: str) -> float | None:
        """Check now; returns after how many seconds to check again, None if that would not help."""
        watch = self.intervention_orchestrator
        if watch is None:
            return None
        # Not typing: a recovery, by this check or another one, may use the keyboard.
        self._safe_point.end()
        try:
            event = watch.check_now(context)
        finally:
            self._safe_point.begin()
        if not isinstance(event, InterventionEvent) or event.outcome in ("recovered", "none", "no_action"):
            return None
        if event.reason.startswith("cooldown"):
            return float(event.reason.split()[1]) + 0.05
        return None if event.outcome == "skipped" else 0.0

    def _pass_gate(self) -> None:
        if self._run.gate() == "stop":
            self.request_abort("cancelled")
            raise Aborted

    def _note(self, chunk: Chunk, store: SessionStore | None) -> None:
        self._last_progress = self._clock.monotonic()
        if store is not None:
            store.done(chunk, self._clock.time())
        self._run.record(GuiChunkRecord(chunk.index, chunk.path, chunk.expected))

    def _verify(self, plan: ReplayPlan, wanted: bool | None) -> VerificationResult | None:
        settings = self._config.verification
        if not (settings.enabled and settings.verify_on_completion if wanted is None else wanted):
            return None
        verifier = FileVerifier(
            self.vscode_controller.folder, settings.similarity_threshold, partial=settings.partial_threshold,
            strict=settings.strict, originals=plan.before,
        )  # fmt: skip
        result = verifier.verify_session(plan.session)
        self._run.record(result)
        return result

    def _repair(self, plan: ReplayPlan) -> str:
        """Type the differing sections again; returns why that failed, if it did."""
        mending = repair_plan(plan, self.vscode_controller.folder)
        done, reason = self._replay(mending, 0, None)
        log.info("repaired", chunks=done)
        return reason

    @contextmanager
    def _watched(self, store: SessionStore, plan: ReplayPlan) -> Iterator[None]:
        """Monitor the screen during the replay, and stop with it."""
        watch = self.intervention_orchestrator
        self._safe_point.begin()
        if watch is None:
            yield
            return
        watch.set_critical_failure_callback(self.request_abort)
        watch.situation = self.situation

        @contextmanager
        def parked() -> Iterator[bool]:
            with self._safe_point.hold() as free:
                with contextlib.suppress(OSError):
                    store.snapshot(plan.paths)
                yield free

        watch.safe_point = parked
        watch.start()
        try:
            yield
        finally:
            self._safe_point.end()
            watch.stop()
