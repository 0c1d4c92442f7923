"""Control history: every request with what is known of it, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..link import SentRequest
from ..report import ControlCommand
from .line import Line, Piece, fit, flat
from .pager import text_lines
from .words import clock_time

OUTCOMES = {
    "sent": ("…", "warn"),
    "pending": ("…", "warn"),
    "success": ("✓", "good"),
    "failure": ("✗", "bad"),
    "unknown": ("?", "level3"),
}


class ControlEntry(Struct, frozen=True, kw_only=True):
    """A request as it is shown: who asked when, whether the run has it, and what it answered."""

    request_id: str
    command: str
    when: float
    actor: str = ""
    reason: str = ""
    acked: float | None = None
    answered: float | None = None
    outcome: str = "pending"
    message: str = ""


def gather(controls: Iterable[ControlCommand], ours: Sequence[SentRequest], *, owned: bool) -> list[ControlEntry]:
    """The journal's requests, the newest first; one of ours that the journal does not have yet comes on top."""
    mine = {sent.request_id: sent for sent in ours}
    entries = [_entry(control, mine.pop(control.request_id, None), owned=owned) for control in controls]
    entries += [_unheard(sent) for sent in mine.values()]
    return sorted(entries, key=lambda entry: entry.when, reverse=True)


def control_heading(width: int) -> Line:
    return (
        (fit("TIME", 10), ""),
        (fit("COMMAND", 11), ""),
        (fit("ACK", 10), ""),
        (fit("RESULT", 12), ""),
        ("WORDS", ""),
    )


def draw_control(entry: ControlEntry, width: int) -> Line:
    sign, style = OUTCOMES[entry.outcome]
    ack: Piece = (clock_time(entry.acked), "") if entry.acked else ("–" if entry.outcome != "sent" else "sent", "dim")
    result = clock_time(entry.answered) if entry.answered else "unknown" if entry.outcome == "unknown" else "waiting"
    words = "  ".join(filter(None, (entry.message, f"“{entry.reason}”" if entry.reason else "", entry.actor)))
    return (
        (fit(clock_time(entry.when), 10), "dim"),
        (fit(entry.command, 11), "strong"),
        (fit(ack[0], 10), ack[1]),
        (fit(f"{sign} {result}", 12), style),
        (flat(words), "" if entry.outcome != "success" else "dim"),
    )


def control_lines(entry: ControlEntry, width: int) -> list[Line]:
    """Everything that is known of a request."""
    sign, style = OUTCOMES[entry.outcome]
    acked = clock_time(entry.acked) if entry.acked else "the journal has none"
    answered = clock_time(entry.answered) if entry.answered else "the journal has none"
    return [
        (("REQUEST  ", "dim"), (f"{entry.command} at {clock_time(entry.when)}", "strong")),
        (("by       ", "dim"), (flat(entry.actor or "–"), "")),
        (("reason   ", "dim"), (flat(entry.reason or "–"), "")),
        (("ACK      ", "dim"), (acked, "")),
        (("RESULT   ", "dim"), (answered, "")),
        (("outcome  ", "dim"), (f"{sign} {entry.outcome}", style)),
        (),
        *text_lines(entry.message or "No reply yet.", width),
    ]


def _entry(control: ControlCommand, sent: SentRequest | None, *, owned: bool) -> ControlEntry:
    result, outcome = control.result, str(control.outcome(owned=owned))
    message = result.message if result is not None else ""
    if result is None and sent is not None and sent.state == "unknown":
        outcome, message = "unknown", sent.message
    elif outcome == "unknown":
        message = "the run has no owner: it may or may not have been carried out"
    return ControlEntry(
        request_id=control.request_id,
        command=control.command,
        when=control.requested_at,
        actor=control.actor,
        reason=control.reason,
        acked=control.ack.time if control.ack is not None else None,
        answered=result.time if result is not None else None,
        outcome=outcome,
        message=message if result is None or not result.code else f"{result.code}: {message}",
    )


def _unheard(sent: SentRequest) -> ControlEntry:
    """A request of ours that the journal knows nothing of."""
    return ControlEntry(
        request_id=sent.request_id,
        command=sent.command,
        when=sent.time,
        reason=sent.reason or "",
        outcome=sent.state,
        message=sent.message or sent.notice,
        actor="you",
    )
