"""The owner as a fork of the front, which has imported a third of it."""

from __future__ import annotations

import gc

from .owner_spawn import fork_early


def fork_owner() -> bool:
    """Fork the owner, if none is being started. In the fork: returns True after it has owned the run to its end."""
    if not fork_early():
        return False
    from .owner import main

    gc.freeze()
    gc.enable()
    main()
    return True
