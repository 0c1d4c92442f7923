"""Reading: what the product did in a run, as its journal has it. The only file that knows the journal's records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from interlock.core import LADDER, CheckpointInfo, Hold, Inject, Intervention, Issue, Stop
from interlock.core.decoding import from_json
from interlock.journal import JournalReader, RunFolder
from interlock.journal_records import InterventionRecord, RestoredRecord

Outcome = Literal["worked", "failed", "pending"]
KINDS = frozenset(("issue", "intervention", "effect", "checkpoint", "restored"))
PERSON = "person"


@dataclass(frozen=True)
class Answer:
    """One answer that was applied: its rung (`person` for a pause), where, to which episode, and what came of it."""

    rung: str
    level: int
    step: int
    episode: str
    texts: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True)
class Account:
    """What the journal says of a run. `lost` counts answers that were recorded as held back; `undone` are the ranges
    of steps that rollbacks took back, `skipped` rollbacks that had nothing to go back to."""

    answers: list[Answer] = field(default_factory=list)
    alarms: list[int] = field(default_factory=list)
    lost: int = 0
    undone: list[tuple[int, int]] = field(default_factory=list)
    skipped: int = 0


def read_account(folder: RunFolder) -> Account:
    """Everything that the bench judges by."""
    made: dict[str, InterventionRecord] = {}
    agents: dict[str, str] = {}
    outcomes: dict[str, str] = {}
    alarms: list[int] = []
    lost, last, skipped = 0, 0, 0
    steps: dict[str, int] = {}
    undone: list[tuple[int, int]] = []
    with JournalReader.open(folder) as reader:
        for record in reader.read(kinds=KINDS):
            match record.kind:
                case "issue":
                    issue = from_json(record.body, Issue)
                    alarms.append(issue.step)
                    agents[issue.id] = issue.agent or ""
                case "intervention":
                    body = from_json(record.body, InterventionRecord)
                    last = max(last, body.intervention.step)
                    if body.directives:
                        made[body.intervention.id] = body
                    elif body.intervention.outcome == "held_back":
                        lost += 1
                    skipped += "nothing to go back to" in body.intervention.reason
                case "effect":
                    judged = from_json(record.body, Intervention)
                    outcomes[judged.id] = judged.outcome
                case "checkpoint":
                    point = from_json(record.body, CheckpointInfo)
                    steps[point.id] = point.step
                case "restored":
                    back = from_json(record.body, RestoredRecord)
                    undone.append((steps.get(back.checkpoint_id, last), last))
    answers = [_answer(body, outcomes, agents) for body in made.values()]
    return Account(answers, alarms, lost, undone, skipped)


def _answer(body: InterventionRecord, outcomes: dict[str, str], agents: dict[str, str]) -> Answer:
    made = body.intervention
    texts = tuple(one.message.content for one in body.directives if isinstance(one, Inject))
    rung, level = made.type, made.level
    if any(isinstance(one, Hold) for one in body.directives):
        rung, level = PERSON, len(LADDER) - 1
    elif any(isinstance(one, Stop) for one in body.directives):
        rung, level = LADDER[-1], len(LADDER) - 1
    words: dict[str, Outcome] = {"success": "worked", "failure": "failed"}
    outcome = words.get(outcomes.get(made.id, ""), "pending")
    return Answer(rung, level, made.step, f"{made.issue_type}/{agents.get(made.issue_id, '')}", texts, outcome)
