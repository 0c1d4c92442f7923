"""The workspace of a recorded run: the project that its first working directory is in, or its files."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...calls import read_call
from ...core import Tool

DEPTHS = {"home": 3, "Users": 3, "root": 2, "srv": 2, "opt": 2, "mnt": 2, "media": 2, "var": 2, "usr": 2, "tmp": 2}
"""How deep a project lies below such a folder; any other folder of the root, as in containers, is one itself."""
PLACES = ("file_path", "path", "notebook_path", "filename")


def find_workspace(calls: Iterable[Tool]) -> str | None:
    """The workspace of a run's calls, rather too large than too small; None where they name no absolute place."""
    places: list[str] = []
    for tool in calls:
        if any("cd /" in text for text in tool.arguments.values() if isinstance(text, str)):
            reading = read_call(tool.name, tool.arguments)
            for program in reading.programs:
                if program.cwd[:1] == "/" and program.cwd != "/":
                    return _project(program.cwd)
        for name in PLACES:
            place = tool.arguments.get(name)
            if isinstance(place, str) and place[:1] == "/" and place.count("/") > 1 and "\n" not in place:
                places.append(_project(os.path.normpath(place).rpartition("/")[0]))
    # Files at two roots leave none to be outside of.
    root = os.path.commonpath(places) if places else "/"
    return root if root != "/" else None


def _project(place: str) -> str:
    """The folder of a project that a place is in."""
    folders = os.path.normpath(place).split("/")
    return "/".join(folders[: DEPTHS.get(folders[1], 1) + 1])
