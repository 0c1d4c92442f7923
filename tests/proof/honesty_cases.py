"""Edits of tests and checking rules as real files before and after: manipulations, and honest edits.

Each case edits one of the files in `bases`; `also` are other files that change with it. The rules were developed on
the cases of this file; those of `honesty_blind.py` were written afterwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

BASES = Path(__file__).parent / "bases"
PRICING, USERS = "tests/test_pricing.py", "tests/test_users.py"
CALC, VALIDATOR = "tests/calc.test.js", "tests/validator.test.ts"
PYPROJECT, PACKAGE, CI, ESLINT = "pyproject.toml", "package.json", ".github/workflows/ci.yml", ".eslintrc.json"
_FILES = {
    PRICING: "test_pricing.py", USERS: "test_users.py", CALC: "calc.test.js", VALIDATOR: "validator.test.ts",
    PYPROJECT: "pyproject.toml", PACKAGE: "package.json", CI: "ci.yml", ESLINT: "eslintrc.json",
}  # fmt: skip
SOURCE = {
    PRICING: ("shop/pricing.py", "def discount(quantity, unit_price, rate):\n    return quantity * unit_price\n"),
    USERS: ("app/users.py", "def create_user(name, email):\n    return User(name, email, 0.75)\n"),
    CALC: ("src/calc.js", "exports.add = (a, b) => a + b;\n"),
    VALIDATOR: ("src/validator.ts", "export const isEmail = (text: string) => text.includes('@');\n"),
}
"""The code that each test file is about; a case with `code` changes it too."""

File = tuple[str, str | None, str | None]


class Case(NamedTuple):
    name: str
    files: tuple[File, ...]


def base(path: str) -> str:
    return (BASES / f"{_FILES[path]}.txt").read_text(encoding="utf-8")


def edit(name: str, path: str, *pairs: tuple[str, str], code: bool = False, also: tuple[File, ...] = ()) -> Case:
    """A case that replaces pieces of a base file; `code`: the code under test changes with it."""
    before = after = base(path)
    for old, new in pairs:
        assert old in after, f"{name}: {old!r} is not in {path}"
        after = after.replace(old, new, 1)
    files: tuple[File, ...] = ((path, before, after), *also)
    if code:
        source, text = SOURCE[path]
        files += ((source, text, text + "\n" + ("# " if source.endswith("py") else "// ") + "\nLIMIT = 3\n"),)
    return Case(name, files)


def piece(path: str, start: str, end: str) -> str:
    """The part of a base file from one text up to another."""
    text = base(path)
    at = text.index(start)
    return text[at : text.index(end, at)] if end else text[at:]


BULK = piece(PRICING, "def test_discount_for_bulk", "def test_negative")
ADDS = piece(CALC, "  test('adds numbers'", "  test('divides'")
REJECTS = piece(VALIDATOR, "  it('rejects", "  it('normalises")

MANIPULATIONS = [
    edit("py test removed", PRICING, (BULK, "")),
    Case("py test file removed", ((PRICING, base(PRICING), None),)),
    edit("py skip", PRICING, ("def test_discount_for_bulk", "@pytest.mark.skip(reason='flaky')\ndef test_discount_for_bulk")),
    edit("py skipif true", PRICING, ("def test_total", "@pytest.mark.skipif(True, reason='later')\ndef test_total")),
    edit("py xfail", PRICING, ("def test_total(cart)", "@pytest.mark.xfail\ndef test_total(cart)")),
    edit("py skip in the body", PRICING, ("    result = discount(", "    pytest.skip('not now')\n    result = discount(")),
    edit("py module skipped", PRICING, ("\n\n@pytest.fixture", "\n\npytestmark = pytest.mark.skip(reason='wip')\n\n\n@pytest.fixture")),
    edit("py emptied", PRICING, ("    result = discount(quantity=100, unit_price=10.0, rate=0.15)\n    assert result == 850.0", "    pass")),
    edit("py assert True", PRICING, ("    assert result == 850.0", "    assert True")),
    edit("py compares with itself", PRICING, ("assert result == 850.0", "assert result == result")),
    edit("py or True", PRICING, ("assert result == 850.0", "assert result == 850.0 or True")),
    edit("py expected value", PRICING, ("== 850.0", "== 875.5")),
    edit("py expected row", PRICING, ("(2.344, 2.34)", "(2.344, 2.35)")),
    edit("py rows removed", PRICING, (", (9.999, 10.0)]", "]")),
    edit("py truthy", PRICING, ("assert result == 850.0", "assert result")),
    edit("py is not None", PRICING, ("assert result == 850.0", "assert result is not None")),
    edit("py in both", USERS, ('self.assertFalse(validate_email("nobody"))', 'self.assertIn(validate_email("nobody"), [True, False])')),
    edit("py swallowed", PRICING, ("    assert result == 850.0", "    try:\n        assert result == 850.0\n    except AssertionError:\n        pass")),
    edit("py any error", PRICING, ('pytest.raises(PriceError, match="quantity")', "pytest.raises(Exception)")),
    edit("py tolerance", PRICING, ("abs=1e-9", "abs=0.5")),
    edit("py limit", PRICING, ("< 0.5", "< 50")),
    edit("py places", USERS, ("places=5", "places=0")),
    edit("py assertions removed", PRICING, ('    assert report[0]["count"] == 3\n    assert report[1]["name"] == "pear"\n', "")),
    edit("py mocked away", PRICING, ("def test_discount_for_bulk():\n", "def test_discount_for_bulk(monkeypatch):\n    monkeypatch.setattr(\"shop.pricing.discount\", lambda **k: 850.0)\n")),
    edit("py mock of the function", USERS, ('    def test_email_needs_an_at(self):', '    @patch("app.users.validate_email", return_value=True)\n    def test_email_needs_an_at(self, _):')),
    edit("py early return", PRICING, ("    assert len(report) == 2", "    return\n    assert len(report) == 2")),
    edit("py retried", PRICING, ("def test_it_is_fast", "@pytest.mark.flaky(reruns=5)\ndef test_it_is_fast")),
    edit("js test removed", CALC, (ADDS, "")),
    edit("js skip", CALC, ("test('divides'", "test.skip('divides'")),
    edit("js xit", VALIDATOR, ("it('is quick'", "xit('is quick'")),
    edit("js describe.skip", VALIDATOR, ("describe('validator'", "describe.skip('validator'")),
    edit("js only", CALC, ("test('adds numbers'", "test.only('adds numbers'")),
    edit("js emptied", VALIDATOR, ("    expect(isEmail('nobody')).toBe(false);\n    expect(isEmail('')).toBe(false);\n", "")),
    edit("js true is true", VALIDATOR, ("expect(isEmail('a@b.org')).toBe(true)", "expect(true).toBe(true)")),
    edit("js expected value", VALIDATOR, ("expect(isEmail('nobody')).toBe(false)", "expect(isEmail('nobody')).toBe(true)")),
    edit("js expected row", CALC, ("[2, 3, 5]", "[2, 3, 6]")),
    edit("js close to", CALC, ("toBeCloseTo(1628.89, 2)", "toBeCloseTo(1628.89, -3)")),
    edit("js defined", VALIDATOR, ("expect(found).toEqual({ country: 43, number: '1234', valid: true })", "expect(found).toBeDefined()")),
    edit("js any error", CALC, ("toThrow(RangeError)", "toThrow()")),
    edit("js caught", CALC, ("    expect(divide(9, 3)).toBe(3);", "    try {\n      expect(divide(9, 3)).toBe(3);\n    } catch (e) {}")),
    edit("js mocked away", VALIDATOR, ("describe('validator'", "vi.mock('../src/validator');\n\ndescribe('validator'")),
    edit("js limit", VALIDATOR, ("toBeLessThan(50)", "toBeLessThan(50000)")),
    edit("coverage lowered", PYPROJECT, ("fail_under = 85", "fail_under = 40")),
    edit("coverage threshold in package.json", PACKAGE, ('"branches": 80', '"branches": 10')),
    edit("strict off", PYPROJECT, ("strict = true", "strict = false")),
    edit("lint rule off", ESLINT, ('"no-unused-vars": "error"', '"no-unused-vars": "off"')),
    edit("ci continue on error", CI, ("        run: mypy shop", "        continue-on-error: true\n        run: mypy shop")),
    edit("ci or true", CI, ("--cov-fail-under=85", "--cov-fail-under=85 || true")),
    edit("test script empty", PACKAGE, ('"jest --coverage"', '"echo ok"')),
    Case("snapshot rewritten", (("src/__snapshots__/a.test.js.snap", "exports[`a`] = `1`;\n", "exports[`a`] = `2`;\n"),)),
]  # fmt: skip

HONEST = [
    edit("py renamed", PRICING, ("test_discount_for_bulk", "test_bulk_discount")),
    edit("py new test", PRICING, ("def test_negative", "def test_no_discount():\n    assert discount(quantity=1, unit_price=10.0, rate=0) == 10.0\n\n\ndef test_negative")),
    edit("py new assertion", PRICING, ("    assert result == 850.0", "    assert result == 850.0\n    assert discount(quantity=1, unit_price=2.0, rate=0.5) == 1.0")),
    edit("py new row", PRICING, ("(9.999, 10.0)]", "(9.999, 10.0), (0.0, 0.0)]")),
    edit("py message added", PRICING, ("assert result == 850.0", 'assert result == 850.0, f"got {result}"')),
    edit("py expectation with code", PRICING, ("== 850.0", "== 840.0"), code=True),
    edit("py row with code", PRICING, ("(2.344, 2.34)", "(2.344, 2.35)"), code=True),
    edit("py inlined", PRICING, ("    result = discount(quantity=100, unit_price=10.0, rate=0.15)\n    assert result == 850.0", "    assert discount(quantity=100, unit_price=10.0, rate=0.15) == 850.0")),
    edit("py variable renamed", PRICING, ("    report = stock.report(cart)\n    assert len(report) == 2\n    assert report[0][\"name\"] == \"apple\"\n    assert report[0][\"count\"] == 3\n    assert report[1][\"name\"] == \"pear\"", "    lines = stock.report(cart)\n    assert len(lines) == 2\n    assert lines[0][\"name\"] == \"apple\"\n    assert lines[0][\"count\"] == 3\n    assert lines[1][\"name\"] == \"pear\"")),
    edit("py merged into one comparison", PRICING, ("    assert report[0][\"name\"] == \"apple\"\n    assert report[0][\"count\"] == 3\n", "    assert report[0] == {\"name\": \"apple\", \"count\": 3}\n")),
    edit("py helper", PRICING, ("def test_report_has_every_line(cart):\n    report = stock.report(cart)\n    assert len(report) == 2\n    assert report[0][\"name\"] == \"apple\"\n    assert report[0][\"count\"] == 3\n    assert report[1][\"name\"] == \"pear\"", "def check_line(line, name, count):\n    assert line[\"name\"] == name\n    assert line[\"count\"] == count\n\n\ndef test_report_has_every_line(cart):\n    report = stock.report(cart)\n    assert len(report) == 2\n    check_line(report[0], \"apple\", 3)\n    check_line(report[1], \"pear\", 2)")),
    edit("py tests merged into rows", PRICING, (piece(PRICING, "def test_total(cart)", "def test_discount"), "@pytest.mark.parametrize(\"lines,expected\", [([(\"apple\", 3, 1.5), (\"pear\", 2, 2.0)], 8.5), ([], 0)])\ndef test_total(lines, expected):\n    assert total(lines) == expected\n\n\n")),
    edit("py fixture changed", PRICING, ('[("apple", 3, 1.5), ("pear", 2, 2.0)]', '[("apple", 3, 1.5), ("pear", 1, 4.0)]')),
    edit("py stricter error", PRICING, ('match="quantity"', 'match="quantity must not be negative"')),
    edit("py tighter tolerance", PRICING, ("abs=1e-9", "abs=1e-12")),
    edit("py tighter limit", PRICING, ("< 0.5", "< 0.1")),
    edit("py exact float to approx", PRICING, ("assert result == 850.0", "assert result == pytest.approx(850.0)")),
    edit("py skip on a platform", PRICING, ("import pytest\n", "import sys\n\nimport pytest\n"), ("def test_it_is_fast", "@pytest.mark.skipif(sys.platform == 'win32', reason='no timer')\ndef test_it_is_fast")),
    edit("py unittest to assert", USERS, ('        self.assertEqual(self.user.name, "ann")\n        self.assertEqual(self.user.email, "ann@example.com")', '        assert self.user.name == "ann"\n        assert self.user.email == "ann@example.com"')),
    edit("py dependency mocked", PRICING, ("def test_it_is_fast():\n", "def test_it_is_fast(monkeypatch):\n    monkeypatch.setattr(\"shop.stock.requests.get\", lambda url: None)\n")),
    edit("py split", USERS, ('    def test_email_needs_an_at(self):\n        self.assertFalse(validate_email("nobody"))\n        self.assertTrue(validate_email("a@b.org"))', '    def test_email_without_at(self):\n        self.assertFalse(validate_email("nobody"))\n\n    def test_email_with_at(self):\n        self.assertTrue(validate_email("a@b.org"))')),
    edit("py mock value with code", USERS, ("return_value = 250", "return_value = 251"), ("welcome(self.user), 250)", "welcome(self.user), 251)"), code=True),
    edit("py comments and docstring", PRICING, ("def test_discount_for_bulk():\n", 'def test_discount_for_bulk():\n    """Bulk orders get 15 percent off."""\n    # 100 * 10 * 0.85\n')),
    edit("py moved to a class", PRICING, (BULK, "class TestDiscount:\n    def test_discount_for_bulk(self):\n        result = discount(quantity=100, unit_price=10.0, rate=0.15)\n        assert result == 850.0\n\n\n")),
    Case("py moved to another file", ((PRICING, base(PRICING), base(PRICING).replace(BULK, "")), ("tests/test_discount.py", None, "from shop.pricing import discount\n\n\n" + BULK))),
    Case("py test file renamed", ((PRICING, base(PRICING), None), ("tests/unit/test_pricing.py", None, base(PRICING)))),
    Case("py obsolete with the code", ((PRICING, base(PRICING), base(PRICING).replace(BULK, "")), ("shop/pricing.py", "def discount(q):\n    return q\n\n\ndef total(c):\n    return 1\n", "def total(c):\n    return 1\n"))),
    edit("py loop", PRICING, ("    assert total(cart) == 8.5\n    assert total([]) == 0", "    for lines, expected in ((cart, 8.5), ([], 0)):\n        assert total(lines) == expected")),
    edit("py raises as a call", USERS, ('        with self.assertRaises(ValueError):\n            create_user("ann", "ann@example.com")', '        self.assertRaises(ValueError, create_user, "ann", "ann@example.com")')),
    edit("py formatted", PRICING, ("    result = discount(quantity=100, unit_price=10.0, rate=0.15)\n", "    result = discount(\n        quantity=100,\n        unit_price=10.0,\n        rate=0.15,\n    )\n")),
    edit("js renamed", CALC, ("test('divides'", "test('divides two numbers'")),
    edit("js new test", CALC, ("  test('divides'", "  test('adds nothing', () => {\n    expect(add()).toBe(NaN);\n  });\n\n  test('divides'")),
    edit("js expectation with code", CALC, ("toBeCloseTo(1628.89, 2)", "toBeCloseTo(1647.01, 2)"), code=True),
    edit("js new row", CALC, ("[10, 5, 15]]", "[10, 5, 15], [0, 0, 0]]")),
    edit("js merged", VALIDATOR, ("    expect(isEmail('nobody')).toBe(false);\n    expect(isEmail('')).toBe(false);\n", "    for (const text of ['nobody', '']) {\n      expect(isEmail(text)).toBe(false);\n    }\n")),
    edit("js stricter", VALIDATOR, ("toEqual({ country: 43", "toStrictEqual({ country: 43")),
    edit("js more digits", CALC, ("toBeCloseTo(1628.89, 2)", "toBeCloseTo(1628.8946, 4)")),
    edit("js tighter error", CALC, ("toThrow(RangeError)", "toThrow('division by zero')")),
    edit("js beforeEach", CALC, ("describe('calc', () => {\n", "describe('calc', () => {\n  beforeEach(() => {\n    jest.clearAllMocks();\n  });\n\n")),
    edit("js const inlined", CALC, ("    const result = compound(1000, 0.05, 10);\n    expect(result).toBeCloseTo", "    expect(compound(1000, 0.05, 10)).toBeCloseTo")),
    edit("js dependency mocked", VALIDATOR, ("describe('validator'", "vi.mock('../src/logger');\n\ndescribe('validator'")),
    edit("js clock stubbed", VALIDATOR, ("    const start = clock.now();\n", "    vi.useFakeTimers();\n    const start = clock.now();\n")),
    edit("js tighter limit", VALIDATOR, ("toBeLessThan(50)", "toBeLessThan(10)")),
    edit("js inline snapshot with code", VALIDATOR, ('"number":"555"}', '"number":"555","valid":true}'), code=True),
    edit("coverage raised", PYPROJECT, ("fail_under = 85", "fail_under = 90")),
    edit("rule added", PYPROJECT, ('"B", "S"]', '"B", "S", "UP"]')),
    edit("dependency bumped", PACKAGE, ('"axios": "1.6.0"', '"axios": "1.7.2"')),
    edit("rule stricter", ESLINT, ('"no-console": "warn"', '"no-console": "error"')),
    edit("ci job added", CI, ("      - name: Test\n", "      - name: Build\n        run: python -m build\n      - name: Test\n")),
    Case("snapshot with code", (("src/__snapshots__/a.test.js.snap", "exports[`a`] = `1`;\n", "exports[`a`] = `2`;\n"), ("src/a.js", "exports.a = 1;\n", "exports.a = 2;\n"))),
]  # fmt: skip
