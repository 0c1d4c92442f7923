"""Mutes: findings that a person marked as false alarms, stored per project."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import msgspec

from ..core import BadInput, from_json, read_small, user_folder, write_whole


def mutes_file(project: Path) -> Path:
    """The file of a project's mutes, in the user's state directory so that nothing is written into the project."""
    name = sha256(os.fsencode(project.resolve())).hexdigest()[:16]
    return user_folder("state") / "mutes" / f"{name}.json"


def read_mutes(project: Path) -> frozenset[str]:
    """The keys of the muted findings of a project."""
    file = mutes_file(project)
    try:
        return frozenset(from_json(read_small(file), list[str]))
    except FileNotFoundError:
        return frozenset()
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(
            f"the list of muted findings cannot be read ({error})", where=str(file), todo="Remove the file"
        ) from None


def write_mutes(project: Path, keys: frozenset[str]) -> None:
    """Store a project's mutes, replacing the earlier ones."""
    file = mutes_file(project)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(file, msgspec.json.encode(sorted(keys)))
