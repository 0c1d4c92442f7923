"""Where custom interventions come from: installed packages, and code that registers its own."""

from __future__ import annotations

from ..core import INTERVENTIONS
from .custom import Custom


def register_intervention(custom: Custom) -> Custom:
    """Add an intervention to every controller made from now on."""
    INTERVENTIONS.register(custom)
    return custom


def unregister_intervention(custom: Custom) -> None:
    """Remove a registered intervention."""
    INTERVENTIONS.unregister(custom)


def custom_interventions() -> tuple[Custom, ...]:
    """Every custom intervention known now: installed and registered."""
    found = INTERVENTIONS.found(lambda thing: isinstance(thing, Custom))
    return tuple(custom for _, custom in found if isinstance(custom, Custom))
