"""View: what a run's page shows besides the timeline, taken from the story at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..control import Waiting
from ..core import CheckpointInfo, Intervention, Issue
from ..report import ControlCommand, Problem, RunRow, Story, TimelineMoment, to_row
from .ladder import LadderCounts, RungCount, empty_ladder

if TYPE_CHECKING:
    # Imported late: what it brings along takes longer than all the rest.
    from ..runtime import StoredIncident


class View(Struct, frozen=True, kw_only=True):
    """A run as it was when it was looked at; what has not changed is the same object as before.

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


def take_view(story: Story, host: str = "", *, away: bool = False) -> View:
    """Look at a story, in its thread; `away` says that its host is silent."""
    row = to_row(story.summary, host, ())
    interventions = story.interventions
    incidents = tuple(story.incidents) if story.counts.get("incident") else ()
    return View(
        row=replace(row, status="unknown", outcome="unknown") if away and row.live else row,
        waiting=story.waiting,
        ladder=count_ladder(interventions),
        problems=_open_first(story.episodes) or tuple(reversed(story.issues)),
        checkpoints=tuple(reversed(story.checkpoints)),
        controls=tuple(replace(control) for control in story.controls),
        incidents=incidents,
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


class News(Struct, frozen=True):
    """What a check of a story found."""

    view: View
    moments: list[TimelineMoment]
