"""Replay: restores a predecessor's state from the journal, decision by decision."""

from __future__ import annotations

from ..core import CheckpointInfo, from_json
from ..journal import JournalReading
from ..journal_records import Opinion, PersonRecord, RestoredRecord, SnapshotRecord, StatusRecord, StepRecord
from .decision_pipeline import DecisionPipeline

KINDS = frozenset(("step", "checkpoint", "restored", "status", "opinion", "person"))


def replay(pipeline: DecisionPipeline, journal: JournalReading) -> int:
    """Replay the journal into a new pipeline without acting; returns the index of the next step."""
    after, next_index = 0, 0
    snapshot = journal.last("snapshot")
    if snapshot is not None:
        saved = from_json(snapshot.body, SnapshotRecord)
        pipeline.restore(saved.watch)
        after, next_index = snapshot.seq, saved.next_index
        for record in journal.read(kinds=frozenset(("opinion",))):
            if record.seq < after:
                pipeline.heed(from_json(record.body, Opinion))
    for record in journal.read(after=after, kinds=KINDS):
        match record.kind:
            case "step":
                line = from_json(record.body, StepRecord)
                next_index = max(next_index, line.step.index + 1)
                _observe(pipeline, line)
            case "checkpoint":
                pipeline.mark(from_json(record.body, CheckpointInfo))
            case "restored":
                pipeline.go_back(from_json(record.body, RestoredRecord).checkpoint_id)
            case "status":
                pipeline.set_status(from_json(record.body, StatusRecord).status)
            case "person":
                pipeline.note_person(from_json(record.body, PersonRecord).reachable)
            case "opinion":
                pipeline.heed(from_json(record.body, Opinion))
    return next_index


def _observe(pipeline: DecisionPipeline, line: StepRecord) -> None:
    pipeline.count(line.step)
    if line.unobserved:
        return
    pipeline.review(line.step)
    ran = line.decision is None or line.decision.action in ("proceed", "rewrite")
    pipeline.observe(line.step, line.review, prevented=not ran, absent=line.absent)
