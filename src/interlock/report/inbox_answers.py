"""Answer an item of the inbox: the same for the command line, the dashboard and the terminal UI."""

from __future__ import annotations

import uuid

from msgspec import Struct

from ..control import new_request
from ..core import BadInput, InvalidState
from ..link import Notice, Runs
from ..runtime import Incidents, abort
from .inbox import InboxItem, dismiss, find_item


class Answered(Struct, frozen=True):
    """What came of an answer. `code` says why it failed, in the words of the control protocol."""

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
