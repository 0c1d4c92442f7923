"""Proof of a run: its claims with verdicts, as recorded, else derived from its steps."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from ..core import CheckpointInfo
from ..journal import JournalReader
from ..journal_records import ProofRecord, RestoredRecord, StepRecord, StopGateRecord, read_body
from ..proof import ProofTracker, Verdict
from ..runtime import AFTER_STEP

Body = TypeVar("Body")

ORDER: tuple[Verdict, ...] = ("contradicted", "unproven", "own_check", "stale", "proven")
"""The verdicts, most important first."""

MEANS: dict[Verdict, str] = {
    "proven": "a check that says exactly this passed on exactly these files",
    "own_check": "it passed, but the agent wrote or changed the check itself",
    "stale": "it passed, but files changed afterwards",
    "contradicted": "the last such check failed, or what is claimed does not exist",
    "unproven": "no check says this",
}
KINDS = frozenset(("step", "checkpoint", "restored"))


def read_proof(reader: JournalReader) -> ProofRecord:
    """The newest recorded verdicts of a run, else derived from its steps."""
    return last_body(reader, "proof", ProofRecord) or _by_steps(reader)


def last_gate(reader: JournalReader) -> StopGateRecord | None:
    """The last result of `done_when`."""
    return last_body(reader, "stop_gate", StopGateRecord)


def last_body(reader: JournalReader, kind: str, body: type[Body]) -> Body | None:
    """The newest record of a kind; None if there is none, or another version wrote it."""
    newest = reader.last(kind)
    recorded = read_body(newest) if newest is not None else None
    return recorded if isinstance(recorded, body) else None


def sorted_claims(proof: ProofRecord) -> ProofRecord:
    """The record with the worst verdicts first."""
    claims = sorted(proof.claims, key=lambda each: (ORDER.index(each.verdict), each.claim.step))
    return replace(proof, claims=tuple(claims))


def _by_steps(reader: JournalReader) -> ProofRecord:
    tracker, steps = ProofTracker(), 0
    for record in reader.read(kinds=KINDS):
        body = read_body(record)
        if isinstance(body, StepRecord):
            ran = body.decision is None or body.decision.action in ("proceed", "rewrite")
            tracker.observe(body.step, prevented=not ran, absent=body.absent)
            steps += 1
        elif isinstance(body, CheckpointInfo):
            tracker.mark(body.id, after=body.cause == AFTER_STEP)
        elif isinstance(body, RestoredRecord):
            tracker.mark(body.checkpoint_id, after=False)
    return ProofRecord(tracker.verdicts(), step=steps)
