"""Elsewhere: tests in languages without a syntax tree here, compared by their lines."""

from __future__ import annotations

import re

from ..model import TestFact

_TEST = re.compile(
    r"^\s*(?:func (Test\w+)\(|(?:pub )?(?:async )?fn (\w+)\(\)|(?:public |private )?(?:void|"
    r"fun) `?(\w[\w ]*)`?\(|def (test_\w+)|it ['\"]([^'\"]+))",
    re.M,
)
_MARK = re.compile(
    r"#\[(?:tokio::)?test\]|@(?:org\.junit\.)?(?:jupiter\.api\.)?(?:Parameterized)?Test\b|^func Test|"
    r"\bit ['\"]|def test_",
    re.M,
)
_ASSERT = re.compile(
    r"\bassert\w*!?\s*\(|\bAssert\w*\.|\brequire\.\w+\(|\bassert\.\w+\(|\bexpect\(|\bt\.(?:Error|Fatal)f?\(|"
    r"assertThat\(|\.should\b",
)
_SKIP = re.compile(
    r"\bt\.Skip(?:Now|f)?\(|#\[ignore\b|@Disabled\b|@Ignore\b|\bskip\(|\bpending\b|\[Ignore\]|Skip\s*=\s*\"",
)


def compare_elsewhere(path: str, before: str, after: str | None) -> list[TestFact]:
    """Tests removed, assertions removed and tests skipped, by counting."""
    text = after or ""
    facts = []
    old, new = len(_MARK.findall(before)), len(_MARK.findall(text))
    if new < old:
        names = _names(before) - _names(text)
        told = f": {', '.join(sorted(names)[:3])}" if names else ""
        count = f"{old - new} tests" if old - new > 1 else "1 test"
        facts.append(TestFact(f"{count} removed{told}", path, 0, "removed"))
    elif len(_ASSERT.findall(text)) < len(_ASSERT.findall(before)):
        gone = len(_ASSERT.findall(before)) - len(_ASSERT.findall(text))
        facts.append(TestFact(f"{gone} assertion{'s' if gone > 1 else ''} removed", path, 0, "removed"))
    more = len(_SKIP.findall(text)) - len(_SKIP.findall(before))
    if more > 0:
        found = next(at for at, line in enumerate(text.splitlines(), 1) if _SKIP.search(line))
        facts.append(TestFact(f"{more} test{'s' if more > 1 else ''} skipped now", path, found, "skipped"))
    return facts


def _names(text: str) -> set[str]:
    return {next(filter(None, found), "") for found in _TEST.findall(text)}
