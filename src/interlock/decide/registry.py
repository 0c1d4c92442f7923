"""Where strategies come from: built in, installed packages, and code that registers its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ..core import BadInput
from ..core.installed import installed
from .strategies import BUILT_IN, PROGRESSIVE, Strategy

RESERVED = (PROGRESSIVE, *BUILT_IN)
GROUP = "interlock.strategies"

_registered: dict[str, Strategy] = {}


def register_strategy(name: str, strategy: Strategy) -> None:
    """Make a strategy of your own known by name to every controller made from now on."""
    if not name or name in RESERVED:
        raise BadInput(f"{name!r} cannot be the name of a strategy of your own", todo="Choose another name.")
    if _registered.get(name, strategy) is not strategy:
        raise BadInput(f"another strategy is registered as {name!r} already", todo="Choose another name.")
    _registered[name] = strategy


def unregister_strategy(name: str) -> None:
    """Take a registered strategy away again."""
    del _registered[name]


def find_strategy(name: str, given: Mapping[str, Strategy] | None = None) -> Strategy:
    """The strategy of a name. `custom` is the one of that name, else the only one that is not built in.

    `given` takes the place of what is installed and registered.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    own = {**_installed(), **_registered} if given is None else given
    if name in own:
        return own[name]
    if name == "custom" and len(own) == 1:
        return next(iter(own.values()))
    what = f"there is no strategy {name!r}"
    if name == "custom":
        what = f"{len(own)} custom strategies are registered, so one must be named" if own else "none is registered"
    known = ", ".join((*RESERVED, *sorted(own)))
    raise BadInput(what, where="interventions.strategy.type", todo=f"Known: {known}.")


@cache
def _installed() -> dict[str, Strategy]:
    found: dict[str, Strategy] = {}
    for point in installed(GROUP):
        strategy = point.load()
        if not callable(strategy) or point.name in RESERVED:
            raise BadInput(
                f"the entry point {point.name!r} is not a strategy of its own",
                where=point.value,
                todo=f"Point {GROUP} at a function that takes a Situation, under a name that is not built in.",
            )
        found[point.name] = strategy
    return found
