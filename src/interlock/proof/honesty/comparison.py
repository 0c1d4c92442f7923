"""Comparison: facts about tests and rules that changed between two states of a workspace."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from ...calls import word_set
from ..model import TestFact
from .files import is_rule, is_snapshot, is_test, language_of
from .javascript_tests import read_javascript, same_javascript
from .python_tests import parse, read_python
from .rules import compare_rules, compare_suppressions
from .test_file import Assertion, TestCase, TestFile, compare_elsewhere
from .weakening import compare_mock_values, compare_mocks, find_admitted, find_rows, find_trivial, find_weakened

FACTS = 40
"""Facts reported per comparison."""
ALIKE = 0.6
"""Minimum similarity of two test bodies for one to count as the other, renamed."""

GUARDED = {
    "it never runs": "never runs",
    "its failure is caught": "can fail silently: its failure is caught",
    "an error also passes": "can fail silently: an error also passes",
    "after an early return": "comes after a return",
}

TestEdit = tuple[str, str | None, str | None]
"""A changed file: its path, its text before and after; None if it did not or does not exist."""


class Surroundings:
    """The other changes, computed on demand; each text is parsed once."""

    def __init__(self, changed: Sequence[TestEdit]) -> None:
        self._changed = changed
        self._read: dict[tuple[str, str], TestFile | None] = {}

    def read(self, text: str, language: str) -> TestFile | None:
        """The tests in a text."""
        key = (text, language)
        if key not in self._read:
            self._read[key] = read_python(text) if language == "python" else read_javascript(text)
        return self._read[key]

    @cached_property
    def _code(self) -> list[TestEdit]:
        """The files whose code changed."""
        return [
            (path, before, after)
            for path, before, after in self._changed
            if not (is_test(path) or is_rule(path) or is_snapshot(path) or _TEXT.search(path))
            and not (before and after and _is_same_code(before, after, language_of(path)))
        ]

    @cached_property
    def sources(self) -> set[str]:
        """The stems of files whose code changed."""
        return {_stem(path) for path, _, _ in self._code}

    @cached_property
    def lost(self) -> set[str]:
        """The names that the code no longer defines."""
        gone = (set(_DEFINED.findall(old or "")) - set(_DEFINED.findall(new or "")) for _, old, new in self._code)
        return {name for each in gone for names in each for name in names if name}

    @cached_property
    def elsewhere(self) -> dict[str, list[TestCase]]:
        """The new tests, by file."""
        found: dict[str, list[TestCase]] = {}
        for path, before, after in self._changed:
            if after is None or not is_test(path) or not (language := language_of(path)):
                continue
            read = self.read(after, language)
            known = self.read(before, language) if before else None
            for name, case in read.tests.items() if read is not None else ():
                if known is None or name not in known.tests:
                    found.setdefault(path, []).append(case)
        return found


def compare_tests(files: Iterable[TestEdit]) -> tuple[TestFact, ...]:
    """Facts about changed tests and checking rules; nothing that was only moved, renamed or added."""
    changed = [(path.replace("\\", "/"), before, after) for path, before, after in files]
    around = Surroundings(changed)
    facts = [fact for path, before, after in changed for fact in compare_file(path, before, after, around)]
    return tuple(facts[:FACTS])


def compare_file(path: str, before: str | None, after: str | None, around: Surroundings) -> list[TestFact]:
    """The facts about one file."""
    facts: list[TestFact] = []
    if is_snapshot(path):
        if before is not None and after is not None and before != after and not around.sources:
            facts.append(TestFact("snapshot rewritten, and no code changed", path, 0, "expected"))
        return facts
    if is_rule(path):
        return compare_rules(path, before, after)
    test = is_test(path)
    facts += compare_suppressions(path, before, after, test=test)
    if not test or before is None:
        return facts
    language = language_of(path)
    if not language:
        return facts + compare_elsewhere(path, before, after)
    old, new = around.read(before, language), around.read(after or "", language)
    if old is None or new is None:
        return facts
    facts += _compare(path, old, new, around, gone=after is None)
    if not any(fact.kind == "weakened" for fact in facts):
        facts += find_admitted(path, before, after or "")
    return facts


def _is_same_code(before: str, after: str, language: str) -> bool:
    """Whether two programs differ only in comments and spaces."""
    if language == "python":
        old, new = parse(before), parse(after)
        return old is not None and new is not None and ast.dump(old) == ast.dump(new)
    return bool(language) and same_javascript(before, after)


def _stem(path: str) -> str:
    return re.sub(r"\.\w+$", "", path.rpartition("/")[2])


_TEXT = re.compile(r"\.(?:md|txt|rst|json|lock)$")
_DEFINED = re.compile(r"\b(?:def|class|function)\s+(\w+)|\b(?:const|let)\s+(\w+)\s*=\s*(?:async\s*)?(?:\(|function)")


def _compare(path: str, old: TestFile, new: TestFile, around: Surroundings, *, gone: bool) -> list[TestFact]:
    pairs, removed = _matched(old, new)
    removed = [case for case in removed if not _moved(case, path, around) and not _obsolete(case, around)]
    added = [case for name, case in new.tests.items() if name and name not in {b.name for _, b in pairs}]
    facts: list[TestFact] = []
    told = removed if gone or not added else _not_merged(removed, old, new)
    if told:
        names = ", ".join(case.name.rpartition(" > ")[2] for case in told[:3])
        count = f"{len(told)} tests" if len(told) > 1 else "1 test"
        facts.append(TestFact(f"{count} removed: {names}", path, told[0].line if gone else 0, "removed"))
    whole = new.tests.get("")
    if whole is not None and whole.skip and not (old.tests.get("") or TestCase("", 0)).skip:
        facts.append(TestFact("the whole file is skipped now", path, whole.line, "skipped"))
    fresh = [each for case in added for each in case.asserts]

    def unchanged() -> bool:
        # Evaluated on demand: few test edits depend on it, and it requires parsing all other code.
        return not _related(new, around)

    for a, b in pairs:
        facts += _compare_case(path, a, b, new, fresh, unchanged=unchanged)
    for case in added:
        facts += find_trivial(path, case, [])
    facts += compare_mocks(path, old, new)
    if (mocked := compare_mock_values(path, old, new)) and unchanged():
        facts += mocked
    if "retries" in new.loose and "retries" not in old.loose:
        facts.append(TestFact("failing tests are run again until they pass", path, 0, "retries"))
    only = [name for name in new.loose if name.startswith("only:") and name not in old.loose]
    if only or any(b.only and not a.only for a, b in pairs):
        facts.append(TestFact("only some tests of the file run now (.only)", path, 0, "skipped"))
    return facts


def _matched(old: TestFile, new: TestFile) -> tuple[list[tuple[TestCase, TestCase]], list[TestCase]]:
    """Matching tests before and after, by name or else by content; and the removed ones without a match."""
    pairs = [(case, new.tests[name]) for name, case in old.tests.items() if name in new.tests]
    free = [case for name, case in new.tests.items() if name not in old.tests]
    removed = []
    for name, case in old.tests.items():
        if name in new.tests:
            continue
        last = name.rpartition(".")[2].rpartition(" > ")[2]
        best, score = None, 0.0
        for other in free:
            same_name = last == other.name.rpartition(".")[2].rpartition(" > ")[2]
            alike = (
                1.0
                if same_name
                else SequenceMatcher(None, case.body[:4_000], other.body[:4_000], autojunk=False).ratio()
            )
            if alike > score:
                best, score = other, alike
        if best is not None and score >= ALIKE:
            pairs.append((case, best))
            free.remove(best)
        elif name:
            removed.append(case)
    return pairs, removed


def _moved(case: TestCase, path: str, around: Surroundings) -> bool:
    last = case.name.rpartition(".")[2].rpartition(" > ")[2]
    return any(
        other.name.rpartition(".")[2].rpartition(" > ")[2] == last
        or SequenceMatcher(None, case.body[:4_000], other.body[:4_000], autojunk=False).ratio() > ALIKE
        for place, cases in around.elsewhere.items()
        if place != path
        for other in cases
    )


def _obsolete(case: TestCase, around: Surroundings) -> bool:
    """Whether a test was about something that the code no longer has."""
    return any(call.rpartition(".")[2] in around.lost or call.partition(".")[0] in around.lost for call in case.calls)


def _not_merged(removed: list[TestCase], old: TestFile, new: TestFile) -> list[TestCase]:
    """The removed tests that did not become rows or parts of others."""
    text = "".join(case.body + "".join(case.rows) for case in new.tests.values())
    gone = [
        case
        for case in removed
        if not case.asserts or not all(_said(each, text) for each in case.asserts if each.strength != "trivial")
    ]
    return gone if new.cases < old.cases or _weight(new) < _weight(old) else []


def _said(assertion: Assertion, text: str) -> bool:
    return (assertion.expected and assertion.expected in text) or assertion.subject in text


def _weight(found: TestFile) -> int:
    return sum(case.weight * max(1, len(case.rows)) for case in found.tests.values())


def _compare_case(
    path: str, a: TestCase, b: TestCase, new: TestFile, fresh: list[Assertion], *, unchanged: Callable[[], bool]
) -> list[TestFact]:
    facts: list[TestFact] = []
    name = b.name.rpartition(" > ")[2] or "the file"
    if b.skip and not a.skip:
        facts.append(TestFact(f"{name} is skipped now", path, b.line, "skipped"))
    if b.xfail and not a.xfail:
        facts.append(TestFact(f"{name} is expected to fail now", path, b.line, "skipped"))
    if b.retries and not a.retries:
        facts.append(TestFact(f"{name} is run again until it passes", path, b.line, "retries"))
    if b.ordered and not a.ordered:
        facts.append(TestFact(f"the order in which {name} runs is fixed now", path, b.line, "ordered"))
    if b.skip and not a.skip:
        return facts
    guards = {each.guard for each in a.asserts if each.guard}
    for each in b.asserts:
        if each.guard and each.guard not in guards and a.asserts:
            guards.add(each.guard)
            what = GUARDED.get(each.guard, f"runs {each.guard}")
            facts.append(TestFact(f"an assertion of {name} {what}", path, each.line, "swallowed"))
    facts += find_trivial(path, b, a.asserts)
    facts += find_weakened(path, name, a, b, unchanged=unchanged)
    if (rows := find_rows(path, name, a, b)) and unchanged():
        facts += rows
    helped = any(
        call.rpartition(".")[2] in new.helpers or _HELPER.match(call.rpartition(".")[2]) for call in b.calls - a.calls
    )
    fewer = [each for each in a.asserts if each.strength != "trivial" and not _still(each, [*b.asserts, *fresh])]
    is_told = any(fact.kind in ("swallowed", "trivial", "weakened") for fact in facts)
    if fewer and b.weight < a.weight and not helped and not b.rows and not is_told:
        count = f"{len(fewer)} assertions" if len(fewer) > 1 else "1 assertion"
        facts.append(TestFact(f"{count} removed from {name}", path, b.line, "removed"))
    if a.rows and b.rows and len(b.rows) < len(a.rows):
        lost = [row for row in a.rows if row not in b.rows]
        if len(lost) > len([row for row in b.rows if row not in a.rows]):
            facts.append(TestFact(f"{len(a.rows) - len(b.rows)} cases removed from {name}", path, b.line, "removed"))
    return facts


_HELPER = re.compile(r"_?(?:assert|check|verify|expect|ensure|validate)", re.IGNORECASE)


def _still(assertion: Assertion, left: list[Assertion]) -> bool:
    """Whether the same subject or value is still asserted."""
    return any(
        each.subject == assertion.subject or (assertion.literal and each.expected == assertion.expected)
        for each in left
    ) or (assertion.subject != "raises" and assertion.subject in "".join(each.subject for each in left))


def _related(found: TestFile, around: Surroundings) -> bool:
    """Whether code that the tests of a file are about also changed."""
    if not around.sources:
        return False
    names = {part for module in found.imports.values() for part in re.split(r"[./]", module) if part}
    named = {re.sub(r"\.\w+$", "", module.rpartition("/")[2]) for module in found.imports.values()}
    if (names | named) & around.sources:
        return True
    # A module that a test imports through a package cannot be determined from its name.
    local = [
        module
        for module in found.imports.values()
        if module.split(".")[0] not in _LIBRARIES and not module.startswith("@")
    ]
    return bool(around.sources) and (
        not local
        or bool({"__init__", "index", "conftest"} & around.sources)
        or (len(local) > 0 and not _resolves(local))
    )


def _resolves(modules: list[str]) -> bool:
    """Whether imports name files: `src.pricing.calculator.f`, `../src/auth`."""
    return any("/" in module or module.count(".") >= 1 for module in modules)


_LIBRARIES = word_set(
    """pytest unittest mock os sys re json math typing pathlib datetime time numpy vitest jest chai sinon assert
    node:test node:assert __future__ collections asyncio hypothesis"""
)
