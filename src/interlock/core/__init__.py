"""The nouns: plain frozen values, no input or output."""

from .adapter import EVERY_CAPABILITY, Adapter, Applied, Capability
from .checkpoint import CheckpointInfo
from .clock import Clock, ManualClock, SystemClock
from .context import Context, Goal
from .contract import CLAUSE_KEYS, FORBIDDEN, NO_CONTRACT, Clause, ClauseKey, Contract, Forbidden
from .decision import PROCEED, Decision
from .directive import (
    Defer,
    Delay,
    Deny,
    Directive,
    Hold,
    Inject,
    Notify,
    Restore,
    Rewrite,
    SetLimits,
    Stop,
    SwitchModel,
)
from .errors import BadInput, InterlockError, InvalidState, NotFound, Unknown
from .intervention import LADDER, PAUSE, Intervention, InterventionType, Outcome, short_name
from .issue import ISSUE_TYPES, SEVERITIES, Issue, Severity
from .limits import Growth, Limits, Spend
from .liveness import Liveness, LivenessWord, WedgedKind
from .message import Message, MessageMeta
from .plan import Plan, RollbackEntry
from .record import LostRecord, Record
from .review import VERDICTS, Review, Seen, Verdict
from .run import AGENT, ENDED, SIGNAL, RunSpec, Status
from .state import HISTORY, Action, RunState
from .step import Kind, Origin, Paths, Role, Step, Tool, Usage, derive_kind
from .stuck import Sign, Stuck

__all__ = [
    "AGENT", "CLAUSE_KEYS", "ENDED", "EVERY_CAPABILITY", "FORBIDDEN", "HISTORY", "ISSUE_TYPES", "LADDER", "NO_CONTRACT",
    "PAUSE", "PROCEED", "SEVERITIES", "SIGNAL", "VERDICTS", "Action", "Adapter", "Applied", "BadInput", "Capability",
    "CheckpointInfo",
    "Clause", "ClauseKey", "Clock", "Context", "Contract", "Decision", "Defer", "Delay", "Deny", "Directive",
    "Forbidden", "Goal", "Growth", "Hold", "Inject", "InterlockError", "Intervention", "InterventionType",
    "InvalidState", "Issue", "Kind", "Limits", "Liveness", "LivenessWord",
    "LostRecord", "ManualClock", "Message", "MessageMeta", "NotFound",
    "Notify", "Origin", "Outcome", "Paths", "Plan", "Record", "Restore", "Review", "Rewrite", "Role", "RollbackEntry",
    "RunSpec", "RunState", "Seen", "SetLimits", "Severity", "Sign", "Spend", "Status", "Step", "Stop", "Stuck",
    "SwitchModel", "SystemClock", "Tool", "Unknown", "Usage", "Verdict", "WedgedKind", "derive_kind",
    "short_name",
]  # fmt: skip
