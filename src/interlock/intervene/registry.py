"""Where custom interventions come from: installed packages, and code that registers its own."""

from __future__ import annotations

from functools import cache

from ..core import BadInput
from ..core.installed import installed
from .custom import Custom

GROUP = "interlock.interventions"

_registered: list[Custom] = []


def register_intervention(custom: Custom) -> Custom:
    """Add an intervention to every controller made from now on."""
    if custom not in _registered:
        _registered.append(custom)
    return custom


def unregister_intervention(custom: Custom) -> None:
    """Take a registered intervention away again."""
    _registered.remove(custom)


def custom_interventions() -> tuple[Custom, ...]:
    """Every custom intervention known now: installed and registered."""
    return (*_installed(), *_registered)


@cache
def _installed() -> tuple[Custom, ...]:
    found = []
    for point in installed(GROUP):
        custom = point.load()
        if not isinstance(custom, Custom):
            raise BadInput(
                f"the entry point {point.name!r} is a {type(custom).__name__}",
                where=point.value,
                todo=f"Point {GROUP} at an interlock.intervene.Custom.",
            )
        found.append(custom)
    return tuple(found)
