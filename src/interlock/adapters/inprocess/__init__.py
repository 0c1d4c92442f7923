"""What the adapters for Python frameworks share: one session for each run of an agent in this process."""

from .adapter import InProcessAdapter
from .call_decision import CallDecision, CallOutcome, read_outcome
from .edits import HistoryEdits
from .model_turn import ModelTurn
from .session import RunStopped, Session
from .supervision import Supervision

__all__ = [
    "CallDecision", "CallOutcome", "HistoryEdits", "InProcessAdapter", "ModelTurn", "RunStopped", "Session",
    "Supervision", "read_outcome",
]  # fmt: skip
