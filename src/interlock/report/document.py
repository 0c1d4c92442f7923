"""Document: the whole report on one run as plain data; HTML, Markdown and JSON are made from it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from .._version import __version__
from ..core import LADDER, PAUSE, SEVERITIES, Issue, RunSpec
from ..journal import RunSummary, Series, Sums, verify_journal
from ..journal_records import ProofRecord, VerificationResult
from ..output import LastLines, read_last_lines
from ..runtime import StoredIncident
from .changes import RunChanges
from .episodes import ControlCommand, Problem
from .pictures import ReportPicture, gather_pictures
from .story import Story
from .timeline_entry import HIDDEN, TimelineMoment

LINES = 3000
"""Lines of the timeline; for a longer run, those that matter."""

MARKS = 200
TOP = len(LADDER) - 1


class RungUse(Struct, frozen=True):
    """One rung of the ladder: how often it was used, and the result."""

    type: str
    level: int
    worked: int = 0
    failed: int = 0
    open: int = 0
    held_back: int = 0

    @property
    def made(self) -> int:
        return self.worked + self.failed + self.open


class IssueResponse(Struct, frozen=True):
    """One intervention for an issue, in a chain."""

    step: int
    type: str
    level: int
    outcome: str
    reason: str = ""


class Chain(Struct, frozen=True, kw_only=True):
    """One type of issue from its first to its last occurrence, with its interventions."""

    type: str
    count: int
    severity: str
    first_step: int
    last_step: int
    description: str
    answers: tuple[IssueResponse, ...] = ()


class Mark(Struct, frozen=True):
    """An intervention that a chart marks."""

    step: int
    level: int
    text: str


DAMAGES = 5
"""Damages that a report lists; `interlock verify` lists more."""


class Document(Struct, frozen=True, kw_only=True):
    """A run as a document. `left_out` counts the lines of the timeline that did not fit."""

    made_at: float
    made_by: str
    run: RunSummary
    status: str
    spec: RunSpec
    told: tuple[str, ...]
    proof: ProofRecord
    sums: Sums
    series: Series
    ladder: tuple[RungUse, ...]
    episodes: tuple[Problem, ...]
    chains: tuple[Chain, ...]
    marks: tuple[Mark, ...]
    timeline: tuple[TimelineMoment, ...]
    left_out: int
    controls: tuple[ControlCommand, ...]
    changes: RunChanges
    incidents: tuple[StoredIncident, ...]
    verifications: tuple[VerificationResult, ...]
    pictures: tuple[ReportPicture, ...]
    output: LastLines = LastLines()

    @property
    def answers(self) -> tuple[int, int]:
        """The number of interventions and how many worked, including screen recoveries."""
        looks = self.sums.looks
        made = sum(rung.made for rung in self.ladder) + looks["recovered"] + looks["failed"]
        return made, sum(rung.worked for rung in self.ladder) + looks["recovered"]


def damage_sentences(story: Story) -> tuple[str, ...]:
    """Sentences about damage to the journal."""
    found = verify_journal(story.folder)
    return tuple(f"The journal cannot be relied on: {damage.what}." for damage in found.damage[:DAMAGES])


def gather(story: Story, changes: RunChanges | None = None, *, albums: tuple[Path, ...] = ()) -> Document:
    """Everything about a run. `albums` are folders besides its own that may hold its pictures."""
    from .narrative import narrate

    sums = story.sums
    ladder, episodes, chains = make_ladder(sums), tuple(story.episodes), make_chains(story)
    timeline, left_out = choose_lines(story)
    incidents = tuple(story.incidents)
    changed = changes or RunChanges()
    return Document(
        made_at=time.time(),
        made_by=f"Interlock {__version__}",
        run=story.summary,
        status=story.summary.shown,
        spec=story.spec,
        told=(*narrate(story, ladder, episodes, chains, changed), *damage_sentences(story)),
        proof=story.read_proof(),
        sums=sums,
        series=story.series(),
        ladder=ladder,
        episodes=episodes,
        chains=chains,
        marks=tuple(
            Mark(made.step, made.level, f"{made.type} on {made.issue_type}")
            for made in story.interventions
            if made.outcome not in ("held_back", "not_applied")
        )[-MARKS:],
        timeline=timeline,
        left_out=left_out,
        controls=tuple(story.controls),
        changes=changed,
        incidents=incidents,
        verifications=find_verifications(story),
        pictures=gather_pictures(story, albums),
        output=read_last_lines(story.folder.output),
    )


def make_ladder(sums: Sums) -> tuple[RungUse, ...]:
    """The five rungs, and custom interventions that were used."""
    rungs = []
    for name in dict.fromkeys((*LADDER, *sums.interventions)):
        level = LADDER.index(name) if name in LADDER else TOP if name == PAUSE else 0
        outcomes = Counter(sums.interventions.get(name, ()))
        held_back = outcomes["held_back"] + outcomes["not_applied"]
        rungs.append(
            RungUse(
                name,
                level,
                outcomes["success"],
                outcomes["failure"],
                outcomes["pending"] + outcomes["not_judged"],
                held_back,
            )
        )
    return tuple(rungs)


def strongest_first(ladder: Iterable[RungUse]) -> list[RungUse]:
    """The rungs in drawing order: strongest on top, custom interventions below."""
    return sorted(ladder, key=lambda rung: (rung.type not in (*LADDER, PAUSE), -rung.level))


def make_chains(story: Story) -> tuple[Chain, ...]:
    """Issues without an episode, by type in order of first occurrence, with their interventions."""
    loose = {made.issue_type for made in story.interventions if made.episode is None}
    found: dict[str, list[Issue]] = {}
    for issue in story.issues if loose or not story.counts.get("episode") else ():
        if story.counts.get("episode") and issue.type not in loose:
            continue
        found.setdefault(issue.type, []).append(issue)
    chains = []
    for name, issues in found.items():
        worst = max(issues, key=lambda issue: SEVERITIES.index(issue.severity or "medium"))
        answers = tuple(
            IssueResponse(made.step, made.type, made.level, made.outcome, made.reason)
            for made in story.interventions
            if made.issue_type == name and made.episode is None
        )
        chains.append(
            Chain(
                type=name,
                count=story.sums.issues.get(name, len(issues)),
                severity=worst.severity or "medium",
                first_step=min(issue.step if issue.started_step is None else issue.started_step for issue in issues),
                last_step=max(issue.step for issue in issues),
                description=worst.description,
                answers=answers,
            )
        )
    return tuple(chains)


def choose_lines(story: Story) -> tuple[tuple[TimelineMoment, ...], int]:
    """The whole timeline if it fits, else everything but plain steps and internal records."""
    total = sum(count for kind, count in story.counts.items() if kind not in HIDDEN)
    if total <= LINES:
        return tuple(story.page(limit=LINES)), 0
    kinds = frozenset(
        ("review", "issue", "intervention", "control", "state", "limit", "incident", "approval", "picture")
    )
    chosen = [line for line in story.page(limit=2 * LINES, kinds=kinds) if line.level != "quiet"][-LINES:]
    return tuple(chosen), total - len(chosen)


def find_verifications(story: Story) -> tuple[VerificationResult, ...]:
    """The verification results of GUI sessions."""
    if not story.counts.get("gui_verification"):
        return ()
    lines = story.page(limit=50, text="comparisons", kinds=frozenset(("note",)))
    return tuple(body for line in lines if isinstance(body := line.body, VerificationResult))
