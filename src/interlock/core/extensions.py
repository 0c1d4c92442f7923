"""All extension points: what packages and programs can add to Interlock.

A package lists its extensions in its pyproject.toml; they are found once it is installed:

    [project.entry-points."interlock.detectors"]
    idle = "my_package:Idle"

A program can add extensions while it runs: see `register`, `register_strategy`, `register_intervention` and
`register_hook_client`. For a single run, `Supervisor.open(plugins=Plugins(...))` accepts the first three.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from .errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class ExtensionPoint:
    """One kind of extension; `wanted` describes what an entry point must name."""

    def __init__(self, group: str, wanted: str) -> None:
        self.group, self.wanted = group, wanted
        self._registered: list[tuple[str, object]] = []
        self._installed: dict[tuple[str, ...], tuple[tuple[str, object], ...]] = {}

    def register(self, thing: object, name: str = "") -> None:
        """Add an extension to every run that is started from now on; adding it again has no effect."""
        if (name, thing) not in self._registered:
            self._registered.append((name, thing))

    def unregister(self, thing: object, name: str = "") -> None:
        """Remove a registered extension."""
        self._registered.remove((name, thing))

    def has_any(self) -> bool:
        """Whether any extension is installed or registered; does not load them."""
        return bool(self._registered) or any(True for _ in entry_points_of(self.group))

    def found(self, fits: Callable[[object], bool] = callable) -> tuple[tuple[str, object], ...]:
        """All installed and registered extensions with their names; BadInput if an entry point names something else."""
        path = tuple(sys.path)
        if path not in self._installed:
            loaded = tuple((point.name, self._load(point, fits)) for point in entry_points_of(self.group))
            self._installed = {path: loaded}
        return (*self._installed[path], *self._registered)

    def _load(self, point: EntryPoint, fits: Callable[[object], bool]) -> object:
        thing: object = point.load()
        if fits(thing):
            return thing
        raise BadInput(
            f"the entry point {point.name!r} is a {type(thing).__name__}",
            where=point.value,
            todo=f"Point {self.group} at {self.wanted}.",
        )


DETECTORS = ExtensionPoint(
    "interlock.detectors", "a class or function that takes an interlock.Setting and returns an interlock.Detector"
)
"""Finds one kind of problem in the stream of steps: docs/detectors.md."""

STRATEGIES = ExtensionPoint(
    "interlock.strategies", "a function that takes an interlock.Situation, under a name that is not built in"
)
"""Chooses the level of intervention for an issue; `interventions.strategy.type` names it: docs/interventions.md."""

INTERVENTIONS = ExtensionPoint("interlock.interventions", "an interlock.Custom")
"""Answers an issue at one level, in place of the built-in intervention: docs/interventions.md."""

HOOK_CLIENTS = ExtensionPoint("interlock.hook_clients", "an interlock.adapters.hooks.HookClient")
"""An agent client that is reached through its hooks: docs/hooks.md."""

OURS = b"[interlock."
"""The prefix of our groups in a package's entry points file."""


def entry_points_of(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group. Most machines have none, and asking importlib takes a twelfth of a start."""
    if not _may_have_any(tuple((folder, _changed(folder or os.curdir)) for folder in sys.path)):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _changed(folder: str) -> int:
    """When something was last installed or removed there; 0 if the folder does not exist."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116  at every start
    except OSError:
        return 0


@lru_cache(1)
def _may_have_any(path: tuple[tuple[str, int], ...]) -> bool:
    """Whether a package has entry points for us, or is stored where we cannot check."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    return any(_names_us(folder or os.curdir) for folder, _ in path)


def _names_us(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            lists = [f"{entry.path}/entry_points.txt" for entry in entries if entry.name.endswith("-info")]
    except NotADirectoryError:
        # An archive, which only importlib can read.
        return True
    except OSError:
        return False
    return any(map(_is_ours, lists))


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return OURS in file.read()
    except OSError:
        return False
