"""Changes: what a run did to its files, checkpoint by checkpoint, redacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..checkpoint import Checkpoints
from ..config import Config
from ..core import CheckpointInfo, InterlockError, SystemClock
from ..redact import redact_text
from ..review import kinds_of

STRETCHES = 60
"""The newest stretches between two checkpoints that are shown with their diff."""

LINES = 400
"""Lines of one diff."""

SECRET = frozenset(("credential", "dotenv"))
"""Kinds of files whose content is never shown."""


class Diff(Struct, frozen=True):
    """One file's diff. `lines` are those of a unified diff, `cut` counts those left out."""

    path: str
    kind: str
    lines: tuple[str, ...] = ()
    cut: int = 0

    @property
    def added(self) -> int:
        return sum(line.startswith("+") and not line.startswith("+++") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") and not line.startswith("---") for line in self.lines)


class Stretch(Struct, frozen=True):
    """What changed between two checkpoints of a run; `step` is the step that did it, as far as known."""

    a: str
    b: str
    step: int
    time: float
    cause: str
    files: tuple[Diff, ...] = ()


class RunChanges(Struct, frozen=True):
    """All stretches in which something changed; `note` says why there are none, or not all."""

    stretches: tuple[Stretch, ...] = ()
    note: str = ""


def read_changes(
    checkpoints: Sequence[CheckpointInfo], workspace: str | None, config: Config, store: Path | None = None
) -> RunChanges:
    """Compare a run's checkpoints one after the other; what is missing is noted, never an error."""
    if workspace is None:
        return RunChanges(note="The run had no workspace, so there are no checkpoints.")
    if len(checkpoints) < 2:
        return RunChanges(note="There are fewer than two checkpoints to compare.")
    try:
        with Checkpoints.open(Path(workspace), store, config=config.checkpoints, clock=SystemClock()) as kept:
            return _compare(kept, checkpoints)
    except (InterlockError, OSError) as error:
        return RunChanges(note=f"The checkpoints cannot be read: {error}")


def _compare(kept: Checkpoints, checkpoints: Sequence[CheckpointInfo]) -> RunChanges:
    known = {info.id for info in kept.list()}
    there = [info for info in checkpoints if info.id in known]
    stretches: list[Stretch] = []
    note = ""
    if len(there) < len(checkpoints):
        note = f"{len(checkpoints) - len(there)} checkpoints have been removed since."
    for a, b in zip(reversed(there[:-1]), reversed(there[1:]), strict=True):
        if len(stretches) >= STRETCHES:
            note = f"Only the newest {STRETCHES} changes are shown. {note}".strip()
            break
        changes = [change for change in kept.diff(a.id, b.id) if change.kind != "touched"]
        if changes:
            kinds = {change.path: change.kind for change in changes}
            files = split_patch(kept.patch(a.id, b.id), kinds)
            stretches.append(Stretch(a.id, b.id, max(0, b.step - 1), b.time, b.label or b.cause, files))
    return RunChanges(tuple(reversed(stretches)), note)


def split_patch(text: str, kinds: Mapping[str, str]) -> tuple[Diff, ...]:
    """A patch file by file, redacted; of files that hold secrets, only the name."""
    files: list[Diff] = []
    for part in text.split("diff --interlock a/")[1:]:
        head, _, rest = part.partition("\n")
        path = head[: (len(head) - 3) // 2]
        kind = kinds.get(path, "content")
        if kinds_of(path) & SECRET:
            files.append(Diff(path, kind, ("Not shown: this file holds secrets by nature",)))
            continue
        lines = redact_text(rest).splitlines()
        files.append(Diff(path, kind, tuple(lines[:LINES]), max(0, len(lines) - LINES)))
    return tuple(files)
