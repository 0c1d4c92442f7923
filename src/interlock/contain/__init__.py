"""Containment: the agent works as before, but its supervisor is out of its reach."""

from .bubblewrap import find_bubblewrap, why_not
from .fence import API_PORT, EGRESS_PORT, Fence, build_fence
from .guard import Kept, guard_words
from .insiders import Insiders, refuse_inside
from .places import late_places
from .seccomp import open_filter

__all__ = [
    "API_PORT",
    "EGRESS_PORT",
    "Fence",
    "Insiders",
    "Kept",
    "build_fence",
    "find_bubblewrap",
    "guard_words",
    "late_places",
    "open_filter",
    "refuse_inside",
    "why_not",
]
