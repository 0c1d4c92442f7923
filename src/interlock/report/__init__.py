"""What people look at is read here: one run as a story, all runs as a fleet, and the report made of them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..control.messages import Waiting
    from .controls import Acked, ControlCommand, ControlResult
    from .episodes import Problem
    from .fleet import Fleet, RunRow
    from .series import Series, Sums
    from .story import Story
    from .timeline_entry import KINDS, LEVELS, TimelineMoment
    from .words import Level, MomentKind

_HOME = {
    "KINDS": ".timeline_entry", "LEVELS": ".timeline_entry", "Acked": ".controls", "ControlResult": ".controls",
    "ControlCommand": ".controls", "Fleet": ".fleet", "Level": ".words", "TimelineMoment": ".timeline_entry",
    "MomentKind": ".words", "Problem": ".episodes", "RunRow": ".fleet", "Series": ".series", "Story": ".story",
    "Sums": ".series", "Waiting": "..control.messages",
}  # fmt: skip

__all__ = [
    "KINDS", "LEVELS", "Acked", "ControlCommand", "ControlResult", "Fleet", "Level", "MomentKind", "Problem", "RunRow",
    "Series", "Story", "Sums", "TimelineMoment", "Waiting",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: a list of runs needs no timeline."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value
