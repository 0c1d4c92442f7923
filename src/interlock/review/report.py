"""Report: a judgement in words, for a person and for the agent."""

from __future__ import annotations

import re

from ..core import Review, Verdict
from .judgement import Judgement
from .programs import Action
from .shell.ascii import from_ascii, to_ascii

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
    failures: int = 0, text: str | None = None, arguments: dict[str, object] | None = None, key: str | None = None,
) -> Review:  # fmt: skip
    """The review that a judgement leads to; the strongest rule speaks, else the numbers do."""
    first = judged.rules[0] if judged.rules else None
    rewritten = rewrite_command(text, judged) if text is not None and verdict == "modify" else None
    return Review(
        verdict,
        risk,
        rationality,
        tuple([rule.id for rule in judged.rules]),
        reason_with(first.why, judged.evidence) if first else reason_of(action, outside, failures),
        first.instead if first else "" if verdict == "allow" else advice_for(outside, failures),
        None if rewritten is None else {**(arguments or {}), key or "command": rewritten},
        action,
        any(rule.ask for rule in judged.rules if rule.verdict == judged.verdict) if judged.rules else False,
    )


def reason_with(why: str, evidence: str) -> str:
    """A rule's reason, with the file that the command is in."""
    return f"{why.removesuffix('.')} ({evidence})." if evidence else why


def reason_of(action: Action, outside: bool, failures: int) -> str:
    """Why a step has its risk when no rule speaks."""
    if not outside and not failures:
        return f"{REASONS[action]}."
    where = " outside the expected paths" if outside else ""
    again = f", after {failures} failure{'s' if failures > 1 else ''} of the same action" if failures else ""
    return f"{REASONS[action]}{where}{again}."


def advice_for(outside: bool, failures: int) -> str:
    if failures:
        return DIFFERENTLY
    return INSIDE if outside else CHECK


def rewrite_command(text: str, judged: Judgement) -> str | None:
    """The command with the dangerous words of its `modify` rules replaced; None if a safe form is not known.

    Only words of commands in the text itself are touched, never quoted scripts inside it.
    """
    if any(rule.verdict == "block" for rule in judged.rules):
        return None
    made = to_ascii(text)
    changes: dict[tuple[int, int], dict[str, str]] = {}
    for rule, command in judged.hits:
        if rule.verdict != "modify":
            continue
        if not rule.rewrite or command.span is None:
            return None
        changes.setdefault(command.span, {}).update(rule.rewrite)
    if not changes:
        return None
    for (start, end), words in sorted(changes.items(), reverse=True):
        made = made[:start] + replace_words(made[start:end], words) + made[end:]
    made = from_ascii(made)
    return made if made != text else None


def replace_words(part: str, words: dict[str, str]) -> str:
    """Whole words of one command replaced; an empty replacement takes the word out."""
    for old, new in words.items():
        part = re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", lambda _, new=new: new, part)  # type: ignore[misc]
    return part
