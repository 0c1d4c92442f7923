"""Tests how a process tree can be controlled on this machine, for `interlock doctor`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..core import InvalidState, RunSpec
from .outcome import Ability, AbilityName
from .start_command import spawn

CONTROLLED: dict[AbilityName, str] = {"memory": "memory", "processes": "pids", "cpu": "cpu"}


def abilities() -> tuple[Ability, ...]:
    """Start a process that does nothing, and return what can be done to it."""
    spec = RunSpec(run_id="doctor", argv=(sys.executable or "python3", "-I", "-S", "-c", "pass"))
    try:
        tree = spawn(spec, stdin=subprocess.DEVNULL, mechanism="cgroup")
    except InvalidState as error:
        why = f"{error.what.partition(': ')[2]}; signals to every process of the tree instead"
        return (
            Ability(name="freeze", by="signals", why=why),
            Ability(name="end", by="signals", why=why),
            *_limits(frozenset()),
        )
    with tree:
        group = Path(tree.handle().group or "")
        kills = (group / "cgroup.kill").exists()
        how = "cgroup v2" if kills else "cgroup v2, frozen and then killed one by one"
        return (
            Ability(name="freeze", by="kernel", why=f"cgroup v2 in {group.parent}"),
            Ability(name="end", by="kernel", why=f"{how} in {group.parent}"),
            *_limits(tree.controllers),
        )


def _limits(controllers: frozenset[str]) -> list[Ability]:
    found = []
    for name, controller in CONTROLLED.items():
        if controller in controllers:
            found.append(Ability(name=name, by="kernel", why=f"the {controller} controller of cgroups"))
        elif name == "cpu":
            found.append(Ability(name=name, by="nobody", why="no usable cpu controller"))
        else:
            why = f"no usable {controller} controller; the owner checks ten times a second"
            found.append(Ability(name=name, by="watching", why=why))
    return found
