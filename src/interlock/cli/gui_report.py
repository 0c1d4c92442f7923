"""The HTML report of a replay, where the report room can make one."""

from __future__ import annotations

from pathlib import Path


def write_report(run_id: str, target: Path | None) -> Path | None:
    """Write the run's report; where it was written, None if it could not be made."""
    return None
