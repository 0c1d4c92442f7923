"""Help: every key, in words."""

from __future__ import annotations

from .line import Line, fit
from .pager import text_lines

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Steer a run",
        (
            ("p", "pause: the current step may finish, no further one starts; again: resume"),
            ("r", "resume"),
            ("c", "cancel: end the agent and all its processes (asks first)"),
            ("e", "escalate: continue with a stronger model (asks which and why)"),
            ("a  x", "approve or reject the pending step"),
        ),
    ),
    (
        "Navigate",
        (
            ("↑ ↓ j k", "move; PgUp PgDn, Home End, g G in larger steps"),
            ("Enter", "open the run, record, issue or difference"),
            ("1 2 3 4, Tab", "timeline, issues, checkpoints, control"),
            ("/", "search: all words must match; Esc clears"),
            ("f", "filter: all, live, ended; everything, trouble, steps, …"),
            ("Esc", "back"),
        ),
    ),
    (
        "Checkpoints",
        (
            ("d  D", "what changed since this one; since the previous one"),
            ("b", "roll back to this one (shows what would change, asks first)"),
        ),
    ),
    (
        "Other",
        (
            ("i", "the report of an emergency stop, and its options"),
            ("t", "light or dark"),
            ("?", "this page"),
            ("q", "quit; runs continue"),
        ),
    ),
)

WORDS = """States are real: a run shows as paused once its RESULT has arrived, not when you press the key. Until
then it shows what was requested. ACK means that the run has stored the command, RESULT is its outcome. "unknown" is
neither done nor failed: try again when the run's owner, or the network, is back."""


def help_lines(width: int) -> list[Line]:
    """The page of keys at a width."""
    width = min(width, 100)
    lines: list[Line] = []
    for title, keys in KEYS:
        lines += [((title, "link!"),)]
        for key, words in keys:
            first, *more = text_lines(words, width - 16)
            lines += [(("  ", ""), (fit(key, 14), "strong"), *first)]
            lines += [((" " * 16, ""), *row) for row in more]
        lines += [()]
    lines += text_lines(" ".join(WORDS.split()), width, "dim")
    return lines
