"""RunSource: the runs that are shown; RunReader: reads one of them in threads; View: its state besides the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message
from textual.message_pump import MessagePump

from ..config import Config
from ..control import Waiting
from ..core import CheckpointInfo, InterlockError, Intervention, InvalidState, Issue
from ..journal import Store
from ..link import TIMEOUT_S
from ..report import AllRuns, ControlCommand, Copy, Problem, RunRow, Series, Story, TimelineMoment, to_row
from ..runtime import StoredIncident
from .background_tasks import Worker
from .timeline import Part, Want
from .words import LadderCounts, RungCount, empty_ladder

if TYPE_CHECKING:
    from ..link import HubClient


POLL_S = 0.1
"""Polling interval of the journal; checking an unchanged one costs microseconds."""

FETCH_S = 1.0
"""The same for a run on another machine, whose records must be fetched."""

CHART_S = 2.0
POINTS = 120


@dataclass
class RunRead(Message):
    """The run continued, or was read for the first time: it as a whole, and its new moments."""

    view: View
    moments: list[TimelineMoment]


@dataclass
class Read(Message):
    """A part of the timeline was read."""

    want: Want
    part: Part


@dataclass
class Counted(Message):
    """The series of the charts."""

    series: Series


@dataclass
class RunUnreadable(Message):
    """The run cannot be read."""

    error: InterlockError


class RunReader:
    """Reads one run in two threads: one reports what is new, the other computes the charts, which takes longer."""

    def __init__(self, source: RunSource, row: RunRow, page: MessagePump) -> None:
        self._source, self._run_id, self._host, self._page = source, row.run_id, row.host, page
        self._seen: tuple[object, ...] = ()
        self._local = source.is_here(row.run_id)
        pause = POLL_S if self._local else FETCH_S
        name = f"interlock-run-{row.run_id}"
        self._reader = Worker(name, self._open, self._poll, self._fail, close=Story.close, pause=pause)
        # The other reader says why a run cannot be read.
        self._counter = Worker(
            f"{name}-charts", self._open, self._count, lambda _: None, close=Story.close, pause=CHART_S
        )

    def start(self) -> None:
        self._reader.start()
        if self._local:
            self._counter.start()

    def stop(self) -> None:
        self._reader.stop()
        self._counter.stop()

    def fetch(self, want: Want) -> None:
        """Read a part of the timeline."""
        self._reader.ask(lambda story: self._post(Read(want, want.read(story))))

    def _open(self) -> Story:
        # Nothing of this story was seen yet.
        self._seen = ()
        return self._source.open(self._run_id)

    def _poll(self, story: Story) -> None:
        if isinstance(story, Copy):
            story.fetch()
        moments = story.update()
        away = isinstance(story, Copy) and story.is_unknown
        seen = (story.last_seq, story.summary, story.problem, away)
        if seen == self._seen:
            return
        self._seen = seen
        self._post(RunRead(read_view(story, self._host, away=away), moments))
        if not self._local:
            # One copy of the fetched records is enough.
            self._count(story)

    def _count(self, story: Story) -> None:
        self._post(Counted(story.series(POINTS)))

    def _fail(self, error: InterlockError) -> None:
        self._post(RunUnreadable(error))

    def _post(self, message: Message) -> None:
        self._page.post_message(message)


class RunSource(AllRuns):
    """All runs; `hub_name` is the hub's address as given, `timeout` how long to wait for a run's reply."""

    def __init__(
        self,
        store: Store,
        config: Config,
        *,
        hub: HubClient | None = None,
        hub_name: str = "",
        checkpoint_store: Path | None = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        super().__init__(store, hub)
        self.config, self.hub_name, self.timeout = config, hub_name, timeout
        self.checkpoint_store = checkpoint_store

    def workspace(self, run_id: str) -> Path:
        """A run's workspace; InvalidState if it is on another machine."""
        if not self.is_here(run_id):
            raise InvalidState("the run's files are on another machine", todo="Use interlock top there.")
        spec = self.folder(run_id).spec()
        if spec.workspace is None:
            raise InvalidState("the run has no workspace", todo="Only runs with a workspace have checkpoints.")
        return Path(spec.workspace)


class View(Struct, frozen=True, kw_only=True):
    """The state of a run when it was read; unchanged parts are the same objects as before.

    `problems` are its episodes, open ones first, then the newest, or its issues where those belong to no episode.
    """

    row: RunRow
    waiting: Waiting | None = None
    ladder: LadderCounts
    problems: tuple[Problem | Issue, ...] = ()
    checkpoints: tuple[CheckpointInfo, ...] = ()
    controls: tuple[ControlCommand, ...] = ()
    incidents: tuple[StoredIncident, ...] = ()
    problem: str | None = None

    @property
    def owned(self) -> bool:
        return self.row.owner_pid is not None


def read_view(story: Story, host: str = "", *, away: bool = False) -> View:
    """Read a story, in its thread; `away`: its host is unreachable."""
    row = to_row(story.summary, host, ())
    return View(
        row=replace(row, status="unknown", outcome="unknown") if away and row.live else row,
        waiting=story.waiting,
        ladder=count_ladder(story.interventions),
        problems=_open_first(story.episodes) or tuple(reversed(story.issues)),
        checkpoints=tuple(reversed(story.checkpoints)),
        controls=tuple(replace(control) for control in story.controls),
        incidents=tuple(story.incidents) if story.counts.get("incident") else (),
        problem=story.problem,
    )


def _open_first(episodes: list[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(episodes, key=lambda each: (each.open, each.opened_at, each.id), reverse=True))


def count_ladder(interventions: list[Intervention]) -> LadderCounts:
    """How often each rung was used, and how it went."""
    ladder = empty_ladder()
    last = None
    for made in interventions:
        if made.outcome in ("held_back", "not_applied") or not 0 <= made.level < len(ladder.rungs):
            continue
        rung: RungCount = ladder.rungs[made.level]
        rung.used += 1
        rung.worked += made.outcome == "success"
        rung.failed += made.outcome == "failure"
        last = made.level
    return LadderCounts(ladder.rungs, last)
