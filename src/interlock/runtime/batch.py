"""How many files a call names at once, for the limit `batch_size`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ..core import Step
from ..review import COMMAND_KEYS, kind_of, text_of

OPERANDS = {
    **dict.fromkeys(("cat", "head", "less", "ls", "rm", "rmdir", "mkdir", "stat", "tail", "touch", "unlink", "wc"), 0),
    **dict.fromkeys(("chgrp", "chmod", "chown", "cp", "grep", "install", "ln", "mv", "rg", "rsync", "sed"), 1),
}
"""Programs that work on files, and how many of their operands are something else: a destination, a mode, a pattern."""

BETWEEN = frozenset(";&|<>()\n")


def named_files(step: Step) -> int:
    """The files that a call names: those that it lists, those that its commands work on, or what the agent declares."""
    if step.paths is not None:
        return max(len(step.paths.read), len(step.paths.written), len(step.paths.deleted))
    if step.tool is None:
        return 0
    if kind_of(step.tool.name)[1] == "shell":
        return sum(_operands(words) for words in _commands(text_of(step.tool.arguments, COMMAND_KEYS)[1]))
    lists = [value for value in step.tool.arguments.values() if isinstance(value, list)]
    return max((len(value) for value in lists), default=0)


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a shell text, as words; quoted text is one word."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>()\n")
    lexer.whitespace, lexer.commenters = " \t\r", ""
    words: list[str] = []
    try:
        for word in lexer:
            if BETWEEN.isdisjoint(word):
                words.append(word)
            else:
                yield words
                words = []
    except ValueError:
        # A quote without an end: what was read so far counts.
        pass
    yield words


def _operands(words: list[str]) -> int:
    program, *rest = words or [""]
    if program not in OPERANDS:
        return 0
    return max(0, sum(not word.startswith("-") for word in rest) - OPERANDS[program])
