"""The text of each kind of record: kind, level, title and detail of its line."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, assert_never

import msgspec
from msgspec import UNSET, Struct

from .. import core
from .. import journal_records as records
from ..control import Abort, Ack, Audit, Done, Request, Result, State
from ..core import Inject, SetLimits, Step
from ..journal import REASONS
from ..journal_records import InterventionEvent, InterventionRecord, RecordBody, StepRecord
from ..proof import TestFact
from .contract_words import contract_lines, stop_gate_words

MomentKind = Literal[
    "step", "review", "issue", "intervention", "checkpoint", "control", "state", "limit", "incident", "approval",
    "picture", "note",
]  # fmt: skip
Level = Literal["quiet", "info", "notice", "warning", "critical"]

TITLE = 200
"""Characters of a title; the whole is in the record."""

DETAIL = 2000

VERDICT_LEVEL: dict[str, Level] = {"warn": "notice", "modify": "warning", "block": "critical"}
SEVERITY_LEVEL: dict[str, Level] = {"low": "info", "medium": "notice", "high": "warning", "critical": "critical"}
RUNG_LEVEL: tuple[Level, ...] = ("notice", "notice", "warning", "warning", "critical")
CHECK_LEVEL: dict[str, Level] = {"none": "quiet", "recovered": "notice", "failed": "warning"}

PROOF_LEVEL: dict[str, Level] = {
    "contradicted": "warning", "unproven": "notice", "own_check": "notice", "stale": "notice", "proven": "info",
}  # fmt: skip
"""The level of each verdict on a claim, worst first."""

DIRECTIVES = {
    "Inject": ("send the message to the agent", "message sent to the agent"),
    "SetLimits": ("tighten the limits", "limits tightened"),
    "Delay": ("delay the next call", "next call delayed"),
    "Deny": ("block the call", "call blocked"),
    "Rewrite": ("rewrite the call", "call rewritten"),
    "Hold": ("pause the run", "run paused"),
    "Defer": ("defer the call", "call deferred"),
    "Restore": ("restore the files", "files restored"),
    "Stop": ("stop the run", "run stopped"),
    "Notify": ("notify a person", "notification sent"),
    "SwitchModel": ("switch the model", "model switched"),
}
"""Each directive in words: what to do, and done."""

AUDITS = {
    "refused": "request refused",
    "unreadable": "request could not be read",
    "bad_request": "invalid request",
    "expired": "request expired",
    "quarantined": "rejected on the hub",
    "hub_away": "not on the hub",
    "hub_back": "on the hub again",
}

SALIENT = ("command", "cmd", "file_path", "path", "url", "query", "code")
"""The most telling argument of a call, by the names that tools use."""


class RecordText(Struct, frozen=True):
    """The text of a record, before it becomes a moment."""

    kind: MomentKind
    level: Level
    title: str
    detail: str = ""
    step: int | None = None


def describe_record(body: RecordBody) -> RecordText:
    """The text of a record. A kind without text is a type error."""
    level: Level
    match body:
        case StepRecord():
            return describe_step(body)
        case core.Issue(is_note=True):
            return RecordText("note", "quiet", f"note: {plain(body.type)}", body.description, body.step)
        case core.Issue():
            severity = body.severity or "medium"
            title = f"{plain(body.type)} ({severity})"
            return RecordText("issue", SEVERITY_LEVEL[severity], title, body.description, body.step)
        case InterventionRecord():
            return describe_intervention(body)
        case records.AppliedRecord():
            return describe_applied(body)
        case core.Intervention():
            title = f"{core.short_name(body.type)} on {plain(body.issue_type)} {outcome_words(body)}"
            look: Level = "notice" if body.outcome == "failure" else "info"
            return RecordText("intervention", look, title, body.reason, body.step)
        case core.CheckpointInfo():
            label = body.label or body.cause
            detail = _join("; ", label, f"{body.files:,} files", "" if body.basis == "walk" else f"by {body.basis}")
            return RecordText("checkpoint", "quiet", f"checkpoint {body.id}", detail, body.step)
        case State() | Abort() | Done():
            return describe_state(body)
        case records.Opinion(model="", issue=core.Issue() as issue):
            return RecordText("note", "quiet", f"{plain(issue.type)}: looked up on the disk", issue.description)
        case records.Opinion():
            said = {True: "agrees", False: "disagrees", None: "gave no usable answer"}[body.agrees]
            title = f"judge on {body.issue_id}: {body.model} {said}"
            return RecordText("note", "info" if body.agrees is False else "quiet", one_line(title), body.why)
        case core.Plan():
            title = f"recovery plan for {plain(body.issue.type)}: needs you"
            lines = [*body.steps, *(f"Keep to: {line}" for line in body.constraints)]
            lines += [f"It worked if {line}" for line in body.success_criteria]
            lines += [f"Until then: {line}" for line in body.escalation_path]
            return RecordText("incident", "warning", title, cut("\n".join(lines), DETAIL), body.issue.step)
        case core.RollbackEntry():
            title = f"rolled back to checkpoint {body.to_checkpoint}"
            return RecordText("checkpoint", "quiet", title, f"at step {body.from_state.get('step', '?')}")
        case records.EpisodeRecord():
            return describe_episode(body)
        case records.PersonRecord():
            return RecordText("note", "quiet", f"{'a' if body.reachable else 'no'} person can be reached")
        case records.ProofRecord():
            return describe_proof(body)
        case records.RestoredRecord():
            return describe_restored(body)
        case records.SnapshotRecord():
            return RecordText("note", "quiet", f"supervision saved its state before step {body.next_index:,}")
        case records.StatusRecord():
            return RecordText("state", "quiet", f"status at this step: {body.status}")
        case core.Hold():
            title = _parked(body.until) if body.kind == "parked" else "paused: needs you"
            return RecordText("state", "warning", title, body.reason)
        case records.ContractRecord():
            lines = contract_lines(body.contract, 64)
            return RecordText("state", "info", f"contract of {len(lines)} lines", cut("\n".join(lines), DETAIL))
        case records.BreachRecord():
            return RecordText(
                "checkpoint", "warning", one_line(f"against the contract: {body.words}"), body.clause, body.step
            )
        case records.StopGateRecord():
            title, detail = stop_gate_words(body)
            level = "info" if body.outcome == "passed" else "warning" if body.outcome == "unproven" else "notice"
            return RecordText("note", level, one_line(title), cut(detail, DETAIL), body.step)
        case records.LimitRecord():
            return RecordText("limit", "notice", one_line(body.what), body.limit)
        case records.IncidentRecord():
            return RecordText("incident", "critical", f"emergency stop: {body.id}", body.summary)
        case records.Fault():
            off = "switched off" if body.dropped else ""
            return RecordText("note", "warning", f"supervision impaired: {body.part}", _join("; ", body.why, off))
        case records.ParkedRecord():
            what = "client hangs, restart" if body.source == "hang" else f"usage limit {body.number}"
            if body.held_by:
                # The following state says what needs a person, and why.
                return RecordText("state", "warning", what)
            return RecordText("state", "warning", one_line(f"{what}: {_parked(body.wake or 0.0)}"), body.reason)
        case records.WokenRecord():
            return RecordText("state", "notice", one_line(f"woken up ({body.number}) by {body.by}"), body.how)
        case records.LivenessRecord():
            level = "warning" if body.wedged or body.question else "info"
            title = _join(": ", body.word, body.wedged or "", body.question or "")
            return RecordText("state", level, one_line(title), body.evidence)
        case records.UnwedgeRecord():
            return RecordText("intervention", "notice", one_line(f"{body.wedged}: {body.answer}"), body.how)
        case records.TamperRecord():
            answer = f"answer: {body.answer}" if body.answer else ""
            title = f"supervision was tampered with: {body.what}"
            return RecordText("note", "critical", title, _join("; ", body.path, answer))
        case records.FenceRecord():
            if not body.host:
                return RecordText("note", "warning", "the sandbox blocked an action of a tool", one_line(body.why))
            return RecordText("note", "warning", f"the fence blocked {one_line(body.host)}:{body.port}", body.why)
        case records.TranscriptRecord():
            return RecordText("note", "quiet", f"transcript read up to byte {body.offset:,}", body.path)
        case records.ProxiedRecord():
            if body.until:
                return RecordText("note", "quiet", "rolled-back part of the conversation omitted")
            return RecordText("note", "quiet", "message added to the agent's conversation", cut(body.text, DETAIL))
        case core.LostRecord():
            what = f"{body.entries:,} records" if body.entries else _join(" ", "a record of kind", body.kind)
            return RecordText("note", "warning", f"{what} could not be written", body.reason)
        case core.RunSpec():
            return RecordText("state", "info", "run started", body.task)
        case records.StartedRecord(successor=True):
            return RecordText("state", "notice", "supervision taken over", "its owner died; another one continues")
        case records.StartedRecord():
            return RecordText("state", "quiet", f"process {body.pid} started", _join("; ", body.mechanism, body.limits))
        case records.EndRecord():
            level = "notice" if body.status == "done" else "warning"
            how = body.ending if body.reason in ("COMPLETE", "UNPROVEN") and body.ending else _ending(body.reason)
            title = (
                body.status
                if how == body.status or (body.reason == "COMPLETE" and not body.ending)
                else f"{body.status}: {how}"
            )
            return RecordText(
                "state", level, title, "\n".join((body.message, *(each.words for each in body.not_done))).strip()
            )
        case Request():
            return RecordText(
                "control", "info", f"{body.command} requested by {body.actor or 'somebody'}", body.reason or ""
            )
        case Ack():
            return RecordText("control", "quiet", f"{body.command} acknowledged")
        case Result():
            done = body.payload.status == "success"
            title = f"{body.command or 'request'}: {'success' if done else plain(body.payload.code or 'failure')}"
            return RecordText("control", "info" if done else "notice", title, body.payload.message)
        case Audit():
            why = _join(", ", body.command or "", body.why or "", body.problem or "")
            return RecordText("control", "quiet", AUDITS.get(body.what, plain(body.what)), cut(why, DETAIL))
        case records.GuiSessionRecord():
            return RecordText("note", "info", f"session {body.session_id}: {body.chunks:,} chunks")
        case records.GuiChunkRecord():
            return RecordText("step", "info", one_line(f"chunk {body.chunk}: {body.path}"), "", body.chunk)
        case records.GuiTroubleRecord():
            return RecordText("note", "warning", one_line(f"problem: {body.trouble}"), "", body.chunk)
        case InterventionEvent():
            return describe_check(body)
        case records.GuiModelCallRecord():
            tokens = body.input_tokens + body.output_tokens
            return RecordText("note", "quiet", f"asked model {body.model}: {tokens:,} tokens", body.outcome)
        case records.VerificationResult():
            level, word = ("notice", "success") if body.success else ("warning", "failure")
            return RecordText("note", level, f"verification: {word}", cut(body.summary, DETAIL))
        case records.GuiResultRecord():
            word = "completed" if body.completed else "not completed"
            return RecordText(
                "note", "info" if body.completed else "warning", f"session {word}", cut(body.reason, DETAIL)
            )
        case _:
            assert_never(body)


def describe_step(body: StepRecord) -> RecordText:
    step, review, decision = body.step, body.review, body.decision
    title, verdict = step_title(step), review.verdict if review is not None else "allow"
    if review is not None and verdict in VERDICT_LEVEL:
        why = review.reason or (decision.reason if decision is not None else "")
        instead = f" Instead: {review.instead}" if review.instead else ""
        # A call without a safe form is refused.
        refused = verdict == "modify" and decision is not None and decision.action == "deny"
        word = "deny" if refused else verdict
        return RecordText(
            "review", VERDICT_LEVEL[verdict], f"{word}: {title}", cut(f"{why}{instead}", DETAIL), step.index
        )
    if decision is not None and decision.action in ("deny", "stop"):
        return RecordText("review", "warning", f"{decision.action}: {title}", decision.reason, step.index)
    if body.unobserved:
        return RecordText("step", "notice", title, "supervision was impaired at this step", step.index)
    failed = bool(step.error) or bool(step.exit_code)
    return RecordText("step", "notice" if failed else "info", title, cut(step.content, DETAIL), step.index)


def step_title(step: Step) -> str:
    """A step in one line."""
    if step.tool is not None and step.kind != "tool_result":
        arguments = step.tool.arguments
        said = next((arguments[key] for key in SALIENT if arguments.get(key)), None)
        if said is None:
            said = msgspec.json.encode(arguments).decode() if arguments else ""
        return one_line(f"{step.tool.name} {said}")
    content = one_line(step.content)
    if step.kind == "tool_result" or step.role == "tool":
        mark = f"exit {step.exit_code}" if step.exit_code else "failed" if step.error else "ok"
        return one_line(f"{mark}: {content}" if content else mark)
    if not content and step.usage is not None:
        return f"{step.usage.tokens:,} tokens"
    return one_line(f"{step.role}: {content}")


def describe_intervention(body: InterventionRecord) -> RecordText:
    made = body.intervention
    about = f"{core.short_name(made.type)} on {plain(made.issue_type)}"
    if made.outcome in ("held_back", "not_applied"):
        why = made.reason.removeprefix("postponed: ")
        return RecordText("intervention", "info", f"{outcome_words(made)}: {about}", why, made.step)
    rung = RUNG_LEVEL[max(0, min(made.level, len(RUNG_LEVEL) - 1))]
    return RecordText("intervention", rung, about, made.reason, made.step)


def describe_episode(body: records.EpisodeRecord) -> RecordText:
    """The end of a problem; its issue and interventions show the rest."""
    what, cost = one_line(body.what), episode_cost(body.calls, body.tokens, body.cost_usd)
    if body.ending is not None:
        return RecordText("issue", "info", f"{what}: {episode_ending(body.ending)}", cost)
    title = f"stuck on {what}" if not body.relapses else f"stuck on {what} again"
    return RecordText("issue", "quiet", title, body.description, body.opened_step)


EPISODE_ENDINGS = {
    "solved": "solved",
    "improved": "improved",
    "stopped_happening": "stopped happening",
    "new_instructions": "a person gave new instructions",
    "resumed": "a person resumed the run",
}


def episode_ending(ending: str) -> str:
    """How an episode ended, in words."""
    return EPISODE_ENDINGS.get(ending, plain(ending))


def episode_cost(calls: int, tokens: int, cost_usd: float) -> str:
    """The cost of an episode, in words."""
    parts = [plural(calls, "call")]
    if tokens:
        parts.append(f"{tokens:,} tokens")
    if cost_usd:
        parts.append(dollars(cost_usd))
    return ", ".join(parts)


def dollars(amount: float) -> str:
    """An amount of money, with more digits where it is small."""
    return f"${amount:,.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.4f}"


def outcome_words(made: core.Intervention) -> str:
    """The result of an intervention, in words; it worked only if that is known."""
    match made.outcome:
        case "success":
            return "worked"
        case "failure":
            return "did not work"
        case "pending":
            return "not judged yet"
        case "not_judged":
            return "no effect can be told"
        case "held_back":
            return "postponed" if made.reason.startswith("postponed: ") else "held back"
        case "not_applied":
            return "would have been applied" if made.reason.startswith("observe: ") else "not applied"


def messages_to_agent(body: RecordBody | None) -> list[str]:
    """The message of an intervention to the agent, in full."""
    directives = body.directives if isinstance(body, InterventionRecord) else ()
    return [order.message.content for order in directives if isinstance(order, Inject)]


def describe_applied(body: records.AppliedRecord) -> RecordText:
    order, how = body.directive, body.applied.how
    attempt, done = DIRECTIVES[type(order).__name__]
    words = order.message.content if isinstance(order, Inject) else getattr(order, "reason", getattr(order, "text", ""))
    if isinstance(order, SetLimits) and order.windowed:
        how = f"{how}; per {order.window_s:g} s: {', '.join(order.windowed)}"
    if body.applied.ok:
        return RecordText("intervention", "quiet", done, cut(_join("\n", how, words), DETAIL))
    # Without a channel, notifications are not wanted.
    level: Level = "quiet" if isinstance(order, core.Notify) else "notice"
    return RecordText("intervention", level, _join(": ", f"could not {attempt}", one_line(how)), cut(words, DETAIL))


OTHER_PROOF = "what was checked at the end"


def spaced(name: str) -> str:
    """A name from a record as words."""
    return name.replace("_", " ")


def describe_proof(body: records.ProofRecord) -> RecordText:
    """How many claims are proven, and which are not."""
    counts = {name: sum(each.verdict == name for each in body.claims) for name in PROOF_LEVEL}
    said = [f"{count} {spaced(name)}" for name, count in counts.items() if count]
    title = f"claims: {', '.join(said)}" if said else body.ending if body.ending and not body.tests else OTHER_PROOF
    level: Level = next((PROOF_LEVEL[name] for name, count in counts.items() if count), "info")
    lines = [f"{spaced(each.verdict)}: {each.claim.text} ({each.why})" for each in body.claims]
    lines += [fact_line(fact) for fact in body.tests]
    if body.ending and body.ending != title:
        lines.append(body.ending)
    if (body.tests or body.ending) and level == "info":
        level = "notice"
    return RecordText("note", level, title, cut("\n".join(lines), DETAIL))


def fact_line(fact: TestFact) -> str:
    """A fact about the tests with its location: `1 test removed: tests/test_a.py`."""
    return f"{fact.what}: {fact.path}{f':{fact.line}' if fact.line else ''}"


def describe_restored(body: records.RestoredRecord) -> RecordText:
    changed, left = body.changed, body.left_alone
    who = body.by.replace("interlock", "Interlock")
    title = f"{who} restored {plural(len(changed), 'path')} from checkpoint {body.checkpoint_id}"
    detail = ", ".join(changed[:20]) + (", …" if len(changed) > 20 else "")
    if left:
        detail += f"; left alone: {', '.join(left[:20])}"
    return RecordText("checkpoint", "warning", title, f"{detail}\nUndo with {body.safety_id}".strip())


def describe_state(body: State | Abort | Done) -> RecordText:
    if not isinstance(body, State):
        title = "run ended" if body.reason == "COMPLETE" else f"ended: {_ending(body.reason)}"
        return RecordText("state", "notice" if isinstance(body, Done) else "warning", title)
    status, waiting = body.status if body.status is not UNSET else "running", body.waiting
    if waiting is None:
        return RecordText("state", "quiet" if status == "running" else "notice", status)
    if waiting.kind == "approval":
        return RecordText("approval", "warning", f"step {waiting.step} needs approval", waiting.text, waiting.step)
    title = _parked(waiting.until) if waiting.kind == "parked" else f"{status}: needs you"
    return RecordText("state", "warning", title, waiting.text, waiting.step)


def describe_check(body: InterventionEvent) -> RecordText:
    """A check of the screen: how it was, what was done, with its picture if there is one."""
    sure = f" ({body.confidence:.0%} sure)" if body.confidence else ""
    came = f"; {plain(body.outcome)}" if body.outcome != "none" else ""
    words = _join(" ", body.description, body.reason, ", ".join(body.actions_taken))
    kind: MomentKind = "picture" if find_pictures(body) else "note"
    title = one_line(f"screen: {plain(body.status.value)}{sure}{came}")
    return RecordText(kind, CHECK_LEVEL.get(body.outcome, "notice"), title, cut(words, DETAIL))


def find_pictures(body: RecordBody | None) -> list[tuple[str, str]]:
    """The names of the pictures in a record, each with an addition to its title."""
    if not isinstance(body, InterventionEvent):
        return []
    named = (("", body.screenshot_path), (", afterwards", body.screenshot_after))
    return [(word, name) for word, name in named if name]


def plural(number: int, noun: str) -> str:
    """A count with its word."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def plain(name: str) -> str:
    """A human-readable name."""
    return name.replace("_", " ")


def one_line(text: str) -> str:
    return cut(" ".join(text.split()), TITLE)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _ending(reason: str) -> str:
    # The request says by whom.
    return "cancelled" if reason == "USER_CANCELLED" else REASONS.get(reason, plain(reason.lower()))


def _parked(wake: float) -> str:
    """That a run is parked, and until when; 0: it needs a person."""
    return (
        f"parked until {datetime.fromtimestamp(wake):%Y-%m-%d %H:%M}, wakes by itself" if wake else "parked: needs you"
    )


def _join(between: str, *parts: str) -> str:
    return between.join(filter(None, parts))
