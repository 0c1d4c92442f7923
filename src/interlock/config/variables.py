"""Which variables of the environment set a key."""

from __future__ import annotations

from .schema import Config

PREFIX = "INTERLOCK_"


def is_override(name: str) -> bool:
    """INTERLOCK_A__B sets a.b, and INTERLOCK_A the whole of a; INTERLOCK_SOCKET and its like are none of them."""
    return name.startswith(PREFIX) and ("__" in name or name.removeprefix(PREFIX).lower() in Config.__struct_fields__)
