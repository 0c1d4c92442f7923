"""RestorePlan: what a restore would change, and what it would leave alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from ..core import BadInput
from .change import Change, Difference, differences
from .entry import TreeEntry, state_of
from .locations import DENIED, EXCLUDED, SPECIAL_WORDS
from .tree import WorkspaceTree, join, printable, within

UNCOVERED_NOW = "no checkpoint covers it now"
UNCOVERED_THEN = "the checkpoint does not cover it"


class LeftAlone(Struct, frozen=True):
    """A path that differs and is not restored, with the reason."""

    path: str
    reason: str


class RestorePlan(Struct, frozen=True):
    """What a restore would do: `changes` from the disk now to the checkpoint."""

    checkpoint: str
    changes: tuple[Change, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    not_covered: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()


class KnownTree(Struct, frozen=True):
    """A tree, and what it does not cover."""

    tree: WorkspaceTree
    uncovered: dict[str, str]


class Draft(Struct):
    """The steps of a restore by path, and what is left alone with the reason."""

    steps: dict[str, Difference] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    locks: list[str] = field(default_factory=list)


def draft(
    now: KnownTree,
    then: KnownTree,
    paths: Iterable[str],
    own: OwnChanges | None,
    *,
    force: bool,
    gives_rights: bool = False,
) -> Draft:
    """Decide for every differing path whether it is restored. `gives_rights`: what is unreadable will be readable."""
    scope = _scope(now, then, paths)
    made = Draft(locks=[] if force else _foreign_locks(now.tree, scope, own))
    for difference in differences(now.tree, then.tree, scope):
        path = difference.path
        if gives_rights and (at := _covering(path, now.uncovered)) and now.uncovered[at] == DENIED:
            if path == at and difference.b is not None:
                made.steps[path] = Difference(
                    path, replace(difference.b, mode=difference.b.mode & ~0o777), difference.b
                )
            continue
        why = _reason_to_skip(path, now, then, force=force or (own is not None and own.covers(path, None)))
        if why is not None:
            made.left[path] = why
        elif own is None or force or own.covers(path, difference.a):
            made.steps[path] = difference
        elif difference.kind != "touched" and path:
            made.left[path] = own.others
    _keep_consistent(made, now)
    for path, why in now.uncovered.items():
        if (
            why != EXCLUDED
            and path not in made.steps
            and within(path, scope)
            and then.tree.get(path) is None
            and not _covering(path, then.uncovered)
        ):
            made.left[path] = f"{UNCOVERED_NOW} ({why})"
    return made


def _scope(now: KnownTree, then: KnownTree, paths: Iterable[str]) -> tuple[str, ...]:
    scope = tuple(dict.fromkeys(path.strip("/") for path in paths))
    for path in scope:
        if path and now.tree.get(path) is None and then.tree.get(path) is None:
            covered = not (path in now.uncovered or path in then.uncovered)
            raise BadInput(
                f"{printable(path)!r} is neither in the checkpoint nor in the workspace"
                if covered
                else f"{printable(path)!r} is not covered: {now.uncovered.get(path) or then.uncovered[path]}",
                todo="Paths are relative to the workspace",
            )
    return scope or ("",)


def _reason_to_skip(path: str, now: KnownTree, then: KnownTree, *, force: bool) -> str | None:
    """Why a path must not be touched: one of the two states does not cover it; None if both do."""
    if then.uncovered and (at := _covering(path, then.uncovered)):
        return f"{UNCOVERED_THEN} ({then.uncovered[at]})"
    if now.uncovered and (at := _covering(path, now.uncovered)):
        if force and now.uncovered[at] in SPECIAL_WORDS:
            return None
        return f"{UNCOVERED_NOW} ({now.uncovered[at]})"
    return None


def _covering(path: str, uncovered: dict[str, str]) -> str | None:
    """The uncovered path that contains this one, or is this one."""
    at = path
    while at:
        if at in uncovered:
            return at
        at = at.rpartition("/")[0]
    return None


def _foreign_locks(tree: WorkspaceTree, scope: tuple[str, ...], own: OwnChanges | None) -> list[str]:
    """Locks that another git command holds in a repository that would be touched."""
    found = []
    for folder, listing in tree.folders.items():
        if "index.lock" in listing and ".git" in folder.split("/"):
            path = join(folder, "index.lock")
            repository = folder.split(".git", 1)[0].rstrip("/")
            touched = any(within(top, (repository,)) or within(repository, (top,)) for top in scope)
            mine = own is not None and (path, state_of(listing["index.lock"])) in own
            if touched and not mine:
                found.append(path)
    return found


def _keep_consistent(made: Draft, now: KnownTree) -> None:
    """Keep folders that contain something left alone, and drop what would be below something left alone."""
    stay = {path for path in made.left if now.tree.get(path) is not None} | set(now.uncovered)
    for path in stay:
        above = path.rpartition("/")[0]
        while above:
            step = made.steps.get(above)
            if step is not None and step.a is not None and not _is_folder(step.b):
                del made.steps[above]
                made.left[above] = f"contains {printable(path)}, which is left alone"
            above = above.rpartition("/")[0]
    for path in sorted(made.steps):
        if made.steps[path].b is None:
            continue
        above = path.rpartition("/")[0]
        blocked = False
        while above and not blocked:
            blocked = above in made.left and not _is_folder(now.tree.get(above))
            above = above.rpartition("/")[0]
        if blocked:
            del made.steps[path]
            made.left[path] = "its folder was left alone"


def _is_folder(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.is_folder


NOT_KNOWN = "possibly not this run's work"
SINCE = "changed since the rollback"
FORCIBLE = (NOT_KNOWN, SINCE)
"""Reasons why a differing path is left alone unless forced."""


Same = Callable[[str, str, TreeEntry], bool]
"""Whether the file at a path is equivalent to its known state."""


class OwnChanges:
    """Paths with the state that the run's last change left; paths that others changed since do not match.

    `others` is the reason given for a path that does not match; `same` compares one that differs more closely.
    """

    def __init__(
        self, states: dict[str, str] | None = None, others: str = NOT_KNOWN, same: Same = lambda *_: False
    ) -> None:
        self.states = dict(states or {})
        self.others = others
        self._same = same

    def covers(self, path: str, now: TreeEntry | None) -> bool:
        """Whether a path is as the run left it."""
        known = self.states.get(path)
        return known == state_of(now) or (known is not None and now is not None and self._same(path, known, now))

    def __contains__(self, item: object) -> bool:
        return isinstance(item, tuple) and len(item) == 2 and self.states.get(item[0]) == item[1]
