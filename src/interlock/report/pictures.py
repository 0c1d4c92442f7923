"""Screenshots of a GUI session for a report: read from the run's folder, validated, bounded."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from msgspec import Struct

from ..core import read_small
from ..journal_records import InterventionEvent
from .story import Story
from .timeline_entry import TimelineMoment
from .words import find_pictures

PICTURES = 24
"""Pictures in a report: those of interventions first, then the newest ones."""

LARGEST = 2 * 1024 * 1024

MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
"""How pictures begin; nothing else is embedded in a report."""


class ReportPicture(Struct, frozen=True):
    """One screenshot with its verdict. `data` is base64; `before` is the picture that this one follows."""

    name: str
    time: float
    title: str
    detail: str
    type: str
    data: str
    before: str = ""


def gather_pictures(story: Story, albums: tuple[Path, ...] = ()) -> tuple[ReportPicture, ...]:
    """The run's newest readable pictures, oldest first, each once; an intervention's stay together."""
    lines = story.page(limit=8 * PICTURES, kinds=frozenset(("picture",)))
    found: dict[int, list[ReportPicture]] = {}
    seen: set[str] = set()
    newest = [(index, line) for index, line in reversed(list(enumerate(lines)))]
    for index, line in sorted(newest, key=lambda each: not _acted(each[1])):
        own = [name for _, name in find_pictures(line.body)]
        room = PICTURES - sum(map(len, found.values()))
        if len(own) <= room:
            read = [picture for picture in _of_line(line, story.folder.pictures, albums) if picture.name not in seen]
            seen.update(picture.name for picture in read)
            found[index] = read
    return tuple(picture for index in sorted(found) for picture in found[index])


def _acted(line: TimelineMoment) -> bool:
    return isinstance(body := line.body, InterventionEvent) and body.outcome in ("recovered", "failed")


def _of_line(line: TimelineMoment, folder: Path, albums: tuple[Path, ...]) -> list[ReportPicture]:
    """The pictures of one check, the one before a recovery first."""
    pictures: list[ReportPicture] = []
    for word, name in find_pictures(line.body):
        read = read_picture(name, folder, albums)
        if read is not None and all(Path(name).name != each.name for each in pictures):
            data = base64.b64encode(read[1]).decode()
            before = pictures[0].name if word and pictures else ""
            pictures.append(
                ReportPicture(Path(name).name, line.time, f"{line.title}{word}", line.detail, read[0], data, before)
            )
    return pictures


def read_picture(name: str, folder: Path, albums: tuple[Path, ...] = ()) -> tuple[str, bytes] | None:
    """The type and content of a picture in a run's folder of pictures or in an album; None if there is none.

    The name comes from a journal, perhaps a foreign one: no file outside these folders is read.
    """
    try:
        path = _resolve(name, folder, albums)
        if path is None:
            return None
        content = read_small(path, LARGEST)
    except (OSError, ValueError):
        return None
    kind = next((kind for magic, kind in MAGIC if content.startswith(magic)), None)
    return (kind, content) if kind is not None else None


def _resolve(name: str, folder: Path, albums: tuple[Path, ...]) -> str | None:
    """The real path of a picture, if it is in one of the folders. By name first: a run's folder may have moved."""
    roots = [os.path.realpath(root) for root in (folder, *albums, default_album())]
    for candidate in (folder / Path(name).name, folder / name):
        path = os.path.realpath(candidate)
        if any(path.startswith(root + os.sep) for root in roots) and Path(path).is_file():
            return path
    return None


def default_album() -> Path:
    """Where GUI sessions keep their pictures by default."""
    import platformdirs

    return Path(platformdirs.user_state_dir("interlock")) / "screenshots"
