"""RunLedger: what did not happen in a run, and how the run ended, decided from its records."""

from __future__ import annotations

from msgspec.structs import replace

from ..core import NOT_DONE, Ending, NotDone, NotDoneKind
from ..journal import JournalReading
from ..journal_records import (
    BreachRecord,
    EndRecord,
    Fault,
    ProofRecord,
    RecordBody,
    StepRecord,
    StopGateRecord,
    read_body,
)
from ..proof import Verdict
from .approvals import EXPIRED, REJECTED, describe

BY_REASON: dict[str, Ending] = {
    "EMERGENCY_STOP": "stopped", "STUCK": "stopped", "MAX_ISSUES": "stopped", "USER_CANCELLED": "cancelled",
    "MAX_ITERATIONS": "limit", "ERROR": "failed", "CRITICAL_FAILURE": "failed",
}  # fmt: skip
"""The endings that the protocol's reason decides; for the others the run's records do."""

CLAIM_IS: dict[Verdict, str] = {
    "proven": "is proven", "own_check": "rests on a check of its own", "stale": "is out of date",
    "contradicted": "is contradicted", "unproven": "is not proven",
}  # fmt: skip

LEDGER_KINDS = frozenset(("step", "breach", "stop_gate", "proof", "fault"))
"""The kinds of records that a ledger reads."""

MOST = 64
"""Entries that are kept; equal ones count as one, and further ones as the last."""

CHANNEL = "channel "
"""How the fault of an alert channel is named."""


def read_end(journal: JournalReading) -> EndRecord:
    """How a run ended and what did not happen in it, also alerts about its end; so far, if it has not ended.

    From its records, if it was cancelled or an older version recorded its end.
    """
    record = journal.last("end")
    end = read_body(record) if record is not None else None
    known = record is not None and isinstance(end, EndRecord) and end.ending is not None
    kinds = frozenset(("fault",)) if known else LEDGER_KINDS
    ledger = RunLedger()
    for each in journal.read(record.seq if known and record is not None else 0, kinds=kinds):
        if (body := read_body(each)) is not None:
            ledger.note(body)
    if isinstance(end, EndRecord) and known:
        return replace(end, not_done=(*end.not_done, *ledger.not_done()))
    run = journal.summary()
    if run is None or run.reason is None:
        return EndRecord("running", "", not_done=ledger.not_done())
    why = end.message if isinstance(end, EndRecord) else run.ended_by
    return EndRecord("done", run.reason, why, run.ending or ledger.ending(run.reason), ledger.not_done())


class RunLedger:
    """For one run: `note` every record in order."""

    def __init__(self) -> None:
        self._entries: dict[tuple[NotDoneKind, str], NotDone] = {}
        self._gate: StopGateRecord | None = None
        self._proof = ProofRecord()
        self._refused: set[str] = set()

    def note(self, body: RecordBody) -> None:
        """Remember what this record says did not happen."""
        match body:
            case StepRecord():
                self._note_step(body)
            case BreachRecord(doubtful=False):
                self._add("contract", body.words, body.clause, body.step)
            case StopGateRecord():
                self._gate = body if body.results else self._gate
            case ProofRecord():
                self._proof = body
            case Fault(part=part) if part.startswith(CHANNEL):
                self._add("alert", part, body.why)

    def ending(self, reason: str, waiting: str | None = None) -> Ending:
        """How a run with this reason of the protocol ended."""
        decided = BY_REASON.get(reason)
        if decided is not None:
            return decided
        if any(kind == "contract" for kind, _ in self._entries):
            return "broken"
        results = self._gate.results if self._gate is not None else ()
        verdicts = {each.verdict for each in self._proof.claims}
        if "contradicted" in verdicts or any(result.exit_status for result in results):
            return "contradicted"
        if results and all(result.proves for result in results) and self._proof.run != "stale":
            return "proven"
        if waiting or self._refused:
            return "refused"
        open_claims = results or verdicts - {"proven"} or reason == "UNPROVEN"
        return "unproven" if open_claims else "done"

    def not_done(self, waiting: str | None = None, undo: str = "") -> tuple[NotDone, ...]:
        """What did not happen, most serious first."""
        entries = list(self._entries.values())
        if self._gate is not None:
            entries += [NotDone("check", result.words) for result in self._gate.results if not result.proves]
        entries += [
            NotDone("claim", f'"{each.claim.text}" {CLAIM_IS[each.verdict]}', each.why, each.claim.step)
            for each in self._proof.claims
            if each.verdict != "proven"
        ]
        if waiting:
            entries.append(NotDone("waiting", waiting))
        if undo:
            entries.append(NotDone("undo", "the latest changes", undo))
        return tuple(sorted(entries, key=lambda each: NOT_DONE.index(each.kind)))

    def _note_step(self, body: StepRecord) -> None:
        step, decision, review = body.step, body.decision, body.review
        if step.kind != "tool_call":
            return
        if decision is None or decision.action != "deny":
            if self._refused:
                self._refused.discard(describe(step))
            return
        what, why = describe(step), decision.reason
        if why.startswith(REJECTED):
            self._add("rejected", what, why.removeprefix(REJECTED).strip(":. "), step.index)
        elif why == EXPIRED:
            self._refused.add(what)
            self._add("expired", what, "", step.index)
        else:
            if review is not None and review.ask:
                # It needed a person, and none could be asked.
                self._refused.add(what)
            self._add("blocked", what, review.reason if review is not None and review.reason else why, step.index)

    def _add(self, kind: NotDoneKind, what: str, why: str = "", step: int = 0) -> None:
        known = self._entries.get((kind, what))
        if known is not None:
            self._entries[kind, what] = replace(known, times=known.times + 1)
        elif len(self._entries) < MOST:
            self._entries[kind, what] = NotDone(kind, what, why, step)
