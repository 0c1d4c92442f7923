"""What the adapters for Python frameworks share: one session for each run of an agent in this process."""

from .adapter import InProcess
from .asked import Asked, Outcome, read_outcome
from .edits import Edits
from .session import RunStopped, Session
from .supervision import Supervision
from .turn import Turn

__all__ = [
    "Asked", "Edits", "InProcess", "Outcome", "RunStopped", "Session", "Supervision", "Turn", "read_outcome",
]  # fmt: skip
