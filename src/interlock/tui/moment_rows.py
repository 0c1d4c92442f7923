"""Moments as rows of the timeline and in full; a call and its result, or repeated findings, share one row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ..core import Intervention, Issue
from ..journal_records import EpisodeRecord, InterventionRecord, StepRecord
from ..report import TimelineMoment
from .line import Line, Piece, fit, flat, severity_style
from .pager import text_lines
from .words import clock_time, count, date_time, level_of

SIGNS = {
    "step": "·", "review": "▲", "issue": "!", "intervention": "→", "checkpoint": "◆", "control": "⇄", "state": "●",
    "limit": "≡", "incident": "‼", "approval": "?", "picture": "▣", "note": "∙",
}  # fmt: skip
RESULT = 28
"""Columns that a call leaves to its result."""
LEVELS = {"quiet": "dim", "info": "", "notice": "level2", "warning": "level3", "critical": "level4"}

FILTERS: tuple[tuple[str, frozenset[str] | None], ...] = (
    ("story", None),
    ("problems", frozenset(("review", "issue", "intervention", "limit", "incident", "approval"))),
    ("steps", frozenset(("step", "review"))),
    ("checkpoints", frozenset(("checkpoint",))),
    ("control", frozenset(("control", "state", "approval"))),
    ("everything", None),
)
"""The filters of the timeline; `story` leaves out what matters little."""


def moment_heading(width: int) -> Line:
    return ((fit("TIME", 8), ""), (fit("STEP", 7, right=True), ""), ("    WHAT HAPPENED", ""))


def draw_moment(moment: TimelineMoment, width: int) -> Line:
    """Time, step, sign, and as much of the words as fits."""
    style = moment_style(moment)
    step = str(moment.step) if moment.step is not None else ""
    folded = moment if isinstance(moment, Folded) and moment.result is not None else None
    title = flat(_title(moment), 240)
    left = max(RESULT, width - 22 - min(RESULT, len(moment.detail)))
    if folded is not None and len(title) > left:
        title = f"{title[: left - 1]}…"
    pieces: list[Piece] = [
        (clock_time(moment.time), "dim"),
        (fit(step, 7, right=True), "dim"),
        (f"  {_sign(moment)} ", style or "dim"),
        (title, style),
    ]
    room = width - 19 - len(title) - 3
    enough = min(RESULT, len(moment.detail)) + 2
    meta = folded.meta if folded is not None and room >= enough + len(folded.meta) else ""
    room -= len(meta) + 2 if meta else 0
    if room > 8 and moment.detail and not _repeats_title(moment):
        pieces.append((f"  {flat(moment.detail, room if meta else width)}", "dim"))
    if meta:
        pieces.append((f"{meta:>{width - sum(len(text) for text, _ in pieces)}}", "dim"))
    return tuple(pieces)


def _sign(moment: TimelineMoment) -> str:
    """A blocked call looks different from one that was only warned about, without colour too."""
    blocked = moment.kind == "review" and moment.level == "critical"
    return "✖" if blocked else SIGNS.get(moment.kind, "∙")


def moment_style(moment: TimelineMoment) -> str:
    """Colour by ladder level for interventions, by severity for issues, else by importance."""
    if moment.kind == "intervention":
        level = _rung(moment)
        if level is not None and moment.level != "quiet":
            return f"level{level}!"
    if moment.kind == "issue":
        match moment.body:
            case EpisodeRecord(ending=ending, severity=severity):
                return "good" if ending else f"{severity_style(severity)}!"
            case Issue(severity=severity):
                return f"{severity_style(severity)}!"
        return f"{severity_style(None)}!"
    if moment.kind == "checkpoint" and moment.level == "quiet":
        return "link"
    if moment.kind == "step" and moment.level == "info":
        body = moment.body
        return "dim" if isinstance(body, StepRecord) and body.step.kind == "tool_result" else ""
    return LEVELS.get(moment.level, "")


def moment_lines(moment: TimelineMoment, width: int) -> list[Line]:
    """Everything known about a moment."""
    lines: list[Line] = [
        (("when   ", "dim"), (date_time(moment.time), "")),
        (("what   ", "dim"), (moment.kind, moment_style(moment)), (f"  record {moment.seq}", "dim")),
    ]
    if moment.step is not None:
        lines.append((("step   ", "dim"), (str(moment.step), "")))
    lines.append(())
    lines += text_lines(moment.title, width, "strong")
    if moment.detail and moment.detail.strip() != moment.title.strip():
        lines += [(), *text_lines(moment.detail, width)]
    for name, value in _parts(moment):
        lines += [(), ((name, "link"),), *text_lines(_text(value), width)]
    if isinstance(moment, Folded) and moment.result is not None:
        lines += [(), (("─" * width, "dim"),), *moment_lines(moment.result, width)]
    return lines


def _title(moment: TimelineMoment) -> str:
    if isinstance(moment, Folded) and moment.times > 1:
        return f"{moment.title} ×{moment.times}"
    if moment.kind == "intervention" and moment.level != "quiet":
        level = _rung(moment) if moment.record == "intervention" else None
        return f"L{level + 1} {moment.title}" if level is not None else moment.title
    return moment.title


def _rung(moment: TimelineMoment) -> int | None:
    """The level of the intervention that a moment is about."""
    match moment.body:
        case InterventionRecord(intervention=made) | (Intervention() as made):
            return level_of(made.type)
        case _:
            return None


def _repeats_title(moment: TimelineMoment) -> bool:
    """Whether the detail only repeats the title."""
    return flat(moment.detail, 24) in flat(moment.title, 240)


def _parts(moment: TimelineMoment) -> list[tuple[str, object]]:
    """The parts of a record beyond title and detail."""
    data: dict[str, Any] = moment.fields
    step = data.pop("step", None)
    parts: list[tuple[str, object]] = []
    if isinstance(step, dict):
        tool = step.get("tool")
        if isinstance(tool, dict) and tool.get("arguments"):
            parts.append((f"arguments of {tool.get('name', 'the tool')}", tool["arguments"]))
        if step.get("content") and str(step["content"]) != moment.detail:
            parts.append(("content", step["content"]))
    parts += [(name.replace("_", " "), value) for name, value in data.items() if value not in (None, "", [], {}, ())]
    return parts


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and all(isinstance(each, str | int | float | bool) for each in value.values()):
        return "\n".join(f"{name}: {each}" for name, each in value.items())
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


NUMBERS = re.compile(r"[\d,.]+")
SEVERITY = re.compile(r" \(\w+\)$")


class Folded(TimelineMoment, frozen=True, kw_only=True):
    """A moment with related ones: a call with its result, or the same finding `times` times.

    `took` is in seconds.
    """

    result: TimelineMoment | None = None
    times: int = 1
    took: float | None = None
    tokens: int = 0

    @property
    def meta(self) -> str:
        """How long a call took, and what the model used for it."""
        took = "" if self.took is None else f"{self.took:.1f} s" if self.took < 10 else f"{self.took:,.0f} s"
        return "  ".join(filter(None, (took, f"{count(self.tokens)} tok" if self.tokens else "")))


def fold(moments: Iterable[TimelineMoment]) -> list[TimelineMoment]:
    """Moments in order, oldest first; what is folded already stays so."""
    found: dict[int, TimelineMoment] = {}
    calls: dict[str | None, int] = {}
    findings: dict[str, int] = {}
    for moment in moments:
        if moment.record == "step" and not isinstance(moment, Folded):
            body = moment.body
            if isinstance(body, StepRecord) and body.step.kind == "tool_call":
                calls[None] = moment.seq
                if body.step.tool is not None and body.step.tool.call_id:
                    calls[body.step.tool.call_id] = moment.seq
            elif isinstance(body, StepRecord) and body.step.kind == "tool_result":
                call_id = body.step.tool.call_id if body.step.tool is not None else None
                call = found.get(calls.pop(call_id, 0))
                if call is not None and not isinstance(call, Folded):
                    found[call.seq] = _join(call, moment, body)
                    continue
        elif moment.kind == "issue" and moment.level != "quiet":
            same = SEVERITY.sub("", moment.title) + NUMBERS.sub("#", moment.detail)
            before = found.pop(findings[same], None) if same in findings else None
            if before is not None:
                times = (before.times if isinstance(before, Folded) else 1) + 1
                moment = Folded(**{**asdict(moment), "times": times})
            findings[same] = moment.seq
        found[moment.seq] = moment
    return list(found.values())


def _join(call: TimelineMoment, result: TimelineMoment, body: StepRecord) -> Folded:
    asked = call.body
    used = [each.step.usage for each in (asked, body) if isinstance(each, StepRecord)]
    duration = body.step.duration_ms
    took = duration / 1000 if duration is not None else max(0.0, result.time - call.time)
    shown = call if call.kind == "review" else replace(call, level=result.level)
    return Folded(
        **{**asdict(shown), "detail": result.title},
        result=result,
        took=took,
        tokens=sum(usage.tokens for usage in used if usage is not None),
    )
