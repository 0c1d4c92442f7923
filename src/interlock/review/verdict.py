"""Verdict: from risk and rationality to allow, warn, modify or block; and its wording for people and for the agent."""

from __future__ import annotations

import re
from functools import lru_cache

from ..calls import COMMANDS, CallReading
from ..config import RationalityLevels, RiskLevels
from ..core import VERDICTS, Level, Review, Verdict
from .judgement import Action, Judgement

TABLE: dict[tuple[Level, Level], Verdict] = {
    ("low", "high"): "allow", ("low", "medium"): "allow", ("low", "low"): "warn",
    ("medium", "high"): "allow", ("medium", "medium"): "warn", ("medium", "low"): "modify",
    ("high", "high"): "warn", ("high", "medium"): "modify", ("high", "low"): "block",
    ("critical", "high"): "block", ("critical", "medium"): "block", ("critical", "low"): "block",
}  # fmt: skip
"""(risk level, rationality level) to verdict."""

OUTSIDE = 0.3
"""Added when a step leaves the expected paths."""

FAILURES = (0.0, 0.1, 0.2, 0.4)
"""Added by the number of earlier failures of the same action; the last value is for three or more."""

JUST_BELOW = 0.01
"""How far below critical additions may raise a step: only a rule makes it critical."""


def risk_level(risk: float, levels: RiskLevels) -> Level:
    if risk >= levels.critical:
        return "critical"
    if risk >= levels.high:
        return "high"
    return "medium" if risk >= levels.medium else "low"


def rationality_level(rationality: float, levels: RationalityLevels) -> Level:
    if rationality >= levels.high:
        return "high"
    return "medium" if rationality >= levels.medium else "low"


def with_additions(base: float, *, outside: bool, failures: int, levels: RiskLevels) -> float:
    """The risk of a step before any rule. A critical level that is set lower does not lower it."""
    return added(base, outside, failures, max(levels.critical, RiskLevels().critical))


@lru_cache(256)
def added(base: float, outside: bool, failures: int, critical: float) -> float:
    """As `with_additions`, from plain values, cached: few steps differ in them."""
    if outside or failures:
        base += (OUTSIDE if outside else 0.0) + FAILURES[min(failures, len(FAILURES) - 1)]
    return max(0.0, round(min(base, critical - JUST_BELOW), 4))


def decide(risk: float, rationality: float, risks: RiskLevels, rationalities: RationalityLevels) -> Verdict:
    """The verdict from the table, before any rule: at most that of a high risk, as only a rule makes it critical."""
    level = risk_level(risk, risks)
    return TABLE["high" if level == "critical" else level, rationality_level(rationality, rationalities)]


def strongest(one: Verdict, other: Verdict) -> Verdict:
    """The stronger verdict: block before modify before warn before allow."""
    return one if one == other or VERDICTS.index(one) > VERDICTS.index(other) else other


REASONS: dict[Action, str] = {
    "delete": "It deletes something", "network": "It uses the network", "modify": "It changes files or state",
    "create": "It creates or writes files", "read": "It only reads", "unknown": "Its effect is unknown",
    "unparsable": "It could not be parsed completely",
}  # fmt: skip

DIFFERENTLY = "Try another way: the same step has failed before, and nothing has changed since."
INSIDE = "Stay within the expected paths, or say why the task needs this one."
CHECK = "Check first what it would change, and be specific."


def as_review(
    judged: Judgement, verdict: Verdict, risk: float, rationality: float, *, action: Action, outside: bool = False,
    failures: int = 0, reading: CallReading | None = None, arguments: dict[str, object] | None = None,
) -> Review:  # fmt: skip
    """The review of a judgement; its reason is the strongest rule's, otherwise that of the scores."""
    rules = judged.rules
    first = rules[0] if rules else None
    rewritten = rewrite(reading, judged, arguments) if reading and arguments and verdict == "modify" else None
    reason = reason_of(action, outside, failures)
    if first is not None:
        concealed = reading is not None and first.match and first.match[0].concealed == ("*",)
        reason = f"{first.why.removesuffix('.')}: {reading.concealed}." if reading and concealed else first.why
    return Review(
        verdict,
        risk,
        rationality,
        tuple([rule.id for rule in rules]),
        reason,
        first.instead if first else "" if verdict == "allow" else advice_for(outside, failures),
        rewritten,
        action,
        _asks(judged),
    )


def _asks(judged: Judgement) -> bool:
    """Whether a person may allow the call: not if a rule without approval blocks another part of it."""
    strongest = [rule.ask for rule in judged.rules if rule.verdict == judged.verdict]
    return all(strongest) if judged.verdict == "block" and strongest else any(strongest)


def reason_of(action: Action, outside: bool, failures: int) -> str:
    """The reason for a step's risk if no rule matches."""
    if not outside and not failures:
        return f"{REASONS[action]}."
    where = " outside the expected paths" if outside else ""
    again = f", after {failures} failure{'s' if failures > 1 else ''} of the same action" if failures else ""
    return f"{REASONS[action]}{where}{again}."


def advice_for(outside: bool, failures: int) -> str:
    if failures:
        return DIFFERENTLY
    return INSIDE if outside else CHECK


def rewrite(reading: CallReading, judged: Judgement, arguments: dict[str, object]) -> dict[str, object] | None:
    """The arguments with the dangerous words of `modify` rules replaced; None if there is no known safe form.

    Only words of programs in the command itself are replaced, never those of scripts inside it.
    """
    key = next((key for key in COMMANDS if arguments.get(key)), "")
    made = text = arguments.get(key)
    if not isinstance(text, str) or not isinstance(made, str) or any(rule.verdict == "block" for rule in judged.rules):
        return None
    changes: dict[tuple[int, int], dict[str, str]] = {}
    for hit in judged.hits:
        if hit.rule.verdict == "modify":
            program = hit.program
            if program is None or not program.end or not hit.rule.rewrite:
                return None
            changes.setdefault((program.start, program.end), {}).update(hit.rule.rewrite)
    for (start, end), words in sorted(changes.items(), reverse=True):
        made = made[:start] + replace_words(made[start:end], words) + made[end:]
    return {**arguments, key: made} if made != text else None


def replace_words(part: str, words: dict[str, str]) -> str:
    """Replace whole words of one command; an empty replacement removes the word."""
    for old, new in words.items():
        part = re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", lambda _, new=new: new, part)  # type: ignore[misc]
    return part
