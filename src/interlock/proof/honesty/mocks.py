"""Mocks: what tests put in the place of the very thing that they test."""

from __future__ import annotations

import re

from ..model import TestFact
from .test_file import TestCase, TestFile
from .weakening import UNCHANGED


def compare_mock_values(path: str, old: TestFile, new: TestFile) -> list[TestFact]:
    """Mocks that give something else to tests that demand what they did."""
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
    """Whether what is mocked is what the test calls: by its full name, or as attribute of what the file imports."""
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
