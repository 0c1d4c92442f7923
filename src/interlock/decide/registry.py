"""Where strategies come from: built in, installed packages, and code that registers its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ..core import STRATEGIES, BadInput
from .strategies import BUILT_IN, PROGRESSIVE, Strategy

RESERVED = (PROGRESSIVE, *BUILT_IN)


def register_strategy(name: str, strategy: Strategy) -> None:
    """Make a strategy of your own known by name to every controller made from now on."""
    if not name or name in RESERVED:
        raise BadInput(f"{name!r} cannot be the name of a strategy of your own", todo="Choose another name.")
    if _own().get(name, strategy) is not strategy:
        raise BadInput(f"a strategy is already registered as {name!r}", todo="Choose another name.")
    STRATEGIES.register(strategy, name)


def unregister_strategy(name: str) -> None:
    """Remove a registered strategy."""
    STRATEGIES.unregister(_own()[name], name)


def find_strategy(name: str, given: Mapping[str, Strategy] | None = None) -> Strategy:
    """The strategy of a name. `custom` is the one of that name, else the only one that is not built in.

    `given` takes the place of what is installed and registered.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    own = _own() if given is None else given
    if name in own:
        return own[name]
    if name == "custom" and len(own) == 1:
        return next(iter(own.values()))
    what = f"there is no strategy {name!r}"
    if name == "custom":
        what = f"{len(own)} custom strategies are registered, so one must be named" if own else "none is registered"
    known = ", ".join((*RESERVED, *sorted(own)))
    raise BadInput(what, where="interventions.strategy.type", todo=f"Known: {known}.")


def _own() -> dict[str, Strategy]:
    """Strategies that are installed or registered, by name; one that is built in is found first."""
    return {name: cast("Strategy", strategy) for name, strategy in STRATEGIES.found()}
