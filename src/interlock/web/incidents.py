"""Incidents on the dashboard: carries out the option that a person chooses after an emergency stop."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ..core import BadInput, InterlockError, InvalidState, own_command, read_small
from ..intervene import OptionName
from ..journal import Store
from ..runtime import Incidents, StoredIncident, abort, choose

WAIT_S = 60.0
"""How long a run may take to start before its state is unknown."""

POLL_S = 0.1
LOG = "continue.log"
LOG_TAIL = 400

ChoiceState = Literal["starting", "continued", "aborted", "failed", "unknown"]


class IncidentChoice(Struct, frozen=True, kw_only=True):
    """An option that was chosen here, and its state."""

    incident_id: str
    option: OptionName
    state: ChoiceState = "starting"
    message: str = ""
    run_id: str | None = None
    time: float = 0.0


class IncidentChoices:
    """Carries out choices on incident pages; one at a time per incident."""

    def __init__(self, store: Store) -> None:
        self.incidents = Incidents(store)
        self._store = store
        self._choices: dict[str, IncidentChoice] = {}
        self._lock = threading.Lock()
        self.version = 0

    def of(self, incident_id: str) -> IncidentChoice | None:
        with self._lock:
            return self._choices.get(incident_id)

    def begin(self, incident_id: str, option: str) -> IncidentChoice:
        """Start an option; returns its current state."""
        if option not in get_args(OptionName):
            raise BadInput(f"there is no option {option[:40]!r}", todo=f"One of: {', '.join(get_args(OptionName))}.")
        stored = self.incidents.find(incident_id)
        chosen = choose(stored, option)
        choice = IncidentChoice(incident_id=stored.id, option=chosen.name, time=time.time())
        with self._lock:
            before = self._choices.get(stored.id)
            if before is not None and before.state == "starting":
                raise InvalidState(f"{before.option} is already being carried out", todo="Wait until it is done.")
            self._choices[stored.id] = choice
            self.version += 1
        threading.Thread(target=self._carry_out, args=(choice, stored), name="interlock-incident", daemon=True).start()
        return choice

    def _carry_out(self, choice: IncidentChoice, stored: StoredIncident) -> None:
        try:
            if choice.option == "abort":
                done = abort(self._store, stored)
                self._end(choice, "aborted", "; ".join(done) or "nothing was left to clean up")
            else:
                self._continue(choice, stored)
        except (InterlockError, OSError) as error:
            self._end(choice, "failed", str(error))

    def _continue(self, choice: IncidentChoice, stored: StoredIncident) -> None:
        """Start the continuing run as a separate command, so that it outlives the dashboard."""
        log = self._store.root / stored.incident.run_id / "incidents" / stored.id / LOG
        words = own_command("interlock.__main__", "incident", "continue", stored.id, "--option", choice.option)
        with log.open("wb") as output:
            process = subprocess.Popen(
                words,
                cwd=_folder_of(self._store, stored),
                env={**os.environ, "INTERLOCK_STORE__DIR": str(self._store.root)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watch(choice, process, log)

    def _watch(self, choice: IncidentChoice, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            ended = process.poll() is not None
            now = self.incidents.find(choice.incident_id)
            if now.continued_by is not None and (self._store.root / now.continued_by).is_dir():
                self._end(choice, "continued", "", now.continued_by)
                process.wait()
                return
            if ended:
                self._end(choice, "failed", _log_tail(log) or f"the command ended with {process.returncode}")
                return
            time.sleep(POLL_S)
        self._end(choice, "unknown", "it has not started yet; the list of runs will show it once it does")
        process.wait()

    def _end(self, choice: IncidentChoice, state: ChoiceState, message: str, run_id: str | None = None) -> None:
        with self._lock:
            self._choices[choice.incident_id] = replace(choice, state=state, message=message, run_id=run_id)
            self.version += 1


def _folder_of(store: Store, stored: StoredIncident) -> str | None:
    spec = store.find(stored.incident.run_id).spec()
    return next((folder for folder in (spec.cwd, spec.workspace) if folder and Path(folder).is_dir()), None)


def _log_tail(log: Path) -> str:
    try:
        lines = read_small(log).decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return " ".join(lines[-3:])[-LOG_TAIL:]
