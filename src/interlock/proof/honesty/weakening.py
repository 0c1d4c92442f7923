"""Weakening: tests that demand less than before, or mock what they test."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..model import TestFact
from .test_file import RANK, Assertion, TestCase, TestFile

UNCHANGED = "the code that it tests did not change"


def find_trivial(path: str, case: TestCase, known: list[Assertion]) -> list[TestFact]:
    before = [each.subject + each.expected for each in known if each.strength == "trivial"]
    name = case.name.rpartition(" > ")[2] or "the file"
    facts = []
    for each in case.asserts:
        if each.strength == "trivial" and each.subject + each.expected not in before:
            itself = each.expected and each.subject == each.expected and not re.match(r"[\d\"TF]", each.subject)
            what = "compares a value with itself" if itself else "is always true"
            facts.append(TestFact(f"an assertion of {name} {what}", path, each.line, "trivial"))
    return facts


def find_weakened(path: str, name: str, a: TestCase, b: TestCase, *, unchanged: Callable[[], bool]) -> list[TestFact]:
    facts = []
    left = list(b.asserts)
    changed = []
    for each in a.asserts:
        same = next((one for one in left if _same(each, one)), None)
        if same is not None:
            left.remove(same)
        else:
            changed.append(each)
    for each in changed:
        now = next((one for one in left if _same_subject(each, one)), None)
        if now is None or now.strength == "trivial":
            continue
        left.remove(now)
        what = _weaker(each, now, name, unchanged=unchanged)
        if what:
            facts.append(TestFact(what, path, now.line, "expected" if what.startswith("expected") else "weakened"))
    return facts


_ADMITS = re.compile(
    r"^.*\b(?:assert|expect|toBe)\w*.*?(?P<limit>[<>]=?|Greater\w*\(|Less\w*\()\s*(?P<now>\d+(?:\.\d+)?)\b.*"
    r"(?:#|//)\s*(?:was|previously|originally|formerly)\b\D{0,12}(?P<was>\d+(?:\.\d+)?)",
    re.MULTILINE | re.IGNORECASE,
)


def find_admitted(path: str, before: str, after: str) -> list[TestFact]:
    """Limits loosened by a new line that says so itself: `assert x > 0.1  # was 0.9`."""
    facts = []
    for found in _ADMITS.finditer(after) if "#" in after or "//" in after else ():
        was, now = float(found["was"]), float(found["now"])
        looser = now > was if found["limit"][0] in "<Ll" else now < was
        if looser and found[0].strip() not in before:
            line = after.count("\n", 0, found.start()) + 1
            facts.append(TestFact(f"limit of an assertion loosened from {was:g} to {now:g}", path, line, "weakened"))
    return facts


def _same(a: Assertion, b: Assertion) -> bool:
    """Whether two assertions demand the same."""
    return (a.subject, a.expected, a.strength, a.tolerance, a.weight) == (
        b.subject, b.expected, b.strength, b.tolerance, b.weight,
    )  # fmt: skip


def _same_subject(a: Assertion, b: Assertion) -> bool:
    if a.subject == b.subject:
        return True
    # `assert f(x) == 1` and `assert f(x)`; `expect(f(x))` and `f(x).length`: the call is the subject.
    core_a, core_b = _core(a.subject), _core(b.subject)
    return bool(core_a) and core_a == core_b


def _core(subject: str) -> str:
    return re.sub(r"^(?:len|bool|str|int|float|round|list|set|sorted|abs|type)\((.*?)(?:,\d+)?\)$", r"\1", subject)


_ANY_ERROR = ("Exception", "BaseException", "", "Error")
_LESS = {
    "truthy": "only that there is a value",
    "shape": "only its type, or that it differs",
    "member": "only that it is one of several",
}


def _weaker(was: Assertion, now: Assertion, name: str, *, unchanged: Callable[[], bool]) -> str:
    """What makes an assertion weaker than before; empty if it is not."""
    kinds = (was.strength, now.strength)
    if kinds == ("near", "near") and was.tolerance is not None and now.tolerance is not None:
        if now.tolerance < was.tolerance:
            return ""
        if now.tolerance > was.tolerance * 1.5:
            return f"tolerance of an assertion of {name} widened from {was.tolerance:g} to {now.tolerance:g}"
    elif kinds == ("bound", "bound") and was.tolerance is not None and now.tolerance is not None:
        looser = now.tolerance > was.tolerance if now.limit[:1] == "<" else now.tolerance < was.tolerance
        told = f"limit of an assertion of {name} loosened from {was.tolerance:g} to {now.tolerance:g}"
        return told if looser and was.limit[:1] == now.limit[:1] else ""
    elif kinds == ("error", "error"):
        if was.expected != now.expected and now.expected in _ANY_ERROR:
            return f"{name} accepts any error now"
        if now.weight < was.weight:
            return f"{name} no longer checks the error's message"
        if not now.expected.isidentifier():
            return ""
    elif kinds == ("exact", "near"):
        allowed = max(abs(_float(was.expected) or 1.0) * 1e-3, 1e-9) * 1.01
        if now.tolerance is not None and now.tolerance > allowed:
            return f"an exact assertion of {name} accepts a difference of {now.tolerance:g} now"
    elif RANK[now.strength] < RANK[was.strength]:
        return f"an assertion of {name} checks {_LESS.get(now.strength, 'less')} now"
    if was.expected != now.expected and was.literal and now.literal and was.strength == now.strength and unchanged():
        changed = f"expected value of {name} changed from {was.expected[:40]} to {now.expected[:40]}"
        return f"{changed}, and {UNCHANGED}"
    return ""


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def find_rows(path: str, name: str, a: TestCase, b: TestCase) -> list[TestFact]:
    """Parameter rows with the same inputs but a different expected value."""
    if len(a.rows) != len(b.rows):
        return []
    for was, now in zip(a.rows, b.rows, strict=True):
        head_a, _, tail_a = was.strip("()[]").rpartition(",")
        head_b, _, tail_b = now.strip("()[]").rpartition(",")
        if head_a and head_a == head_b and tail_a != tail_b:
            what = f"expected value of {name} changed from {tail_a[:40]} to {tail_b[:40]}, and {UNCHANGED}"
            return [TestFact(what, path, b.line, "expected")]
    return []


def compare_mock_values(path: str, old: TestFile, new: TestFile) -> list[TestFact]:
    """Mocks that return something else while the tests' assertions are unchanged."""
    if _demands(old) != _demands(new):
        return []
    for key, value in new.returns.items():
        was = old.returns.get(key)
        if was is not None and was != value:
            of = key.partition(":")[0] or "a test"
            what = f"a mock of {of} gives {value[:40]} instead of {was[:40]}, and {UNCHANGED}"
            return [TestFact(what, path, 0, "expected")]
    return []


def _demands(found: TestFile) -> list[str]:
    return [each.subject + each.expected for case in found.tests.values() for each in case.asserts]


def compare_mocks(path: str, old: TestFile, new: TestFile) -> list[TestFact]:
    """Mocks that now replace what the tests themselves call."""
    facts = []
    known = {mock for case in old.tests.values() for mock in case.mocks} | set(old.mocks)
    if old.imports and new.imports:
        for name, module in new.imports.items():
            was = old.imports.get(name)
            if (
                was
                and was != module
                and re.search(r"mock|fake|stub|test[-_.]?impl|dummy", module, re.I)
                and not re.search(r"mock|fake|stub|dummy", was, re.I)
            ):
                facts.append(TestFact(f"{name} is now taken from {module}", path, 0, "mocked"))
    for case in new.tests.values():
        for mock in sorted(case.mocks - known):
            if _under_test(mock, case, new):
                what = f"{case.name.rpartition(' > ')[2] or 'a test'} now mocks {mock}, which it tests"
                facts.append(TestFact(what, path, case.line, "mocked"))
    for module, line in new.mocks.items():
        if module in known:
            continue
        users = {name for name, of in new.imports.items() if of == module}
        called = {call for case in new.tests.values() for call in case.calls}
        if any(call in users or (call.partition(".")[0] in users and ".mock" not in call) for call in called):
            facts.append(TestFact(f"{module} is mocked now, and the tests test it", path, line, "mocked"))
    if re.search(r"integration|e2e|end_to_end", path) and not facts:
        fresh = [mock for case in new.tests.values() for mock in case.mocks - known] + [
            m for m in new.mocks if m not in known
        ]
        if fresh:
            facts.append(TestFact(f"an integration test now mocks {fresh[0]}", path, 0, "mocked"))
    return facts


def _under_test(mock: str, case: TestCase, found: TestFile) -> bool:
    """Whether the mock's target is what the test calls: by its full name, or as an attribute of an import."""
    owner, _, last = mock.rpartition(".")
    for call in case.calls:
        first, _, rest = call.partition(".")
        module = found.imports.get(first, "")
        full = f"{module}.{rest}" if rest and module else module or call
        if module and (full == mock or full.endswith(f".{mock}") or mock.endswith(f".{full}")):
            return True
        if not module and call == mock:
            return True
        if module and call == last and module.rpartition(".")[0] == owner:
            return True
    return f"{owner}.{last}" in case.calls and owner in found.imports
