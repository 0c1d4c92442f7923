"""Puts the compiled hook client into a wheel for one platform, as scripts/dist.py says; else it does nothing."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class HookClient(BuildHookInterface):  # type: ignore[type-arg]
    """INTERLOCK_HOOK_CLIENT: MACHINE=PATH of the program; INTERLOCK_WHEEL_TAG: the tag of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        given = os.environ.get("INTERLOCK_HOOK_CLIENT")
        if given and version != "editable":
            machine, _, path = given.partition("=")
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["INTERLOCK_WHEEL_TAG"]
            build_data["force_include"][path] = f"interlock/adapters/hooks/hookclient-{machine}"
