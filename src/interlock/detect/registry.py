"""Where detectors come from: the files of this package, installed packages, and code that registers its own."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ..core import BadInput
from ..core.installed import installed
from . import patterns
from .detector import Factory

GROUP = "interlock.detectors"

_registered: list[Factory] = []


def register(factory: Factory) -> Factory:
    """Add a detector to every run started from now on; usable as a decorator."""
    if factory not in _registered:
        _registered.append(factory)
    return factory


def unregister(factory: Factory) -> None:
    """Take a registered detector away again."""
    _registered.remove(factory)


def factories() -> tuple[Factory, ...]:
    """Every detector known now: built-in, installed, registered."""
    return (*_built_in(), *_installed(), *_registered)


def issue_types() -> frozenset[str]:
    """The types of issues that these detectors raise; one made by a function does not say."""
    return frozenset(kind for factory in factories() if isinstance(kind := getattr(factory, "type", None), str))


@cache
def _built_in() -> tuple[Factory, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(patterns.__path__))
    return tuple(importlib.import_module(f"{patterns.__name__}.{name}").detector for name in names)


@cache
def _installed() -> tuple[Factory, ...]:
    found = []
    for point in installed(GROUP):
        factory = point.load()
        if not callable(factory):
            raise BadInput(
                f"the entry point {point.name!r} is not callable",
                where=point.value,
                todo=f"Point {GROUP} at a class or function that takes a Setting.",
            )
        found.append(factory)
    return tuple(found)
