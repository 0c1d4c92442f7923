"""Starts the owner as a fork of the front, which has already imported a third of its modules."""

from __future__ import annotations

import gc

from .owner_spawn import fork_early


def fork_owner() -> bool:
    """Fork the owner, unless one is already starting. In the fork, returns True when the run is over."""
    if not fork_early():
        return False
    from .owner import main

    gc.freeze()
    gc.enable()
    main()
    return True
