"""Folding: a call and its result are one row, and so are findings that say the same again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import asdict, replace

from ..journal_records import StepRecord
from ..report import TimelineMoment
from .words import count

NUMBERS = re.compile(r"[\d,.]+")
SEVERITY = re.compile(r" \(\w+\)$")


class Folded(TimelineMoment, frozen=True, kw_only=True):
    """A moment with those that belong to it: a call's result, or `times` the same finding.

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
