"""Launch: everything needed to start a run; StoredLaunch: what its folder keeps of that, for a restart."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...config import Config
from ...core import Context, RunSpec, from_json, read_small
from ...journal import LAUNCH, RunFolder, write_durably
from ..hooks.recognition import names_agent
from ..hooks.wiring import Wiring, program_of
from ..proxy import Proxied

StepSource = Literal["auto", "stdout", "off"]
"""Source of the steps of a command without hooks: its socket and, if its first line is a step, its output
(`auto`); its output (`stdout`); its socket only (`off`)."""


INTERPRETER = re.compile(r"python[\d.]*$|node$|deno$|bun$|tsx$|uvx?$|npx$|bunx$|pnpx$")
"""What runs somebody's own agent, if the environment has a model's address or key."""


class LaunchSettings(Struct, frozen=True, kw_only=True):
    """What is needed for the first start of a run and for a restart."""

    spec: RunSpec
    config: Config
    context: Context
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    proxied: Proxied | None = None
    steps: StepSource = "auto"

    def shared(self) -> dict[str, Any]:
        """These fields by name."""
        return {name: getattr(self, name) for name in LaunchSettings.__struct_fields__}


class Launch(LaunchSettings, frozen=True, kw_only=True):
    """Everything needed to start a run."""

    store: Path
    wiring: Wiring | None = None

    @property
    def agent(self) -> str:
        """The agent that this command is, as far as it is known before it starts; empty for a plain command.

        An agent has hooks, a task, prints its steps, or is a program that is known or that talks to a model.
        """
        spec = self.spec
        if spec.task or self.steps == "stdout" or self.wiring is not None or names_agent(spec.argv):
            return spec.adapter
        is_program = INTERPRETER.match(program_of(spec.argv)) and "-m" not in spec.argv[1:2]
        return spec.adapter if self.proxied is not None and is_program else ""


SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.I)
"""Names of variables whose values are not stored."""


class StoredLaunch(LaunchSettings, frozen=True, kw_only=True):
    """How to restart a run. `lacks` names variables that were set but are not stored; `launched` is the park after
    which the client was last started, written before the start; `has_keys`: the proxy has the keys."""

    port: int = 0
    has_keys: bool = False
    environment: dict[str, str] = {}
    lacks: tuple[str, ...] = ()
    launched: int = 0


def store_launch(folder: RunFolder, launch: Launch, port: int, launched: int = 0) -> None:
    """Store how to restart the run, without secrets."""
    ours = {name: value for name, value in os.environ.items() if not SECRET.search(name) and _is_text(name + value)}
    without_keys = replace(launch.proxied, keys={}) if launch.proxied is not None else None
    stored = StoredLaunch(
        **{**launch.shared(), "proxied": without_keys},
        has_keys=launch.proxied is not None and bool(launch.proxied.keys),
        port=port,
        environment=ours,
        lacks=tuple(sorted(os.environ.keys() - ours.keys())),
        launched=launched,
    )
    write_durably(folder.path / LAUNCH, msgspec.json.encode(stored))


def _is_text(words: str) -> bool:
    """Whether it can be encoded as UTF-8: a variable may contain any bytes."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_launch(folder: RunFolder) -> StoredLaunch | None:
    """The stored launch, or None."""
    try:
        return from_json(read_small(folder.path / LAUNCH), StoredLaunch)
    except (OSError, msgspec.DecodeError):
        return None
