"""What people look at is read here: one run as a story, all runs as a fleet, and the report made of them."""

from .controls import Acked, Answered, Control
from .fleet import Fleet, RunRow
from .moment import KINDS, LEVELS, Moment
from .series import Series, Sums
from .story import Story, Waiting
from .words import Level, MomentKind

__all__ = [
    "KINDS", "LEVELS", "Acked", "Answered", "Control", "Fleet", "Level", "Moment", "MomentKind", "RunRow", "Series",
    "Story", "Sums", "Waiting",
]  # fmt: skip
