"""The inbox: everything that needs a person, newest first, with the possible answers; and answering."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..control import State, Waiting, decode_current, new_request
from ..core import ENDED, LONG_WAIT, BadInput, InterlockError, InvalidState, Issue, NotFound, from_json, read_small
from ..journal import JournalReader, RunFolder, RunSummary, Store, locked, write_durably
from ..journal_records import RecordBody, read_body
from ..link import Notice, Runs
from ..runtime import Incidents, abort, read_incidents
from .run_ending import read_ending

if TYPE_CHECKING:
    from ..link import HubClient, RemoteRun


DISMISSED = "dismissed.json"
"""The file in the store that lists dismissed items."""

KEPT_DISMISSED = 2000


class InboxAnswer(Struct, frozen=True, omit_defaults=True):
    """A possible answer: its name, what it does, and the command that does it.

    `command` is the control command that it sends with `payload`; without one it is carried out where the inbox is
    read, or not at all (`here` is false): then `words` or `does` say how.
    """

    name: str
    does: str
    command: str = ""
    payload: dict[str, object] = {}
    words: str = ""
    here: bool = True


class InboxItem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something that needs a person. `id` identifies exactly this: a changed call is another item."""

    id: str
    kind: str
    run_id: str
    run: str
    time: float
    title: str
    text: str = ""
    answers: tuple[InboxAnswer, ...] = ()
    expires: float | None = None
    host: str = ""


class _RunState(Struct, frozen=True):
    """A run with what it waits for."""

    folder: RunFolder
    run: RunSummary
    waiting: Waiting | None

    def item(
        self,
        kind: str,
        which: object,
        at: float,
        title: str,
        text: str,
        *answers: InboxAnswer,
        expires: float | None = None,
    ) -> InboxItem:
        return InboxItem(
            id=hashlib.sha256(f"{self.run.run_id}/{kind}/{which}".encode()).hexdigest()[:8],
            kind=kind,
            run_id=self.run.run_id,
            run=self.run.name or self.run.run_id,
            time=at,
            title=title,
            text=text,
            answers=answers,
            expires=expires,
        )

    def control(self, resumed: str = "The run continues.") -> tuple[InboxAnswer, InboxAnswer]:
        ref = self.run.run_id
        return (
            InboxAnswer("resume", resumed, "resume", words=f"interlock resume {ref}"),
            InboxAnswer(
                "cancel", "The run ends, and its processes with it.", "cancel", words=f"interlock cancel {ref}"
            ),
        )

    @property
    def dismiss(self) -> InboxAnswer:
        return InboxAnswer("dismiss", "Removes it from the inbox. Nothing else changes.")


def _approvals(seen: _RunState) -> Iterator[InboxItem]:
    call = seen.waiting
    if call is None or call.kind != "approval":
        return
    payload: dict[str, object] = {"step": call.step, **({"digest": call.digest} if call.digest else {})}
    yield seen.item(
        "approval",
        f"{call.step}/{call.digest}",
        seen.run.updated,
        f"Step {call.step} needs your approval",
        call.text,
        InboxAnswer("approve", "Exactly this call runs.", "approve", payload),
        InboxAnswer("reject", "The call does not run; the agent receives your reason.", "reject", payload),
        expires=call.until or None,
    )


def _holds(seen: _RunState) -> Iterator[InboxItem]:
    hold = seen.waiting
    if hold is None or hold.kind in ("approval", "parked"):
        return
    titles = {"limit": "Paused at a limit", "budget": "Paused by a budget"}
    kind = "budget" if hold.text.startswith("budget ") else "limit" if hold.kind == "limit" else "paused"
    title = titles.get(kind, "Paused for you")
    resumed = "The run continues, with another tenth of the budget." if kind == "budget" else "The run continues."
    yield seen.item(kind, hold.text, seen.run.updated, title, hold.text, *seen.control(resumed))


def _liveness(seen: _RunState) -> Iterator[InboxItem]:
    doing = seen.run.doing
    if doing is None or (seen.waiting is not None and seen.waiting.kind != "parked"):
        # What holds the run is an item of its own.
        return
    cancel = seen.control()[1]
    if doing.word == "waiting for a person" and doing.question:
        piped = "standard input" in doing.evidence
        where = "Write the answer to its standard input." if piped else "Type the answer in the terminal of the run."
        here = InboxAnswer("answer", where, here=False)
        yield seen.item("question", doing.since, doing.since, "Asks a question", doing.question, here, cancel)
    elif doing.word == "wedged":
        yield seen.item("wedged", doing.since, doing.since, f"Hangs: {doing.wedged}", doing.evidence, cancel)
    elif doing.word == "parked" and doing.wake is None:
        why = doing.question or doing.evidence or "It does not resume by itself."
        over = "would start over" in why
        resumed = "The command starts again from its beginning." if over else "The run continues."
        yield seen.item("parked", doing.since, doing.since, "Parked until you resume it", why, *seen.control(resumed))


def _long_waits(seen: _RunState) -> Iterator[InboxItem]:
    if seen.run.last_issue != LONG_WAIT or not seen.run.stuck or seen.run.status in ENDED:
        return
    said = _last(seen.folder, "issue")
    which, text = (said.id, said.description) if isinstance(said, Issue) else ("", seen.run.stuck)
    cancel = seen.control()[1]
    yield seen.item("waits", which, seen.run.updated, "Has waited for a long time", text, cancel, seen.dismiss)


def _incidents(seen: _RunState) -> Iterator[InboxItem]:
    if seen.run.reason != "EMERGENCY_STOP":
        return
    for stored in read_incidents(seen.folder.incidents):
        if stored.status == "open":
            answers = (
                InboxAnswer(option.name, option.description, payload={"incident": stored.id}, words=option.command)
                for option in stored.options
                if option.applicable
            )
            at, title = stored.incident.time, "Interlock stopped the run"
            yield seen.item("incident", stored.id, at, title, stored.report.summary, *answers)


def _tampering(seen: _RunState) -> Iterator[InboxItem]:
    if seen.run.tampering:
        more = () if seen.run.status in ENDED else (seen.control()[1],)
        title = "The agent tampered with its supervision"
        yield seen.item(
            "tampering", seen.run.tampering, seen.run.updated, title, seen.run.tampering, *more, seen.dismiss
        )


def _ended(seen: _RunState) -> Iterator[InboxItem]:
    kind = seen.run.ending or ("unproven" if seen.run.reason == "UNPROVEN" else "")
    at = seen.run.ended or seen.run.updated
    if kind in ENDED_TITLES and time.time() - at < RECENT_S:
        text = "\n".join(_evidence(str(seen.folder.path))) or seen.run.task
        yield seen.item(kind, "", at, ENDED_TITLES[kind], text, seen.dismiss)


ENDED_TITLES = {
    "broken": "Broke its contract",
    "contradicted": "Ended, but a check contradicts it",
    "refused": "Ended without calls that it needed",
    "unproven": "Ended, but its claims are not proven",
    "failed": "Failed",
    "limit": "Ended by a limit",
}
"""The endings that a person should know of. Whoever cancelled a run knows, and an incident is an item of its own."""

RECENT_S = 7 * 86_400.0
"""How long the end of a run stays in the inbox."""

EVIDENCE = 4
"""Lines of evidence in one item."""


@lru_cache(256)
def _evidence(folder: str) -> tuple[str, ...]:
    """What did not happen in an ended run, most serious first; else why it ended."""
    end = read_ending(RunFolder(Path(folder)))
    return tuple(each.words for each in end.not_done[:EVIDENCE]) or tuple(filter(None, [end.message]))


def _lost(seen: _RunState) -> Iterator[InboxItem]:
    if seen.run.shown == "lost":
        text = "The process that supervised it is gone."
        yield seen.item(
            "lost", "", seen.run.updated, "This run is not supervised", text, seen.control()[1], seen.dismiss
        )


KINDS: dict[str, Callable[[_RunState], Iterator[InboxItem]]] = {
    "approval": _approvals,
    "hold": _holds,
    "liveness": _liveness,
    "waits": _long_waits,
    "incident": _incidents,
    "tampering": _tampering,
    "ended": _ended,
    "lost": _lost,
}
"""What can need a person, with the function that finds it."""


def read_inbox(
    store: Store, hub: HubClient | None = None, runs: Iterable[RunSummary] | None = None, *, now: float | None = None
) -> list[InboxItem]:
    """Everything that needs a person, on this machine and on the hub, newest first.

    `runs` are those of this machine, if the caller already has them.
    """
    dismissed = frozenset(read_dismissed(store))
    now = time.time() if now is None else now
    found = []
    for run in store.runs() if runs is None else runs:
        if not may_need_a_person(run):
            continue
        folder = RunFolder(store.root / run.run_id)
        seen = _RunState(folder, run, _waiting(folder) if run.waiting and run.status not in ENDED else None)
        found += [item for find in KINDS.values() for item in find(seen)]
    here = {folder.run_id for folder in store.folders()} if hub is not None else set()
    for remote in hub.runs() if hub is not None else ():
        if remote.summary.run_id not in here:
            found += [msgspec.structs.replace(item, host=remote.host) for item in _remote_items(store, remote, hub)]
    fresh = [item for item in found if item.id not in dismissed and (item.expires is None or item.expires > now)]
    return sorted(fresh, key=lambda item: item.time, reverse=True)


def may_need_a_person(run: RunSummary) -> bool:
    """Whether a run can be in the inbox; most ended runs cannot."""
    if run.status == "unreadable":
        return False
    recent = time.time() - (run.ended or 0.0) < RECENT_S
    ended = run.reason in ("EMERGENCY_STOP", "UNPROVEN") or (run.ending in ENDED_TITLES and recent)
    return run.status not in ENDED or bool(run.tampering) or ended


def _remote_items(store: Store, remote: RemoteRun, hub: HubClient | None) -> list[InboxItem]:
    run = remote.summary
    event = decode_current(hub.current(run.run_id) or b"") if hub is not None and run.waiting else None
    # Only what the hub has: the folder of this run is on another machine.
    seen = _RunState(RunFolder(store.root / run.run_id), run, event.waiting if isinstance(event, State) else None)
    return [item for find in KINDS.values() for item in find(seen)]


def find_item(store: Store, ref: str, hub: HubClient | None = None) -> InboxItem:
    """The item with this id or unique prefix."""
    found = [item for item in read_inbox(store, hub) if item.id.startswith(ref)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"{ref!r} matches {len(found)} items of the inbox", todo="Use a longer prefix.")
    raise NotFound(
        f"the inbox has no item {ref!r}", todo="It was answered, has changed or has expired: see interlock inbox."
    )


def read_dismissed(store: Store) -> list[str]:
    """The ids of dismissed items."""
    try:
        return from_json(read_small(store.root / DISMISSED), list[str])
    except (OSError, msgspec.DecodeError):
        return []


def dismiss(store: Store, item: InboxItem) -> None:
    """Dismiss an item permanently."""
    path = store.root / DISMISSED
    with locked(path):
        write_durably(path, msgspec.json.encode([*read_dismissed(store), item.id][-KEPT_DISMISSED:]))


def _waiting(folder: RunFolder) -> Waiting | None:
    state = _last(folder, "state")
    return state.waiting if isinstance(state, State) else None


def _last(folder: RunFolder, kind: str) -> RecordBody | None:
    """The newest record of a kind; None without one, or on another machine."""
    try:
        with JournalReader.open(folder) as reader:
            last = reader.last(kind)
    except InterlockError:
        return None
    return read_body(last) if last is not None else None


class Answered(Struct, frozen=True):
    """The result of an answer. `code` says why it failed, in the words of the control protocol."""

    ok: bool
    message: str
    code: str | None = None


def answer_item(
    runs: Runs, ref: str, name: str, reason: str = "", *, timeout: float = 60.0, notice: Notice = lambda words: None
) -> tuple[InboxItem, Answered]:
    """Give one of an item's answers. The item is looked up again: one that changed or expired is not found."""
    item = find_item(runs.store, ref, runs.hub)
    answer = next((each for each in item.answers if each.name == name), None)
    if answer is None:
        names = ", ".join(each.name for each in item.answers)
        raise BadInput(f"{name!r} is not an answer to {item.id}", todo=f"Possible: {names}.")
    if answer.command:
        payload = dict(answer.payload)
        if reason and answer.command in ("approve", "reject"):
            payload["reason"] = reason
        request = new_request(str(uuid.uuid4()), answer.command, item.run_id, payload, reason=reason or None)  # type: ignore[arg-type]
        got = runs.ask(request, timeout, notice)
        return item, Answered(got.outcome == "success", got.message, got.code)
    if name == "dismiss":
        dismiss(runs.store, item)
        return item, Answered(True, "dismissed")
    if item.kind == "incident" and name == "abort":
        incidents = Incidents(runs.store)
        stored = next(each for each in incidents.all() if each.incident.run_id == item.run_id and each.status == "open")
        return item, Answered(True, "; ".join(abort(runs.store, stored)) or "nothing was left to clean up")
    what = f"{name} starts a command in your terminal" if answer.words else f"{name} is not possible from here"
    raise InvalidState(what, todo=answer.words or answer.does)
