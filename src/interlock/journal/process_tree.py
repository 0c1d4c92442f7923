"""The run's process tree, remembered alongside its journal."""

from __future__ import annotations

import msgspec

from ..core import from_json, read_small
from ..process import TreeHandle
from .durable_files import write_whole
from .folder import TREE, RunFolder


def write_tree(folder: RunFolder, tree: TreeHandle) -> None:
    """Remember a run's process tree."""
    write_whole(folder.path / TREE, msgspec.json.encode(tree))


def read_tree(folder: RunFolder) -> TreeHandle | None:
    """A run's process tree; None if it never had one."""
    try:
        return from_json(read_small(folder.path / TREE), TreeHandle)
    except (OSError, msgspec.DecodeError):
        return None


def agent_lives(folder: RunFolder) -> bool:
    """Whether any process of the run is left on this machine, whoever supervises it."""
    from ..process import attach

    tree = read_tree(folder)
    return tree is not None and attach(tree).alive()
