"""Rewrite: a command in its safe form, where a rule knows one."""

from __future__ import annotations

import re

from .judgement import Judgement
from .shell.ascii import from_ascii, to_ascii


def rewrite_command(text: str, judged: Judgement) -> str | None:
    """The command with the dangerous words of its `modify` rules replaced; None where a safe form is not known.

    Only words of commands that stand in the text itself are touched, never quoted scripts inside it.
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
