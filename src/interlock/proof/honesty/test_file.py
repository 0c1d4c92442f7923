"""TestFile: what the tests of one file check, in any language; without a syntax tree, judged line by line."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct, field

from ..model import TestFact

Strength = Literal["exact", "near", "bound", "member", "error", "shape", "truthy", "trivial", "other"]
"""How much an assertion demands, from an exact value to nothing at all."""

RANK: dict[Strength, int] = {
    "exact": 5, "near": 4, "bound": 4, "member": 3, "error": 4, "shape": 2, "truthy": 1, "trivial": 0, "other": 3,
}  # fmt: skip


class Assertion(Struct):
    """One assertion. `subject` is the tested expression, `expected` the value it is compared with; both without spaces.

    `weight` is how many values it compares; `tolerance` the allowed difference of a near one, or the limit of a bound
    one; `guard` names what hides its failure.
    """

    subject: str
    expected: str
    strength: Strength
    line: int
    weight: int = 1
    tolerance: float | None = None
    limit: str = ""
    guard: str = ""
    literal: bool = False


class TestCase(Struct):
    """One test. `skip` says how it is skipped; `body` is its text without spaces; `rows` its parameter rows."""

    __test__ = False

    name: str
    line: int
    skip: str = ""
    xfail: bool = False
    only: bool = False
    retries: bool = False
    ordered: bool = False
    asserts: list[Assertion] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    mocks: set[str] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)
    body: str = ""

    @property
    def weight(self) -> int:
        return sum(each.weight for each in self.asserts if each.strength != "trivial" and not each.guard)


class TestFile(Struct):
    """The tests of one file, its imports (name to module), and its mocks."""

    __test__ = False

    tests: dict[str, TestCase] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    mocks: dict[str, int] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    returns: dict[str, str] = field(default_factory=dict)
    loose: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return sum(max(1, len(test.rows)) for test in self.tests.values() if test.name)


def squeezed(text: str) -> str:
    """A text without spaces and with one kind of quotes."""
    return "".join(text.split()).replace("'", '"')


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
    """Removed tests, removed assertions and skipped tests, by counting."""
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
