"""Clean room: runs the checks that a person named on a private copy, with what decides them as at the start.

The copy is a layer over the workspace, in a mount of its own: what the run added to the check's surroundings is absent
there, what it changed or removed is as it was. Where a check passes only without that, it is the run's own check.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..checkpoint import Change, Checkpoints
from ..core import InterlockError
from ..journal_records import CommandResult
from .check_runner import CheckRunner, PrivateCopy
from .check_surroundings import changed_outside, decides, find_surroundings, newer, reaches
from .workspace import is_source

NAMED = 6
"""Paths that one reason names."""


class Around(Struct, frozen=True):
    """What a check is compared with: the run's first checkpoint and the newest, and when the run began."""

    checkpoints: Checkpoints
    start: str
    tree: str
    began: float
    task: str


def run_checks(
    runner: CheckRunner,
    commands: Sequence[str],
    around: Around | None,
    frozen: Callable[[], AbstractContextManager[object]],
) -> tuple[CommandResult, ...]:
    """Run the commands, stopping at the first failure; each result says what about it is the run's own."""
    if around is None:
        unknown = ("there are no checkpoints to compare what decides it with",)
        return tuple(replace(each, own=unknown) if each.passed else each for each in runner.run(commands))
    folder = around.checkpoints.workspace
    changes = around.checkpoints.diff(around.start, around.tree)
    surroundings = find_surroundings(folder, commands, changes, around.task)
    outside = changed_outside(folder, around.began)
    differs = tuple(_listed([*(change.path for change in surroundings), *outside]))
    reasons = _reached(around, {change.path for change in surroundings})
    with _private_copy(around, surroundings, outside) as copy:
        began = copy.upper.stat().st_ctime
        results = tuple(runner.run(commands, copy))
        if copy.mounted:
            changed = (os.path.relpath(path, folder) for path in newer((str(folder),), began, without=(".git",)))
            reasons += [f"{path} changed while it ran" for path in changed if _counts(path)]
            reasons += [f"it wrote over {path} itself" for path in copy_ups(copy, folder)]
    if not copy.mounted:
        with frozen():
            results = tuple(runner.run(commands))
        reasons += [f"{_named(differs)} changed, and no clean copy could be made"] if differs else []
    elif differs and not all(result.passed for result in results):
        real = tuple(runner.run(commands))
        if all(result.passed for result in real):
            results, reasons = real, [f"only with {_named(differs)} as the run left it"]
    own = tuple(reasons[:NAMED])
    return tuple(replace(each, own=own if each.passed else (), differs=differs) for each in results)


@contextmanager
def _private_copy(around: Around, surroundings: Iterable[Change], outside: Sequence[str]) -> Iterator[PrivateCopy]:
    """A layer over the workspace in which its surroundings are as at the start."""
    # Beside the checkpoints: the same file system, and out of the agent's reach where that is protected.
    scratch = Path(tempfile.mkdtemp(dir=around.checkpoints.store_path))
    try:
        upper, work = scratch / "upper", scratch / "work"
        work.mkdir()
        upper.mkdir(mode=stat.S_IMODE(around.checkpoints.workspace.stat().st_mode))
        gone, kept = _tops(surroundings)
        copy = PrivateCopy(upper, work, tuple(os.path.realpath(path) for path in outside if Path(path).exists()))
        try:
            around.checkpoints.extract(around.start, kept, upper)
            for path in gone:
                _white_out(upper / path, around.checkpoints.workspace / path)
        except (OSError, InterlockError):
            copy.usable = False
        copy.prepared = frozenset((*gone, *kept))
        yield copy
    finally:
        shutil.rmtree(scratch, onerror=_open_up)


def _tops(surroundings: Iterable[Change]) -> tuple[list[str], list[str]]:
    """The paths to hide and the paths to put back, without what is below others of the same kind."""
    gone: list[str] = []
    kept: list[str] = []
    for change in sorted(surroundings, key=lambda each: each.key):
        into = gone if change.kind == "created" else kept
        if not (into and change.key.startswith(f"{into[-1]}/")):
            into.append(change.key)
    return gone, kept


def _white_out(target: Path, real: Path) -> None:
    """Hide a path of the layer below, as overlayfs does it."""
    for parent in reversed(target.parents):
        if not parent.exists():
            below = real.parents[len(target.parents) - len(parent.parents) - 1]
            parent.mkdir(mode=stat.S_IMODE(below.stat().st_mode))
    os.mknod(target, stat.S_IFCHR | 0o600, os.makedev(0, 0))


def copy_ups(copy: PrivateCopy, folder: Path) -> Iterator[str]:
    """The sources and tests that the checks themselves wrote over or removed."""
    for parent, _, names in os.walk(copy.upper):
        for name in names:
            path = os.path.relpath(Path(parent) / name, copy.upper)
            real = folder / path
            if path in copy.prepared or not _counts(path) or not real.is_file():
                continue
            above = Path(parent) / name
            if not above.is_file() or not filecmp.cmp(above, real, shallow=False):
                yield path


def _counts(path: str) -> bool:
    return (is_source(path) or decides(path)) and "__pycache__" not in path and not path.endswith((".md", ".rst"))


def _reached(around: Around, restored: set[str]) -> list[str]:
    """New code that reaches into what runs it."""
    found = around.checkpoints.texts(around.start, around.tree, lambda path: path not in restored and is_source(path))
    return [f"{path} has {what}" for path, before, after in found if (what := reaches(path, before, after))]


def _listed(paths: Iterable[str]) -> Iterator[str]:
    """Paths without what is below a folder that is listed already, or below one of libraries."""
    seen: set[str] = set()
    for path in paths:
        parts = PurePosixPath(path).parts
        at = next((at for at, part in enumerate(parts) if part in ("node_modules", "site-packages")), len(parts))
        shown = str(PurePosixPath(*parts[: at + 2]))
        if not seen.intersection((shown, *map(str, PurePosixPath(shown).parents))):
            seen.add(shown)
            yield shown


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more


def _open_up(function: Callable[[str], object], path: str, _: object) -> None:
    """A folder that may not be listed, such as the one that overlayfs leaves in its work folder."""
    Path(path).parent.chmod(0o700)
    if Path(path).is_dir():
        Path(path).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        Path(path).unlink(missing_ok=True)
