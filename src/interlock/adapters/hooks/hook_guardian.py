"""HookGuardian: detects and handles disabled hooks and changed files."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Literal

import msgspec

from ...contain import RunMembers
from ...core import PROCEED, Decision, Hold, InterlockError, Notify, Stop, Tool, from_json, read_small
from ...journal_records import TamperRecord
from ...process import waited_s
from ...runtime import RunControl, Supervisor
from ..run_process_tree import RunProcessTree
from .hook_event import HookEvent, TranscriptEntry

log = logging.getLogger("interlock")

SILENT_S = 5.0
"""If no hook reports the call of a result in the transcript within this time, hooks no longer fire."""

NEVER_S = 60.0
"""A client that runs this long without a single hook is not supervised."""

MOST_WAITED_S = 240.0
"""The most extra time on a machine that is too busy to run the client."""

REMEMBERED = 1024
FORGED = "a hook reported the result of a call that the client's transcript does not know: it was forged"
SWITCHED_OFF = "settings that switch the hooks off were written"


Reaction = Literal["warn", "pause", "stop"]


class HookGuardian:
    """For one run. Reports each finding once, and reacts according to `runtime.on_tamper`: warn, pause or stop."""

    def __init__(
        self,
        supervisor: Supervisor,
        held: RunProcessTree,
        *,
        files: tuple[Path, ...] = (),
        settings: tuple[Path, ...] = (),
        expects_hooks: bool = False,
    ) -> None:
        self._supervisor, self._held = supervisor, held
        self._fingerprints = {path: _fingerprint(path) for path in files}
        self._settings = {path: _fingerprint(path) for path in settings}
        self._expects_hooks = expects_hooks
        self._clock = supervisor.run.clock
        self._begun = self._clock.monotonic()
        self._events = 0
        self._reported_calls: OrderedDict[str, None] = OrderedDict()
        self._unreported: dict[str, float] = {}
        self._transcribed: OrderedDict[str, None] = OrderedDict()
        self._calls: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._entries = 0
        self._unknown: dict[str, tuple[float, int]] = {}
        """Calls that only hooks report: since when, and how many results the transcript had then."""
        self._noticed: set[str] = set()
        self._findings: list[str] = []
        self._lock = threading.Lock()

    def note_event(self, event: HookEvent) -> None:
        with self._lock:
            self._events += 1
            calls = [event.tool, *(outcome.tool for outcome in event.outcomes)]
            for tool in (tool for tool in calls if tool is not None):
                self._judge(event, tool, tool.call_id or "")
            for call_id in (tool.call_id for tool in calls if tool is not None and tool.call_id):
                self._reported_calls[call_id] = None
                self._unreported.pop(call_id, None)
            for remembered in (self._reported_calls, self._transcribed, self._calls):
                while len(remembered) > REMEMBERED:
                    remembered.popitem(last=False)

    def _judge(self, event: HookEvent, tool: Tool, call_id: str) -> None:
        """Suspect a result of a call that only hooks know, or of another call than was announced under its id."""
        known = call_id in self._transcribed or not self._reported_calls or tool is event.tool
        if event.moment == "batch":
            # A whole turn: comes before its transcript, spells arguments in its own way, and has denied calls.
            other, known = False, known or call_id in self._reported_calls
        else:
            done = (tool.name, msgspec.json.encode(tool.arguments, order="sorted"))
            other = bool(call_id) and self._calls.setdefault(call_id, done) != done
        if other or not known:
            suspect = f"{call_id} again" if other else call_id
            self._unknown.setdefault(suspect, (self._clock.monotonic(), self._entries))

    def note_rewritten(self, call_id: str) -> None:
        """We have changed a call: its result comes with other arguments."""
        with self._lock:
            self._calls.pop(call_id, None)

    def note_said(self, said: TranscriptEntry) -> None:
        with self._lock:
            for call_id in said.results:
                self._entries += 1
                self._transcribed[call_id] = None
                self._unknown.pop(call_id, None)
                if call_id not in self._reported_calls:
                    self._unreported.setdefault(call_id, self._clock.monotonic())

    def judge_settings(self, event: HookEvent) -> Decision:
        """Deny settings that switch hooks off; allow others."""
        if not switches_hooks_off(Path(event.path)):
            return PROCEED
        self.notice(SWITCHED_OFF, event.path)
        return Decision("deny", reason="Interlock: hooks stay on while this run lasts.")

    def check(self, *, last: bool = False) -> None:
        """Check everything that is visible without hooks; `last`: the client has ended, and writes no more."""
        now = self._clock.monotonic()
        with self._lock:
            forged = any(
                self._entries > entries and (last or now - since > SILENT_S)
                for since, entries in self._unknown.values()
            )
            lost = any(now - since > SILENT_S for since in self._unreported.values())
            never = self._expects_hooks and not self._events and now - self._begun > NEVER_S
        if never:
            # On a busy machine a client may take a minute to start: do not count the time it waited for a processor.
            pids = self._held.tree.pids() if self._held.tree is not None else ()
            waited = max((waited_s(f"/proc/{pid}") for pid in pids), default=0.0)
            never = now - self._begun - min(waited, MOST_WAITED_S) > NEVER_S
        if lost:
            self.notice("the agent continues without its hooks: they were switched off")
        if forged:
            self.notice(FORGED, answer="warn")
        if never:
            self.notice(f"no hook has fired in {NEVER_S:g} s: the client's hooks are switched off")
        for path, known in self._fingerprints.items():
            if _fingerprint(path) != known:
                self.notice("a file that the hooks need was changed", str(path))
        for path, known in self._settings.items():
            if (current := _fingerprint(path)) != known:
                self._settings[path] = current
                if switches_hooks_off(path):
                    self.notice(SWITCHED_OFF, str(path))

    @property
    def noticed(self) -> tuple[str, ...]:
        """All findings so far, in words."""
        return tuple(self._findings)

    def notice(self, what: str, path: str = "", answer: Reaction | None = None) -> None:
        """Report it once, in the journal and to people, and react: as configured, unless overridden."""
        with self._lock:
            if (key := f"{what} {path}") in self._noticed:
                return
            self._noticed.add(key)
        run, configured = self._supervisor.run, self._supervisor.config.runtime.on_tamper
        answer = answer or ("warn" if configured == "auto" else configured)
        where = f" ({path})" if path else ""
        self._findings.append(f"{what}{where}")
        log.warning("run %s: %s%s", run.spec.run_id, what, where)
        with contextlib.suppress(InterlockError):
            # If the journal itself is gone, people still get the message.
            run.append([TamperRecord(what, answer, path)], durable=True, changes={"tampering": what})
        reason = f"The agent tampered with its supervision: {what}{where}."
        if self._supervisor.executor.notifier is not None:
            title = "The agent tampered with its supervision"
            self._supervisor.executor.notifier.tampered(Notify(title, reason, "critical"))
        if run.ended or self._supervisor.config.interventions.observe:
            return
        if answer == "pause":
            self._supervisor.executor.carry_out(Hold(reason, "recovery"))
            # An agent that does not report its steps is not held at the next one.
            self._held.freeze()
        elif answer == "stop":
            run.reason = run.reason or "EMERGENCY_STOP"
            self._supervisor.executor.carry_out(Stop(reason))
            run.end("aborted", "EMERGENCY_STOP", reason)


def _fingerprint(path: Path) -> tuple[int, int, int, int] | None:
    """A value that changes when a file is written, replaced or removed."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode


def file_identity(path: Path | str) -> tuple[int, int] | None:
    """Device and inode, which distinguish a file from another of the same name; None if it does not exist."""
    try:
        info = os.stat(path)  # noqa: PTH116  asked twice a second
    except OSError:
        return None
    return info.st_dev, info.st_ino


def switches_hooks_off(path: Path) -> bool:
    """Whether the settings in this file turn hooks off; a missing or invalid file does not."""
    try:
        settings = from_json(read_small(path))
    except (OSError, msgspec.DecodeError):
        return False
    if not isinstance(settings, dict):
        return False
    if settings.get("disableAllHooks") is True:
        return True
    hooks = settings.get("hooksConfig")
    return isinstance(hooks, dict) and (hooks.get("enabled") is False or "interlock" in (hooks.get("disabled") or ()))


def keep_authority(supervisor: Supervisor, members: RunMembers, guardian: HookGuardian) -> None:
    """From now on the run's own processes may pause and cancel it, and nothing else."""
    steering = supervisor.run.steering
    if not isinstance(steering, RunControl):
        return

    def refused(what: str) -> None:
        # Not in the thread that serves the socket, because the reaction controls the run.
        threading.Thread(target=guardian.notice, args=(what,), name="interlock-tamper", daemon=True).start()

    steering.server.authority.why_inside = members.why_inside
    steering.server.authority.on_refused = refused
