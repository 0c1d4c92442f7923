"""A whole replay, from a session's file to its outcome: run, editor, monitor, typing and verification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from ..config import Config
from ..core import BadInput, InterlockError
from ..journal_records import GuiResultRecord, InterventionEvent
from .analyzer.layers import ProgressLayer
from .assembly import Screen, assemble
from .open_editor import INTERRUPTED, interrupted, open_editor
from .replay.engine import CRITICAL, ReplayEngine
from .replay.store import ReplayResult, SessionStore
from .screen_supervision import SupervisedRun, open_run
from .screenshot.album import Filmstrip
from .session import ReplaySession, read_session


class Replayed(Struct, frozen=True):
    """The result of a replay; `folder` is the run's, with its journal and pictures."""

    run_id: str
    session_id: str
    result: ReplayResult
    events: Sequence[InterventionEvent]
    folder: str
    cancelled: bool = False
    cost_usd: float = 0.0

    @property
    def exit_status(self) -> int:
        """0 all typed and right, 1 typed and something differs, 4 not typed to the end, 130 cancelled."""
        if self.cancelled:
            return 130
        if not self.result.completed:
            return 4
        return 0 if self.result.success else 1


class ReplayOptions(Struct, frozen=True, kw_only=True):
    """How a session is to be replayed."""

    url: str | None = None
    start_editor: bool = False
    resume: bool = False
    verify: bool | None = None
    repair: bool = False
    record: Path | None = None


def replay_session(
    source: Path,
    workspace: Path,
    config: Config,
    options: ReplayOptions,
    *,
    say: Callable[[str], None] = lambda line: None,
    on_progress: Callable[[int, int, str], None] = lambda done, total, path: None,
    on_event: Callable[[InterventionEvent], None] = lambda event: None,
) -> Replayed:
    """Replay a session in an editor, monitored, as a run of its own."""
    session = read_session(source)
    if not workspace.is_dir():
        raise BadInput("the workspace is not a folder", where=str(workspace))
    if options.url is not None and options.start_editor:
        raise BadInput("--editor and --start-editor cannot be combined", todo="Use one of them.")
    film = Filmstrip(options.record) if options.record is not None else None
    store = SessionStore(workspace, session.session_id)
    run = open_run(
        config,
        name=session.session_id,
        task=session.title or f"replay of {source.name}",
        workspace=workspace,
        session_id=session.session_id,
        resume=options.resume,
    )
    try:
        say("Opening the editor ...")
        with open_editor(
            workspace, store.folder / "desk", url=options.url, start=options.start_editor, say=say
        ) as screen:
            return _replay(session, screen, config, run, options, film, on_progress, on_event)
    except InterlockError as error:
        run.end(False, str(error))
        raise
    finally:
        run.close()


def _replay(
    session: ReplaySession,
    screen: Screen,
    config: Config,
    run: SupervisedRun,
    options: ReplayOptions,
    film: Filmstrip | None,
    on_progress: Callable[[int, int, str], None],
    on_event: Callable[[InterventionEvent], None],
) -> Replayed:
    assert screen.controller is not None

    def progressed(done: int, total: int, path: str) -> None:
        if film is not None:
            film.chunk(watch.orchestrator.screenshot_backend, done, path)
        on_progress(done, total, path)

    # Called once the engine exists, which is created with the monitor that the layer is part of.
    progress = ProgressLayer(lambda: engine.last_progress())
    watch = assemble(
        screen, config.gui, run=run, extra_layers=[progress], pictures=run.pictures, more_models=config.models
    )

    def happened(event: InterventionEvent) -> None:
        if film is not None:
            film.event(event)
        on_event(event)

    watch.orchestrator.on_event = happened
    engine = ReplayEngine(screen.controller, watch.orchestrator, config=config.gui, run=run, on_progress=progressed)
    watch.follow(engine.situation)
    engine.load_session(session)
    run.keyboard.on_stop = engine.request_abort
    with interrupted(engine.request_abort):
        result = engine.execute(resume=options.resume, verify=options.verify, repair=options.repair)
    run.record(
        GuiResultRecord(
            completed=result.completed,
            success=result.success,
            chunks=result.chunks,
            chunks_done=result.chunks_done,
            seconds=result.seconds,
            reason=result.reason,
            troubles=tuple(result.troubles),
            repaired=result.repaired,
            cost_usd=watch.budget.cost_usd,
        )
    )
    cancelled = result.reason in ("cancelled", INTERRUPTED)
    if result.reason == INTERRUPTED:
        run.supervisor.finish("aborted", "USER_CANCELLED", "interrupted at the keyboard")
    elif result.reason == CRITICAL:
        run.supervisor.finish("aborted", "CRITICAL_FAILURE", result.reason)
    run.end(result.completed, result.reason or (result.verification.summary if result.verification else "typed"))
    watch.orchestrator.screenshot_backend.close()
    folder = run.run.folder
    return Replayed(
        run.run.spec.run_id, session.session_id, result, watch.orchestrator.get_events(),
        str(folder.path) if folder is not None else "", cancelled, watch.budget.cost_usd,
    )  # fmt: skip
