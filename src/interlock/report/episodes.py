"""Episodes: what a run got stuck on and what was tried; ControlCommand: one request to it with its ACK and RESULT."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..control import Ack, Request, Result, result_words
from ..core import SEVERITIES, Intervention, Record, Severity, short_name
from ..journal import JournalReader
from ..journal_records import EpisodeRecord, InterventionRecord, read_body
from ..link import SentRequest
from .words import episode_cost, episode_ending, outcome_words

KEPT = 500
"""Episodes of one run that are shown; the journal has all."""


class Tried(Struct, frozen=True):
    """One intervention of an episode. `outcome`: worked, did not work, not judged yet, postponed, not applied."""

    step: int
    time: float
    type: str
    name: str
    level: int
    outcome: str
    reason: str = ""


class Problem(Struct, frozen=True, kw_only=True):
    """One episode as people read it.

    `issue_id` is its newest issue, by which it can be muted. `closed_at` is None while it is open, `updated_at` is when
    its newest record was written; `achieved` is its state or its end. `calls`, `tokens` and `cost_usd` were spent
    from its beginning until then, relapses included.
    """

    id: str
    issue_id: str
    type: str
    what: str
    place: str = ""
    agent: str = ""
    severity: Severity = "medium"
    description: str = ""
    opened_step: int = 0
    opened_at: float = 0.0
    closed_at: float | None = None
    updated_at: float = 0.0
    ending: str | None = None
    achieved: str = ""
    relapses: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    tried: tuple[Tried, ...] = ()

    @property
    def open(self) -> bool:
        return self.ending is None

    @property
    def worked(self) -> bool:
        """Whether it ended because it was solved, improved or stopped happening."""
        return self.ending in ("solved", "improved", "stopped_happening")

    @property
    def cost(self) -> str:
        return episode_cost(self.calls, self.tokens, self.cost_usd)


class EpisodeLog:
    """The episodes of a run, from their records; the newest record of an id is its state."""

    def __init__(self) -> None:
        self._known: dict[str, Problem] = {}
        self._before: dict[str, tuple[int, int, float]] = {}

    def add(self, record: EpisodeRecord, time: float) -> None:
        """Apply a record."""
        was = self._known.get(record.id)
        if was is not None and record.relapses > was.relapses:
            self._before[record.id] = (was.calls, was.tokens, was.cost_usd)
        calls, tokens, cost = self._before.get(record.id, (0, 0, 0.0))
        self._known[record.id] = Problem(
            id=record.id,
            issue_id=record.issue_id,
            type=record.type if was is None else was.type,
            what=record.what,
            place=record.place or (was.place if was is not None else ""),
            agent=record.agent,
            severity=record.severity if was is None else max(was.severity, record.severity, key=SEVERITIES.index),
            description=record.description,
            opened_step=record.opened_step if was is None else was.opened_step,
            opened_at=record.opened_at if was is None else was.opened_at,
            closed_at=time if record.ending is not None else None,
            updated_at=time,
            ending=record.ending,
            relapses=record.relapses,
            calls=calls + record.calls,
            tokens=tokens + record.tokens,
            cost_usd=cost + record.cost_usd,
        )
        while len(self._known) > KEPT:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._before.pop(oldest, None)

    def problems(self, made: Iterable[Intervention], *, ended: bool) -> list[Problem]:
        """All episodes in the order in which they opened, with their interventions. `ended`: the run is over."""
        answers: dict[str, list[Tried]] = {}
        for each in made:
            if each.episode is not None:
                tried = answers.setdefault(each.episode, [])
                if tried and tried[-1].outcome == POSTPONED:
                    del tried[-1]  # the next one says more
                tried.append(_tried(each, ended=ended))
        found = [replace(known, tried=tuple(answers.get(known.id, ()))) for known in self._known.values()]
        return [replace(each, achieved=_achieved(each, ended)) for each in found]


POSTPONED = "postponed"


def read_problems(reader: JournalReader, *, ended: bool) -> list[Problem]:
    """The episodes of a run from its journal."""
    log, made = EpisodeLog(), dict[str, Intervention]()
    if not reader.count("episode"):
        return []  # interventions are only shown as parts of episodes, and a long run has many
    for record in reader.read(kinds=frozenset(("episode", "intervention", "effect"))):
        match read_body(record):
            case EpisodeRecord() as episode:
                log.add(episode, record.time)
            case InterventionRecord(intervention=each) | (Intervention() as each):
                made[each.id] = each
    return log.problems(made.values(), ended=ended)


def _tried(made: Intervention, *, ended: bool) -> Tried:
    outcome = outcome_words(made)
    if made.outcome == "pending" and made.type in FINAL:
        outcome = FINAL[made.type]
    elif made.outcome == "pending" and ended:
        outcome = "not judged: the run ended first"
    reason = made.reason.removeprefix("postponed: ")
    return Tried(made.step, made.time, made.type, short_name(made.type), made.level, outcome, reason)


FINAL = {"emergency_stop": "stopped the run", "pause_for_person": "paused the run"}
"""Interventions after which the agent does nothing more, so that there is nothing to judge."""


def _achieved(problem: Problem, ended: bool) -> str:
    if problem.ending is not None:
        return episode_ending(problem.ending)
    last = problem.tried[-1].outcome if problem.tried else ""
    if last == FINAL["emergency_stop"]:
        return "not solved: the run was stopped"
    if ended:
        return "still open when the run ended"
    return "needs you" if last == FINAL["pause_for_person"] else "still open"


def tried_line(problem: Problem) -> str:
    """What was tried, in order, in one line."""
    final = FINAL.values()
    return ", ".join(each.name if each.outcome in final else f"{each.name} {each.outcome}" for each in problem.tried)


CONTROL_KINDS = frozenset(("request", "ack", "result"))

Outcome = Literal["pending", "success", "failure", "unknown"]


class Acked(Struct, frozen=True):
    """The run has stored the command."""

    code: str
    time: float
    message: str = ""


class ControlResult(Struct, frozen=True):
    """The result of a command; `code` says why it failed."""

    code: str | None
    status: str
    time: float
    message: str = ""


class ControlCommand(Struct, kw_only=True):
    """A command and its outcome. Without a RESULT it is unknown whether it was carried out."""

    request_id: str
    command: str
    actor: str = ""
    reason: str = ""
    requested_at: float = 0.0
    seq: int = 0
    ack: Acked | None = None
    result: ControlResult | None = None

    def outcome(self, *, owned: bool) -> Outcome:
        """The known outcome: without an owner, a command without RESULT may or may not have been carried out."""
        if self.result is not None:
            return "success" if self.result.status == "success" else "failure"
        return "pending" if owned else "unknown"


def apply_controls(known: dict[str, ControlCommand], records: Iterable[Record], keep: int) -> None:
    """Apply records to the table of controls; drops the oldest beyond `keep`."""
    for record in records:
        message = read_body(record)
        if not isinstance(message, Request | Ack | Result):
            continue
        # A request that could not be read has a RESULT anyway.
        request_id = message.request_id or f"#{record.seq}"
        control = known.get(request_id)
        if control is None:
            control = known[request_id] = ControlCommand(
                request_id=request_id, command=message.command or "", requested_at=record.time, seq=record.seq
            )
        if isinstance(message, Request):
            control.actor, control.reason = message.actor or "", message.reason or ""
        elif isinstance(message, Ack):
            control.ack = Acked("ACK", record.time)
        else:
            payload = message.payload
            words = result_words(payload.status, payload.message, payload.run_status)
            control.result = ControlResult(payload.code or None, payload.status, record.time, words)
        while len(known) > keep:
            del known[next(iter(known))]


class ShownRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request as a screen shows it: from the journal, and from what its sender here knows."""

    request_id: str
    command: str
    outcome: str
    requested: float
    actor: str = ""
    reason: str = ""
    acked: float | None = None
    answered: float | None = None
    code: str | None = None
    message: str = ""
    notice: str = ""
    attempts: int = 1
    in_journal: bool = True


def merge_controls(
    known: Iterable[ControlCommand], sent: Iterable[SentRequest], *, owned: bool, actor: str = "dashboard"
) -> list[ShownRequest]:
    """All requests, oldest first: as in the journal, else as sent from here by `actor`."""
    ours = {each.request_id: each for each in sent}
    shown = [_from_journal(control, ours.pop(control.request_id, None), owned) for control in known]
    shown += [_from_sending(each, actor) for each in ours.values()]
    return sorted(shown, key=lambda each: each.requested)


def _from_journal(control: ControlCommand, ours: SentRequest | None, owned: bool) -> ShownRequest:
    outcome = str(control.outcome(owned=owned))
    result = control.result
    if outcome == "pending" and ours is not None and ours.state == "unknown":
        outcome = "unknown"
    message = result.message if result is not None else ours.message if ours is not None else ""
    return ShownRequest(
        request_id=control.request_id,
        command=control.command,
        outcome=outcome,
        requested=ours.time if ours is not None else control.requested_at,
        actor=control.actor,
        reason=control.reason,
        acked=control.ack.time if control.ack is not None else None,
        answered=result.time if result is not None else None,
        code=result.code if result is not None else None,
        message=message,
        notice=ours.notice if ours is not None and result is None else "",
        attempts=ours.attempts if ours is not None else 1,
    )


def _from_sending(sent: SentRequest, actor: str) -> ShownRequest:
    return ShownRequest(
        request_id=sent.request_id,
        command=sent.command,
        outcome="pending" if sent.state == "sent" else sent.state,
        requested=sent.time,
        actor=actor,
        reason=sent.reason or "",
        answered=sent.answered if sent.state in ("success", "failure") else None,
        code=sent.code,
        message=sent.message,
        notice=sent.notice if sent.state == "sent" else "",
        attempts=sent.attempts,
        in_journal=False,
    )
