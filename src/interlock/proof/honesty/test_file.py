"""TestFile: what the tests of one file check, whatever its language."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Strength = Literal["exact", "near", "bound", "member", "error", "shape", "truthy", "trivial", "other"]
"""How much an assertion demands, from an exact value to nothing at all."""

RANK: dict[Strength, int] = {
    "exact": 5, "near": 4, "bound": 4, "member": 3, "error": 4, "shape": 2, "truthy": 1, "trivial": 0, "other": 3,
}  # fmt: skip


class Assertion(Struct):
    """One assertion. `subject` is what is looked at, `expected` what it is compared with; both without spaces.

    `weight` is how many values it compares; `tolerance` how far off a near one, or the limit of a bound one, may be;
    `guard` names what keeps its failure from being seen.
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
    """The tests of one file, what it imports (name to module), and what it puts a mock over."""

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
