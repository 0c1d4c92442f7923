"""Every kind of record that a journal holds: one union, from which writers, readers, reports and schemas come.

The journal stores a record's kind alongside its JSON body, so the kind is the union's tag. To add a kind: write its
struct, add it to KINDS and to RecordBody, give it words in `report/words.py`, and run `make web`.
"""

from __future__ import annotations

from types import UnionType
from typing import get_args

import msgspec

from ..control import Abort, Ack, Audit, Done, Request, Result, State
from ..core import (
    CheckpointInfo,
    Hold,
    Intervention,
    Issue,
    LostRecord,
    Plan,
    Record,
    RollbackEntry,
    RunSpec,
    Text,
    from_json,
)
from .gui import (
    FileComparison,
    GuiChunkRecord,
    GuiModelCallRecord,
    GuiResultRecord,
    GuiSessionRecord,
    GuiTroubleRecord,
    InterventionEvent,
    MatchStatus,
    ReplayStatus,
    VerificationResult,
)
from .run import (
    EndRecord,
    Fault,
    FenceRecord,
    IncidentRecord,
    LimitRecord,
    LivenessRecord,
    ParkedRecord,
    ProxiedRecord,
    StartedRecord,
    StatusRecord,
    TamperRecord,
    TranscriptRecord,
    UnwedgeRecord,
    WokenRecord,
)
from .supervision import (
    AppliedRecord,
    BreachRecord,
    CommandResult,
    ContractRecord,
    EpisodeRecord,
    InterventionRecord,
    Opinion,
    PersonRecord,
    ProofRecord,
    RestoredRecord,
    SnapshotRecord,
    StepRecord,
    StopGateRecord,
)

RecordBody = (
    StepRecord | Issue | InterventionRecord | AppliedRecord | Intervention | EpisodeRecord | PersonRecord
    | Opinion | Plan | RollbackEntry | CheckpointInfo | RestoredRecord | SnapshotRecord | StatusRecord
    | ContractRecord | BreachRecord | StopGateRecord
    | LimitRecord | Fault | IncidentRecord | RunSpec | StartedRecord | Hold | EndRecord | TamperRecord
    | FenceRecord
    | TranscriptRecord | ProxiedRecord | LostRecord | Request | Ack | Result | State | Abort | Done | Audit
    | GuiSessionRecord | GuiChunkRecord | GuiTroubleRecord | InterventionEvent | GuiModelCallRecord
    | VerificationResult | GuiResultRecord | ParkedRecord | WokenRecord | LivenessRecord | UnwedgeRecord
    | ProofRecord
)  # fmt: skip
"""What can be written to a journal."""

KINDS: dict[str, type | UnionType] = {
    "spec": RunSpec,
    "started": StartedRecord,
    "step": StepRecord,
    "issue": Issue,
    "intervention": InterventionRecord,
    "applied": AppliedRecord,
    "effect": Intervention,
    "episode": EpisodeRecord,
    "person": PersonRecord,
    "opinion": Opinion,
    "plan": Plan,
    "history": RollbackEntry,
    "checkpoint": CheckpointInfo,
    "restored": RestoredRecord,
    "snapshot": SnapshotRecord,
    "status": StatusRecord,
    "hold": Hold,
    "contract": ContractRecord,
    "breach": BreachRecord,
    "stop_gate": StopGateRecord,
    "limit": LimitRecord,
    "incident": IncidentRecord,
    "fault": Fault,
    "tamper": TamperRecord,
    "fence": FenceRecord,
    "transcript": TranscriptRecord,
    "proxied": ProxiedRecord,
    "lost": LostRecord,
    "parked": ParkedRecord,
    "woken": WokenRecord,
    "liveness": LivenessRecord,
    "unwedge": UnwedgeRecord,
    "request": Request,
    "ack": Ack,
    "result": Result,
    "state": State | Abort | Done,
    "audit": Audit,
    "proof": ProofRecord,
    "end": EndRecord,
    "gui_session": GuiSessionRecord,
    "gui_chunk": GuiChunkRecord,
    "gui_trouble": GuiTroubleRecord,
    "gui_event": InterventionEvent,
    "gui_model_call": GuiModelCallRecord,
    "gui_verification": VerificationResult,
    "gui_result": GuiResultRecord,
}
"""Each kind with the type of its body."""

_KIND_OF: dict[type, str] = {each: kind for kind, body in KINDS.items() for each in get_args(body) or (body,)}


def kind_of(body: RecordBody) -> str:
    """The kind under which a body is stored."""
    try:
        return _KIND_OF[type(body)]
    except KeyError:
        raise TypeError(
            f"{type(body).__name__} is the body of no record: see interlock.journal_records.KINDS"
        ) from None


def decode_body(kind: str, body: Text) -> RecordBody | None:
    """A stored body; None for a kind that we do not know, or a body that another version wrote differently."""
    known = KINDS.get(kind)
    if known is None:
        return None
    try:
        return from_json(body, known)  # type: ignore[no-any-return]
    except msgspec.DecodeError:
        return None


def read_body(record: Record) -> RecordBody | None:
    """The body of a record, as `decode_body`."""
    return decode_body(record.kind, record.body)


__all__ = [
    "KINDS", "AppliedRecord", "BreachRecord", "CommandResult", "ContractRecord", "EndRecord", "EpisodeRecord", "Fault",
    "FenceRecord", "FileComparison", "GuiChunkRecord", "GuiModelCallRecord", "GuiResultRecord", "GuiSessionRecord",
    "GuiTroubleRecord", "IncidentRecord", "InterventionEvent", "InterventionRecord", "LimitRecord", "LivenessRecord",
    "MatchStatus",
    "Opinion", "ParkedRecord", "PersonRecord", "ProofRecord", "ProxiedRecord", "RecordBody", "ReplayStatus",
    "RestoredRecord", "SnapshotRecord", "StartedRecord", "StatusRecord", "StepRecord", "StopGateRecord",
    "TamperRecord", "TranscriptRecord", "UnwedgeRecord", "VerificationResult", "WokenRecord", "decode_body", "kind_of",
    "read_body",
]  # fmt: skip
