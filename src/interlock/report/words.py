"""The words for each kind of record: kind, level, title and detail of the line that it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..journal.summary import ENDINGS

MomentKind = Literal[
    "step", "review", "issue", "intervention", "checkpoint", "control", "state", "limit", "incident", "approval",
    "picture", "note",
]  # fmt: skip
Level = Literal["quiet", "info", "notice", "warning", "critical"]

TITLE = 200
"""Characters of a title; the whole is in the moment's data."""

DETAIL = 2000

VERDICT_LEVEL: dict[str, Level] = {"warn": "notice", "modify": "warning", "block": "critical"}
SEVERITY_LEVEL: dict[str, Level] = {"low": "info", "medium": "notice", "high": "warning", "critical": "critical"}
RUNG_LEVEL: tuple[Level, ...] = ("notice", "notice", "warning", "warning", "critical")

DOING = {
    "inject": "tell the agent",
    "set_limits": "set tighter limits",
    "delay": "wait before the next call",
    "deny": "refuse the call",
    "rewrite": "change the call",
    "hold": "pause the run",
    "defer": "put the call off",
    "restore": "take the files back",
    "stop": "stop the run",
    "notify": "notify a person",
    "switch_model": "switch the model",
}
"""What was ordered, in words."""

SALIENT = ("command", "cmd", "file_path", "path", "url", "query", "code")
"""The argument that says most about a call, by the names that tools give it."""


class Told(Struct, frozen=True):
    """What a record says, before it is a moment."""

    kind: MomentKind
    level: Level
    title: str
    detail: str = ""
    step: int | None = None


Body = dict[str, Any]


def tell_step(body: Body) -> Told:
    step, review = body["step"], body.get("review") or {}
    decision = body.get("decision") or {}
    verdict, index = review.get("verdict", "allow"), step.get("index")
    title, detail = step_title(step), cut(str(step.get("content") or ""), DETAIL)
    if verdict in VERDICT_LEVEL:
        why = review.get("reason") or decision.get("reason") or ""
        instead = f" Instead: {review['instead']}" if review.get("instead") else ""
        # A call that has no safe form is refused, whatever was hoped for.
        refused = verdict == "modify" and decision.get("action") == "deny"
        word = "deny" if refused else verdict
        return Told("review", VERDICT_LEVEL[verdict], f"{word}: {title}", cut(f"{why}{instead}", DETAIL), index)
    if decision.get("action") in ("deny", "stop"):
        return Told("review", "warning", f"{decision['action']}: {title}", decision.get("reason", ""), index)
    if body.get("unobserved"):
        return Told("step", "notice", title, "supervision was broken when this step came", index)
    failed = bool(step.get("error")) or bool(step.get("exit_code"))
    return Told("step", "notice" if failed else "info", title, detail, index)


def step_title(step: Body) -> str:
    """A step in one line."""
    tool = step.get("tool")
    if isinstance(tool, dict) and step.get("kind") != "tool_result":
        arguments = tool.get("arguments") or {}
        said = next((arguments[key] for key in SALIENT if arguments.get(key)), None)
        if said is None:
            said = msgspec.json.encode(arguments).decode() if arguments else ""
        return one_line(f"{tool.get('name', 'tool')} {said}")
    content = one_line(str(step.get("content") or ""))
    if step.get("kind") == "tool_result" or step.get("role") == "tool":
        status = step.get("exit_code")
        mark = f"exit {status}" if status else "failed" if step.get("error") else "ok"
        return one_line(f"{mark}: {content}" if content else mark)
    usage = step.get("usage")
    if not content and isinstance(usage, dict):
        return f"{usage.get('input_tokens', 0) + usage.get('output_tokens', 0):,} tokens"
    return one_line(f"{step.get('role', '')}: {content}")


def tell_issue(body: Body) -> Told:
    severity = body.get("severity") or "medium"
    title = f"{plain(body['type'])} ({severity})"
    return Told("issue", SEVERITY_LEVEL.get(severity, "notice"), title, body.get("description", ""), body.get("step"))


def tell_intervention(body: Body) -> Told:
    made = body["intervention"]
    outcome, level = made.get("outcome", "pending"), made.get("level", 0)
    about = f"{plain(made['type'])} on {plain(made.get('issue_type', ''))}"
    reason = made.get("reason", "")
    if outcome in ("held_back", "not_applied"):
        return Told("intervention", "info", f"{plain(outcome)}: {about}", reason, made.get("step"))
    if not body.get("directives") and body.get("would"):
        return Told("intervention", "notice", f"would have been: {about}", reason, made.get("step"))
    rung = RUNG_LEVEL[max(0, min(level, len(RUNG_LEVEL) - 1))]
    return Told("intervention", rung, about, reason, made.get("step"))


def said_to_agent(body: Body) -> list[str]:
    """What an intervention told the agent, in full."""
    orders = (order for order in body.get("directives") or () if isinstance(order, dict))
    return [str((order.get("message") or {}).get("content", "")) for order in orders if order.get("do") == "inject"]


def tell_effect(body: Body) -> Told:
    worked = body.get("outcome") == "success"
    title = f"{plain(body['type'])} on {plain(body.get('issue_type', ''))} {'worked' if worked else 'did not work'}"
    return Told("intervention", "info" if worked else "notice", title, body.get("reason", ""), body.get("step"))


def tell_applied(body: Body) -> Told:
    applied, order = body["applied"], body["directive"]
    do = str(order.get("do", ""))
    what = DOING.get(do, plain(do))
    words = (order.get("message") or {}).get("content", "") or order.get("reason", "") or order.get("text", "")
    how = str(applied.get("how", ""))
    if applied.get("ok"):
        detail = "\n".join(filter(None, (how, words)))
        return Told("intervention", "quiet", f"done: {what}", cut(detail, DETAIL))
    # Whoever set up no channel wants no messages.
    level: Level = "quiet" if do == "notify" else "notice"
    why = f": {one_line(how)}" if how else ""
    return Told("intervention", level, f"could not {what}{why}", cut(words, DETAIL))


def tell_checkpoint(body: Body) -> Told:
    label = body.get("label") or body.get("cause", "")
    detail = f"{label}; {body.get('files', 0):,} files" if label else f"{body.get('files', 0):,} files"
    return Told("checkpoint", "quiet", f"checkpoint {body['id']}", detail, body.get("step"))


def tell_restored(body: Body) -> Told:
    changed, left = body.get("changed", ()), body.get("left_alone", ())
    title = f"{len(changed):,} paths put back to checkpoint {body['checkpoint_id']} by {body.get('by', 'interlock')}"
    detail = ", ".join(changed[:20]) + (", …" if len(changed) > 20 else "")
    if left:
        detail += f"; left alone: {', '.join(left[:20])}"
    return Told("checkpoint", "warning", title, f"{detail}\nUndo with {body.get('safety_id', '')}".strip())


def tell_request(body: Body) -> Told:
    actor, reason = body.get("actor") or "somebody", body.get("reason") or ""
    return Told("control", "info", f"{body['command']} requested by {actor}", reason)


def tell_ack(body: Body) -> Told:
    return Told("control", "quiet", f"{body['command']} acknowledged", "")


def tell_result(body: Body) -> Told:
    payload = body["payload"]
    command = body.get("command") or "request"
    if payload["status"] == "success":
        return Told("control", "info", f"{command}: success", payload.get("message", ""))
    return Told("control", "notice", f"{command}: {payload.get('code', 'failure')}", payload.get("message", ""))


def tell_audit(body: Body) -> Told:
    rest = {key: value for key, value in body.items() if key not in ("what", "time")}
    return Told("control", "quiet", str(body["what"]), _pairs(rest))


def tell_state(body: Body) -> Told:
    event = body.get("event", "STATE")
    if event in ("DONE", "ABORT"):
        return Told("state", "notice" if event == "DONE" else "warning", f"ended: {_ending(body)}")
    waiting = body.get("waiting")
    status = body.get("status", "running")
    if isinstance(waiting, dict):
        kind: MomentKind = "approval" if waiting.get("kind") == "approval" else "state"
        title = f"step {waiting.get('step')} waits for a person" if kind == "approval" else f"{status}, for a person"
        return Told(kind, "warning", title, waiting.get("text", ""), waiting.get("step"))
    return Told("state", "quiet" if status == "running" else "notice", status)


def tell_end(body: Body) -> Told:
    level: Level = "notice" if body.get("status") == "done" else "warning"
    return Told("state", level, f"{body['status']}: {_ending(body)}", body.get("message", ""))


def tell_started(body: Body) -> Told:
    return Told("state", "quiet", f"process {body.get('pid')} started", str(body.get("mechanism", "")))


def tell_spec(body: Body) -> Told:
    return Told("state", "info", "the run begins", body.get("task", ""))


def tell_hold(body: Body) -> Told:
    return Told("state", "warning", "paused, for a person", body.get("reason", ""))


def tell_limit(body: Body) -> Told:
    return Told("limit", "notice", one_line(str(body["what"])), str(body.get("limit", "")))


def tell_incident(body: Body) -> Told:
    return Told("incident", "critical", f"emergency stop, incident {body['id']}", body.get("summary", ""))


def tell_plan(body: Body) -> Told:
    return Told("incident", "warning", "a recovery plan waits for a person", _pairs(body))


def tell_fault(body: Body) -> Told:
    return Told("note", "warning", f"supervision was impaired: {body['part']}", body.get("why", ""))


def tell_tamper(body: Body) -> Told:
    return Told("note", "critical", f"tampered with: {body['what']}", _pairs({**body, "what": ""}))


def tell_lost(body: Body) -> Told:
    many = body.get("entries")
    title = f"{many:,} records could not be written" if isinstance(many, int) else "a record could not be written"
    return Told("note", "warning", title, body.get("reason", ""))


Tell = Callable[[Body], Told]

TOLD: dict[str, Tell] = {
    "step": tell_step,
    "issue": tell_issue,
    "intervention": tell_intervention,
    "effect": tell_effect,
    "applied": tell_applied,
    "checkpoint": tell_checkpoint,
    "restored": tell_restored,
    "request": tell_request,
    "ack": tell_ack,
    "result": tell_result,
    "audit": tell_audit,
    "state": tell_state,
    "end": tell_end,
    "started": tell_started,
    "spec": tell_spec,
    "hold": tell_hold,
    "limit": tell_limit,
    "incident": tell_incident,
    "plan": tell_plan,
    "fault": tell_fault,
    "lost": tell_lost,
    "tamper": tell_tamper,
}


def plain(name: str) -> str:
    """A name for people."""
    return name.replace("_", " ")


def one_line(text: str) -> str:
    return cut(" ".join(text.split()), TITLE)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _ending(body: Body) -> str:
    reason = str(body.get("reason", ""))
    return ENDINGS.get(reason, reason)


def _pairs(values: Body) -> str:
    shown = (
        f"{plain(key)}: {value}" for key, value in values.items() if isinstance(value, str | int | float) and value
    )
    return cut(", ".join(shown), DETAIL)
