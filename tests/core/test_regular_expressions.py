"""Patterns that are compiled late: right, and as they would be."""

from __future__ import annotations

import importlib
import pkgutil
import re

import re2

import interlock
from interlock.core import compile_late_patterns, late_pattern, span_search


def test_every_late_pattern_of_the_package_compiles() -> None:
    for package in ("adapters", "contract", "core", "detect", "intervene", "proof", "redact", "review", "runtime"):
        home = importlib.import_module(f"interlock.{package}")
        for module in pkgutil.walk_packages(home.__path__, f"{interlock.__name__}.{package}."):
            if "adapters." not in module.name or "adapters.command" in module.name:
                importlib.import_module(module.name)
    compile_late_patterns()


def test_a_late_pattern_has_what_a_pattern_has() -> None:
    late = late_pattern(r"(?P<name>a+)b?", re.IGNORECASE)
    made = re.compile(r"(?P<name>a+)b?", re.IGNORECASE)
    assert late.pattern == made.pattern
    assert late.flags == made.flags
    assert dict(late.groupindex) == {"name": 1}
    found = late.search("xxAAb")
    assert found is not None
    assert found["name"] == "AA"
    assert late.sub("-", "aab c a") == made.sub("-", "aab c a")
    assert late.fullmatch("aab") is not None
    assert late.findall("a b aa") == ["a", "aa"]


def test_a_span_search_finds_what_the_pattern_finds() -> None:
    pattern = re2.compile(rb"\bline \d+|\d+(?:ms|s)\b")
    search, text, found, at = span_search(pattern), "in 12ms at line 7 – twice: line 12, 3s".encode(), [], 0
    while (span := search(text, at)) != (-1, -1):
        found.append(span)
        at = span[1]
    assert found == [match.span() for match in pattern.finditer(text)]
    assert [text[start:end] for start, end in found] == [b"12ms", b"line 7", b"line 12", b"3s"]
    assert search(b"", 0) == (-1, -1)
