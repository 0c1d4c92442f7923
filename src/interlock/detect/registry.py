"""Where detectors come from: the files of this package, installed packages, and code that registers its own."""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

from ..core import DETECTORS, KEPT
from . import patterns
from .detector import Factory


def register(factory: Factory) -> Factory:
    """Add a detector to every run started from now on; usable as a decorator."""
    DETECTORS.register(factory)
    return factory


def unregister(factory: Factory) -> None:
    """Remove a registered detector."""
    DETECTORS.unregister(factory)


def factories() -> tuple[Factory, ...]:
    """Every detector known now: built-in, installed, registered."""
    return (*built_in(), *(cast("Factory", factory) for _, factory in DETECTORS.found()))


def issue_types() -> frozenset[str]:
    """The types of issues that these detectors raise; one made by a function does not say."""
    return frozenset(kind for factory in factories() if isinstance(kind := getattr(factory, "type", None), str))


@cache
def built_in() -> tuple[Factory, ...]:
    """The detectors that come with Interlock."""
    return tuple(importlib.import_module(f"{patterns.__name__}.{name}").detector for name in KEPT.names_in(patterns))
