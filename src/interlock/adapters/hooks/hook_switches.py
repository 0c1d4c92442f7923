"""The switches in settings files with which a client's hooks are turned off."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...core import from_json


def switches_hooks_off(path: Path) -> bool:
    """Whether the settings in this file turn hooks off; a file that is not there or not JSON does not."""
    try:
        settings = from_json(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return False
    if not isinstance(settings, dict):
        return False
    if settings.get("disableAllHooks") is True:
        return True
    hooks = settings.get("hooksConfig")
    return isinstance(hooks, dict) and (hooks.get("enabled") is False or "interlock" in (hooks.get("disabled") or ()))
