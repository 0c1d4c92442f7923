"""Finishing: the folders whose owner, mode and time are set right in the end, because everything else moves them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .entry import TreeEntry
from .plan import Draft
from .tree import WorkspaceTree, within


def folders_to_finish(
    made: Draft, now: WorkspaceTree, then: WorkspaceTree, scope: tuple[str, ...], also: Iterable[str] = ()
) -> dict[str, TreeEntry]:
    """The folders that are touched, or whose times differ in the scope, as they should be in the end."""
    names = _names_afterwards(made, now)
    wanted = {""}
    for path in made.steps:
        wanted |= {path, path.rpartition("/")[0]}
    wanted.update(
        path
        for path in now.folders.keys() & then.folders.keys()
        if _time(now.get(path)) != _time(then.get(path)) and within(path, scope)
    )
    wanted.update(also)
    found: dict[str, TreeEntry] = {}
    for path in wanted:
        entry = _settled(path, made, now, then, names)
        if entry is not None:
            found[path] = entry
    return found


def _settled(
    path: str, made: Draft, now: WorkspaceTree, then: WorkspaceTree, names: dict[str, set[str]]
) -> TreeEntry | None:
    """How a folder should be in the end; None if it is none, or stays as it is."""
    if path in made.steps:
        wanted = made.steps[path].b
        return wanted if wanted is not None and wanted.is_folder else None
    current, target = now.get(path), then.get(path)
    if current is None or not current.is_folder:
        return None
    mtime = current.mtime_ns
    # A folder that holds the same names as then has its time of then; one where something was left alone, its own.
    if target is not None and target.is_folder and _names(path, now, names) == then.folders.get(path, {}).keys():
        mtime = target.mtime_ns
    if mtime == current.mtime_ns and path not in names and path:
        return None
    return msgspec.structs.replace(current, mtime_ns=mtime)


def _time(entry: TreeEntry | None) -> int:
    return entry.mtime_ns if entry is not None else -1


def _names_afterwards(made: Draft, now: WorkspaceTree) -> dict[str, set[str]]:
    """What every folder holds in the end in which something changes."""
    names: dict[str, set[str]] = {}
    for path, step in made.steps.items():
        if not path:
            continue
        folder, _, name = path.rpartition("/")
        held = names.setdefault(folder, set(now.folders.get(folder, {})))
        if step.b is None:
            held.discard(name)
        else:
            held.add(name)
    return names


def _names(path: str, now: WorkspaceTree, names: dict[str, set[str]]) -> object:
    return names.get(path) if path in names else now.folders.get(path, {}).keys()
