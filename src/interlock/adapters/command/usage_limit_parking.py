"""UsageLimitParking: handles usage limits in the owner: parks the run, stores its timer, and resumes the run once."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...config import Resume
from ...control import State, Waiting
from ...core import Hold, Liveness, from_json, read_small
from ...journal import RunFolder, boot_reading, clear_parked, quota_file, read_parked, write_parked, write_whole
from ...journal_records import ParkedRecord, WokenRecord, read_body
from ...redact import redact_text
from ...runtime import (
    MEANWHILE,
    Due,
    NeedsPerson,
    NotYet,
    ParkClock,
    Parked,
    QuotaUse,
    Supervisor,
    decide_wake,
    park,
    wait_for_turn,
)
from ..usage_limits import UsageLimit, find_in_words

log = logging.getLogger("interlock")

SHORT_S = 60.0
"""A limit that resets sooner is left to the client, which retries on its own."""

HANG = "hang"
"""The source of a park without a usage limit: the client hangs and is restarted."""

STARTS_OVER = "this command has no session to continue and would start over (unattended.resume.rerun)"


class UsageLimitParking:
    """For one run. The proxy calls `see` and `answered`; the owner `exited`, and `resume_if_due` twice a second.

    `relaunch` restarts the client, `finish` ends a run without a process; `last_words` returns the client's latest
    output and `session` its session. `continues`: the client can be restarted in its session;
    any other command starts over, which only a person or `unattended.resume.rerun` may request.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        folder: RunFolder,
        rules: Resume,
        *,
        quota: str,
        last_words: Callable[[], str],
        session: Callable[[], str],
        continues: bool,
        lacks: tuple[str, ...] = (),
    ) -> None:
        self._supervisor, self._folder, self._rules, self._quota = supervisor, folder, rules, quota
        self._last_words, self._session, self._lacks = last_words, session, lacks
        self._continues, self._starts_again = continues, continues or rules.rerun
        self.relaunch: Callable[[Parked], None] = lambda _: None
        self.finish: Callable[[int], None] = lambda _: None
        self._lock = threading.RLock()
        self._pending: UsageLimit | None = None
        self._unknown = 0
        self._woken = False
        self._client_status: int | None = None
        self.parked = read_parked(folder, Parked)
        if self.parked is not None:
            self._continue_park(self.parked)

    @property
    def liveness(self) -> Liveness | None:
        """The liveness of a parked run; None if it is not parked."""
        parked = self.parked
        if parked is None or self._woken or self._supervisor.run.ended:
            return None
        evidence = f"{parked.source}: {parked.reason}"
        if parked.held_by:
            what = "The client hangs" if parked.source == HANG else "Usage limit"
            question = f"{what}: {parked.reason}. It does not resume by itself: {parked.held_by}. Resume it?"
            return Liveness("parked", parked.at.wall, evidence, question=question)
        return Liveness("parked", parked.at.wall, evidence, wake=parked.wake)

    def see(self, limit: UsageLimit) -> None:
        """The model's API refuses requests. A limit that resets soon is left to the client."""
        with self._lock:
            self._pending = limit
            if self._woken:
                # The run was resumed and has reached a limit again.
                self._forget()
            if not limit.passes or (limit.resets_in is not None and limit.resets_in >= SHORT_S):
                self._park(limit)

    def see_words(self, words: str, resets_in: float | None) -> None:
        """The client reports that it is waiting for a limit, and for how long."""
        found = find_in_words(words, datetime.now().astimezone(), "hooks")
        if found is not None:
            self.see(replace(found, reason=words, resets_in=found.resets_in or resets_in))
        elif resets_in is not None and resets_in >= SHORT_S:
            self.see(UsageLimit(reason=words, source="hooks", resets_in=resets_in))

    def answered(self) -> None:
        """The model has answered, so the limit is over."""
        if self._pending is not None or self._unknown or self._woken:
            with self._lock:
                self._pending, self._unknown = None, 0
                if self._woken and self._client_status is None:
                    self._forget()

    @property
    def may_restart(self) -> bool:
        """Whether a client that hangs can be restarted in its session."""
        return self._continues and bool(self._session()) and self.parked is None and self._rules.max_parks > 0

    def restart(self, reason: str) -> bool:
        """Park without a delay, for a hung client that is about to be ended; returns whether it parked."""
        with self._lock:
            return self._park(UsageLimit(reason=reason, source=HANG, resets_in=0.0)) is not None

    def exited(self, status: int) -> bool:
        """The client has ended; returns whether the run is parked and will continue later."""
        with self._lock:
            self._client_status = status
            if self._supervisor.run.ended:
                return False
            now = datetime.now().astimezone()
            limit = self._pending if status or self._continues else None
            if limit is None and status:
                limit = find_in_words(self._last_words(), now, "last words")
            known = self.parked
            again = limit is not None and self._starts_again
            if known is not None and (not self._woken or again or known.status is not None):
                known = replace(known, status=status, session=self._session() or known.session)
                self._keep(known)
                if self._woken:
                    # The client ended because of the earlier limit: it has not called the model since.
                    self.relaunch(known)
                return True
            if known is not None:
                self._forget()
            return limit is not None and self._park(limit, status) is not None

    def started(self) -> None:
        """The client is running again: this park is over."""
        with self._lock:
            self._client_status = None
            if self._woken:
                self._forget()

    def resume_if_due(self) -> None:
        """Resume the run when it is due, or when a person resumed it."""
        with self._lock:
            parked, run = self.parked, self._supervisor.run
            if parked is None:
                return
            if run.ended:
                self._forget()
                if self._client_status is not None:
                    self.finish(self._client_status)
                return
            if self._woken:
                return
            if run.status == "running" and self._was_held():
                self._wake(parked, "a person")
                return
            match self._decide(parked):
                case Due():
                    if parked.source == HANG or self._is_my_turn(parked):
                        self._wake(parked, "the timer")
                case NeedsPerson(why) if not parked.held_by:
                    self._keep(replace(parked, held_by=why))
                    run.update(liveness=self.liveness)
                    self._hold(self.parked or parked)

    def _decide(self, parked: Parked) -> Due | NotYet | NeedsPerson:
        decided = decide_wake(parked, _now())
        if self._client_status is None or isinstance(decided, NeedsPerson):
            return decided
        if not self._starts_again:
            return NeedsPerson(STARTS_OVER)
        if isinstance(decided, Due) and self._lacks:
            names = ", ".join(self._lacks)
            return NeedsPerson(f"{names} is not set here: run interlock resume where it is set")
        return decided

    def _park(self, limit: UsageLimit, status: int | None = None) -> Parked | None:
        """Store the timer, then pause: the next owner finds it after a crash. `status` is the client's exit status."""
        run = self._supervisor.run
        if self.parked is not None:
            return self.parked
        if run.ended or run.status != "running" or self._rules.max_parks == 0:
            return None
        self._unknown = self._unknown + 1 if limit.resets_in is None else 0
        with run.journal.reader() as journal:
            number = journal.count("parked") + 1
        parked = park(
            number,
            redact_text(limit.reason),
            limit.source,
            resets_in=limit.resets_in,
            passes=limit.passes,
            quota=self._quota,
            rules=self._rules,
            now=_now(),
            started=run.summary.started,
            cost_usd=run.summary.cost_usd,
            jitter=random.random() if limit.source != HANG else 0.0,
            in_a_row=max(1, self._unknown),
        )
        starts_over = STARTS_OVER if status is not None and not self._starts_again else ""
        parked = replace(parked, session=self._session(), status=status, held_by=parked.held_by or starts_over)
        self._woken = False
        self._keep(parked)
        if limit.source != HANG:
            self._note_limit(parked)
        self._record(parked)
        self._supervisor.checkpoint(cause=MEANWHILE, step=self._supervisor.next_index)
        self._hold(parked)
        return parked

    def _record(self, parked: Parked) -> None:
        body = ParkedRecord(
            number=parked.number,
            reason=parked.reason,
            source=parked.source,
            quota=parked.quota,
            wake=parked.wake,
            held_by=parked.held_by,
        )
        self._supervisor.run.append([body], durable=True, changes={"liveness": self.liveness})

    def _continue_park(self, parked: Parked) -> None:
        """Continue a park that a predecessor began."""
        run = self._supervisor.run
        if run.ended:
            self._forget()
            return
        self._client_status = parked.status
        with run.journal.reader() as journal:
            known = journal.count("parked")
            woken = [read_body(record) for record in journal.read(kinds=frozenset(("woken",)))]
        if any(isinstance(body, WokenRecord) and body.number == parked.number for body in woken):
            self._woken = True
            run.resume()
            return
        if known < parked.number:
            self._record(parked)
        if not self._was_held():
            self._hold(parked)

    def _was_held(self) -> bool:
        """Whether the run was paused for this park: if it runs now, a person resumed it."""
        with self._supervisor.run.journal.reader() as journal:
            at = journal.last("parked")
            said = journal.read(after=at.seq, kinds=frozenset(("state", "hold"))) if at is not None else ()
            return any(_is_parked(read_body(record)) for record in said)

    def _wake(self, parked: Parked, by: str) -> None:
        """Resume the run. The record comes first: once it is durable, this park is never resumed again."""
        again = "the client is restarted in its session" if self._continues else "the command is restarted"
        how = "its processes continue" if self._client_status is None else again
        self._supervisor.run.append([WokenRecord(parked.number, by, how)], durable=True)
        self._woken, self._pending = True, None
        self._supervisor.run.resume()
        self._supervisor.run.update(liveness=None)
        if self._client_status is not None:
            self.relaunch(parked)

    def _forget(self) -> None:
        self.parked = None
        self._woken = False
        clear_parked(self._folder)

    def _keep(self, parked: Parked) -> None:
        write_parked(self._folder, parked)
        self.parked = parked

    def _hold(self, parked: Parked) -> None:
        if parked.wake is None:
            words = f"parked at a usage limit, does not resume by itself: {parked.held_by} ({parked.reason})"
        else:
            wake = datetime.fromtimestamp(parked.wake)
            words = f"parked at a usage limit, resumes {wake:%Y-%m-%d %H:%M} ({parked.reason})"
        if parked.source == HANG and not parked.held_by:
            words = f"the client hangs and is restarted in its session ({parked.reason})"
        self._supervisor.run.hold(Hold(words, "parked", parked.wake or 0.0), self._supervisor.next_index)

    def _note_limit(self, parked: Parked) -> None:
        """Tell other runs that share the quota about the limit."""
        with quota_file(self._folder.path.parent, self._quota) as path:
            use = _read_use(path)
            use = replace(use, limited=parked.at, limited_for=parked.delay if not parked.held_by else 0.0)
            write_whole(path, msgspec.json.encode(use))

    def _is_my_turn(self, parked: Parked) -> bool:
        now, run_id = _now(), self._folder.run_id
        with quota_file(self._folder.path.parent, parked.quota) as path:
            use = _read_use(path)
            if use.limited == parked.at:
                use = replace(use, limited=None)
            if wait_for_turn(use, run_id, now) > 0:
                return False
            write_whole(path, msgspec.json.encode(QuotaUse(run_id=run_id, woke=now, limited=use.limited)))
        return True


def _is_parked(body: object) -> bool:
    held = body.waiting if isinstance(body, State) else body
    return isinstance(held, (Hold, Waiting)) and held.kind == "parked"


def _read_use(path: Path) -> QuotaUse:
    try:
        return from_json(read_small(path), QuotaUse)
    except (OSError, msgspec.DecodeError):
        return QuotaUse()


def _now() -> ParkClock:
    return ParkClock(*boot_reading())
