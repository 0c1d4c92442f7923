"""Incidents on disk: the report of an emergency stop, found by its id."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import InterlockError, NotFound, from_json, read_small
from ..intervene import Incident, IncidentReport, RecoveryOption, Stopped
from ..journal import Store, write_durably

DAY = 86_400.0

IncidentStatus = Literal["open", "continued", "aborted"]


class StoredIncident(Struct, frozen=True, kw_only=True):
    """An incident with its report, its four options, and which one was chosen."""

    incident: Incident
    report: IncidentReport
    options: tuple[RecoveryOption, ...]
    status: IncidentStatus = "open"
    option: str | None = None
    continued_by: str | None = None

    @property
    def id(self) -> str:
        return self.incident.id


class Incidents:
    """All incidents of a store, each in a folder `incidents/ID` of its run's folder."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def all(self) -> list[StoredIncident]:
        """Every readable incident, newest first."""
        return _read_all(self.store.root.glob("*/incidents/*/incident.json"))

    def find(self, incident_id: str) -> StoredIncident:
        """Find an incident by its id or a unique prefix."""
        matches = [stored for stored in self.all() if stored.id == incident_id]
        matches = matches or [stored for stored in self.all() if stored.id.startswith(incident_id)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise NotFound(f"{incident_id!r} matches {len(matches)} incidents", todo="Use a longer prefix")
        raise NotFound(f"there is no incident {incident_id!r}", todo="See interlock incidents --all")

    def settle(self, stored: StoredIncident, status: IncidentStatus, option: str, continued_by: str | None) -> None:
        """Record which option was chosen."""
        settled = msgspec.structs.replace(stored, status=status, option=option, continued_by=continued_by)
        write_incident(self._folder(stored), settled)

    def remove_older_than(self, days: float, now: float) -> int:
        """Remove incidents older than this; returns how many."""
        old = [stored for stored in self.all() if now - stored.incident.time > days * DAY]
        for stored in old:
            shutil.rmtree(self._folder(stored), ignore_errors=True)
        return len(old)

    def _folder(self, stored: StoredIncident) -> Path:
        return self.store.root / stored.incident.run_id / "incidents" / stored.id


def read_incidents(folder: Path) -> list[StoredIncident]:
    """The readable incidents in a run's incident folder, newest first."""
    return _read_all(folder.glob("*/incident.json"))


def _read_all(paths: Iterable[Path]) -> list[StoredIncident]:
    found = [stored for path in paths if (stored := _read(path)) is not None]
    return sorted(found, key=lambda stored: stored.incident.time, reverse=True)


def save_stop(folder: Path, stopped: Stopped) -> Path:
    """Write an emergency stop to a run's incident folder; returns its path."""
    target = folder / stopped.incident_id
    stored = StoredIncident(incident=stopped.incident, report=stopped.report, options=stopped.recovery_options)
    write_incident(target, stored)
    return target


def write_incident(target: Path, stored: StoredIncident) -> None:
    """Write an incident's files: incident.json for machines, report.txt for people."""
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_durably(target / "incident.json", msgspec.json.format(msgspec.json.encode(stored), indent=2))
        write_durably(target / "report.txt", stored.report.to_text().encode("utf-8", "replace"))
    except OSError as error:
        raise InterlockError(
            f"the incident could not be saved ({error.strerror})", where=str(target), todo="Free some disk space"
        ) from None


def _read(path: Path) -> StoredIncident | None:
    try:
        return from_json(read_small(path), StoredIncident)
    except (OSError, msgspec.DecodeError):
        return None
