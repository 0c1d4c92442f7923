"""Claims: statements in an agent's own words that the trace can bear out or contradict."""

from __future__ import annotations

import re

READ = 3000
"""Characters of a text that are read."""

_PASS = re.compile(
    r"\b(?:all|the|our|my|unit|existing|both)\s+(?:\w+\s+){0,2}tests?\s+(?:cases?\s+)?"
    r"(?:(?:are|is|now|have|has|all|were)\s+){0,2}(?:passing|passed|pass)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"should|will|would|\bif\b|whether|ensure|make sure|verify|until|so that|expect|check|confirm|let'?s|once|when|"
    r"\bto\b|\bnot\b|n't|could|might|\bmay\b",
    re.IGNORECASE,
)
_RAN = re.compile(
    r"\bI(?:'ve| have)?\s+(?:already\s+)?(?:ran|run|executed)\s+(?:the |all |our )?(?:\w+\s+)?tests?\b", re.IGNORECASE
)
_WROTE = re.compile(
    r"\bI(?:'ve| have)?\s+(?:\w+ly\s+)?(?:created|written|wrote|updated|modified|edited)\s+(?:the |a |an )?"
    r"(?:\w+\s+){0,3}?[`'\"]([\w./-]+\.[A-Za-z]{1,5})[`'\"]",
    re.IGNORECASE,
)
_VERBS = ("created", "written", "wrote", "updated", "modified", "edited")
_TESTS = frozenset((b"pytest", b"unittest", b"tox", b"jest", b"vitest", b"ctest", b"runtests", b"test", b"tests"))


def claims_pass(text: str) -> bool:
    """Whether it is said, without an if or a should, that tests pass."""
    if "test" not in text:
        return False
    found = _PASS.search(text, 0, READ)
    if found is None:
        return False
    before = re.split(r"[.\n]", text[max(0, found.start() - 40) : found.start()])[-1]
    return _HEDGED.search(before) is None


def claims_ran(text: str) -> bool:
    """Whether it is said that tests were run."""
    return "test" in text and _RAN.search(text[:READ]) is not None


def claimed_files(text: str) -> list[str]:
    """The files that are said to have been written."""
    for verb in _VERBS:
        if verb in text:
            return _WROTE.findall(text[:READ])
    return []


def tests(asked: set[bytes]) -> bool:
    """Whether a call runs tests, by its words."""
    return not asked.isdisjoint(_TESTS)
