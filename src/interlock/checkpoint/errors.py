"""Trouble with files and the database becomes an error that a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ..core import InvalidState


@contextmanager
def as_errors(where: Path) -> Iterator[None]:
    """Raise InvalidState for whatever the system says inside."""
    try:
        yield
    except OSError as error:
        raise InvalidState(error.strerror or str(error), where=str(error.filename or where)) from error
    except apsw.Error as error:
        raise InvalidState(
            f"cannot use the checkpoint database: {error}",
            where=str(where),
            todo="If it is damaged, move that folder away; new checkpoints start afresh",
        ) from error
