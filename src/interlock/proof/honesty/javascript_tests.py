"""JavaScript and TypeScript tests: what a file's tests check, by its tokens and brackets."""

from __future__ import annotations

import re

from .test_file import Assertion, Strength, TestCase, TestFile

MAX_CHARS = 400_000
LOOPED = 5
"""Assumed iterations of a loop whose items are not written out."""
_TESTS = frozenset(("test", "it", "specify", "xit", "xtest", "fit", "xspecify"))
_GROUPS = frozenset(("describe", "context", "suite", "xdescribe", "fdescribe"))
_MATCHERS: dict[str, Strength] = {
    "toBe": "exact", "toEqual": "exact", "toStrictEqual": "exact", "toMatchObject": "exact", "toHaveLength": "exact",
    "toBeCloseTo": "near", "toBeTruthy": "truthy", "toBeFalsy": "truthy", "toBeDefined": "truthy", "toBeNull": "exact",
    "toBeUndefined": "exact", "toBeInstanceOf": "shape", "toContain": "member", "toContainEqual": "member",
    "toMatch": "member", "toThrow": "error", "toThrowError": "error", "toBeGreaterThan": "bound",
    "toBeGreaterThanOrEqual": "bound", "toBeLessThan": "bound", "toBeLessThanOrEqual": "bound",
    "toMatchSnapshot": "exact", "toMatchInlineSnapshot": "exact", "toHaveProperty": "member", "toBeNaN": "exact",
    "equal": "exact", "eql": "exact", "deepEqual": "exact", "strictEqual": "exact", "deepStrictEqual": "exact",
    "ok": "truthy", "exist": "truthy", "throws": "error", "throw": "error", "rejects": "error", "include": "member",
    "match": "member", "closeTo": "near", "notEqual": "shape", "isTrue": "exact", "isFalse": "exact",
}  # fmt: skip
_LIMITS = {"toBeGreaterThan": ">", "toBeGreaterThanOrEqual": ">=", "toBeLessThan": "<", "toBeLessThanOrEqual": "<="}
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`)"
    r"|(?P<word>[\w$]+(?:\.\d+)?)|(?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*)|(?P<sign>=>|\.\.\.|.)",
    re.DOTALL,
)
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+") | {"", "return", "=>"}
_OPEN = {"(": ")", "[": "]", "{": "}"}
_ANYTHING = ("expect.any", "expect.objectContaining({})")


class Tokens:
    """The tokens of a program without its comments: their texts, their lines, and where each bracket ends."""

    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self.lines: list[int] = []
        self.ends: dict[int, int] = {}
        at, line, waiting = 0, 1, list[int]()
        while at < len(text):
            found = _TOKEN.match(text, at)
            assert found is not None
            word = found[0]
            if found.lastgroup == "regex" and (self.texts[-1] if self.texts else "") not in _BEFORE_REGEX:
                word = word[0]
            if found.lastgroup != "skip":
                if word in _OPEN:
                    waiting.append(len(self.texts))
                elif waiting and word == _OPEN[self.texts[waiting[-1]]]:
                    self.ends[waiting.pop()] = len(self.texts)
                self.texts.append(word)
                self.lines.append(line)
            line += word.count("\n")
            at += len(word)

    def text(self, start: int, end: int) -> str:
        return "".join(self.texts[start:end]).replace("'", '"')

    def arguments(self, at: int) -> list[tuple[int, int]]:
        """Where each of the parts in a bracket is."""
        parts, start, end = list[tuple[int, int]](), at + 1, self.ends.get(at, at)
        here = start
        while here < end:
            if self.texts[here] == ",":
                parts.append((start, here))
                start = here + 1
            here = self.ends.get(here, here) + 1
        return [part for part in (*parts, (start, end)) if part[0] < part[1]]


def same_javascript(before: str, after: str) -> bool:
    """Whether two programs differ only in comments and spaces."""
    return Tokens(before).texts == Tokens(after).texts


def read_javascript(text: str) -> TestFile | None:
    """The tests of a JavaScript or TypeScript file."""
    if len(text) > MAX_CHARS:
        return None
    tokens, found, loose = Tokens(text), TestFile(), TestCase("", 1)
    _imports(text, found)
    _Reader(tokens, found).read(0, len(tokens.texts), loose, "", "", "", 1)
    if loose.asserts:
        found.tests[""] = loose
    return found


class _Reader:
    def __init__(self, tokens: Tokens, found: TestFile) -> None:
        self._tokens, self._found = tokens, found

    def read(self, at: int, end: int, case: TestCase, prefix: str, skip: str, guard: str, times: int) -> None:
        """Read a range of tokens for a case. `guard` hides its failures; it runs so many times."""
        tokens, texts = self._tokens, self._tokens.texts
        while at < end:
            word, after = texts[at], texts[at + 1] if at + 1 < end else ""
            if word == "try" and after == "{":
                stop = tokens.ends.get(at + 1, end)
                rest = next((i for i in range(stop, min(stop + 8, end)) if texts[i] == "{"), stop)
                handler = tokens.texts[rest : tokens.ends.get(rest, rest)]
                swallows = texts[stop + 1 : stop + 2] == ["catch"] and _FAILS.isdisjoint(handler)
                self.read(
                    at + 2, stop, case, prefix, skip, guard or ("its failure is caught" if swallows else ""), times
                )
                at = stop
            elif word in ("if", "for", "while") and after == "(":
                head = tokens.ends.get(at + 1, at + 1)
                stop = tokens.ends.get(head + 1, _statement_end(texts, head, end))
                inner, more = guard, times
                if word == "if" and texts[stop + 1 : stop + 2] != ["else"]:
                    condition = tokens.text(at + 2, head)
                    inner = guard or ("it never runs" if condition in ("false", "0") else f"only if {condition[:60]}")
                elif word != "if":
                    listed = next((i for i in range(at + 2, head) if texts[i] == "["), None)
                    more *= len(tokens.arguments(listed)) if listed is not None and "of" in texts[at:head] else LOOPED
                self.read(head + 1, stop, case, prefix, skip, inner, more)
                at = stop
            elif word == "return" and case.name and not case.asserts and after != "expect":
                guard = guard or "after an early return"
            elif (word.isidentifier() or word[0] == "$") and (not at or texts[at - 1] != "."):
                at = self._chain(at, end, case, prefix, skip, guard, times)
            at += 1

    def _chain(self, at: int, end: int, case: TestCase, prefix: str, skip: str, guard: str, times: int) -> int:
        """Read a name with its members and calls; returns the last token that needs no further look."""
        tokens, texts = self._tokens, self._tokens.texts
        start, names, calls = at, [texts[at]], list[int]()
        while at + 1 < end:
            if texts[at + 1] == "." and at + 2 < end:
                at += 2
                names.append(texts[at])
            elif texts[at + 1] == "(" and at + 1 in tokens.ends:
                calls.append(at + 1)
                name = ".".join(names)
                case.calls.add(name)
                if names[0] in _TESTS | _GROUPS and (names[-1] != "each" or len(calls) > 1):
                    return self._declared(names, calls, case, prefix, skip)
                at = tokens.ends[at + 1]
            else:
                break
        if not calls:
            return start
        name, last, given = ".".join(names), names[-1], tokens.arguments(calls[-1])
        values = [tokens.text(*part) for part in given]
        line = tokens.lines[start]
        if names[0] == "expect" and len(names) > 1 and len(calls) > 1:
            looked = tokens.arguments(calls[0])
            self._expect(case, names, tokens.text(*looked[0]) if looked else "", values, line, guard, times)
            self.read(calls[0] + 1, tokens.ends[calls[0]], case, prefix, skip, guard, times)
            return at
        if name == "assert" or (names[0] in ("assert", "t", "strict") and last in _MATCHERS):
            _assert(case, last, values, line, guard)
        elif name in ("jest.mock", "vi.mock", "jest.doMock", "vi.doMock") and values:
            self._found.mocks[values[0].strip('"`')] = line
        elif names[:2] in (["jest", "spyOn"], ["vi", "spyOn"], ["sinon", "stub"]):
            spied = [tokens.text(*part) for part in tokens.arguments(calls[0])]
            if len(spied) > 1 and (names[0] == "sinon" or any("mock" in each for each in names[2:])):
                case.mocks.add(f"{spied[0]}.{spied[1].strip(chr(34))}")
        elif name in ("jest.retryTimes", "vi.retryTimes", "this.retries"):
            self._found.loose.append("retries")
        elif name in ("this.skip", "t.skip", "ctx.skip", "pending") and not guard:
            case.skip = case.skip or "skip"
        if last.startswith("mock") and values:
            self._found.returns[f"{case.name}:{name}"] = values[0]
        for call in calls:
            self.read(call + 1, tokens.ends[call], case, prefix, skip, guard, times)
        return at

    def _declared(self, names: list[str], calls: list[int], case: TestCase, prefix: str, skip: str) -> int:
        """A test or a group of tests."""
        tokens, texts = self._tokens, self._tokens.texts
        base, marks, at = names[0], names[1:], calls[-1]
        given, rows = tokens.arguments(at), list[str]()
        if len(calls) > 1:
            table = next((i for i in range(calls[0], tokens.ends[calls[0]]) if texts[i] == "["), None)
            rows = [tokens.text(*part) for part in tokens.arguments(table)] if table is not None else []
        title = tokens.text(*given[0]).strip('"`') if given else ""
        body = given[-1] if given and any(texts[i] in ("=>", "function") for i in range(*given[-1])) else None
        skipped = skip or ("skip" if "skip" in marks or base.startswith("x") else "")
        only = "only" in marks or base.startswith("f")
        if base in _GROUPS:
            self._found.loose.extend((f"only:{title}",) if only else ())
            case, prefix = TestCase(f"{prefix}{title}", tokens.lines[at]), f"{prefix}{title} > "
        else:
            case = TestCase(f"{prefix}{title}", tokens.lines[at], skip=skipped, rows=rows, only=only)
            if "todo" in marks or (body is None and len(given) == 1):
                case.skip = case.skip or "todo"
            case.xfail = "fails" in marks or "failing" in marks
            options = [tokens.text(*part) for part in given[1:-1]]
            case.skip = case.skip or ("skip" if any("skip:true" in each for each in options) else "")
            case.retries = any(re.search(r"\bretry:[1-9]", each) for each in options)
            self._found.tests[case.name] = case
        if body is not None:
            case.body = tokens.text(*body)
            inside = next((i for i in range(*body) if texts[i] in ("=>", "{")), body[0])
            self.read(inside, body[1], case, prefix, skipped, "", 1)
        return tokens.ends[at]

    def _expect(
        self, case: TestCase, names: list[str], subject: str, values: list[str], line: int, guard: str, times: int
    ) -> None:
        last, value, negated = names[-1], values[0] if values else "", "not" in names
        strength: Strength = _MATCHERS.get(last, "other")
        literal, tolerance = _is_literal(value), None
        if strength == "near":
            digits = values[1] if len(values) > 1 else "2"
            tolerance = 10.0 ** -float(digits) if re.fullmatch(r"-?\d+", digits) else None
        elif strength == "bound":
            tolerance = _number(value)
        elif strength == "error":
            subject, literal = f"raises{'not' if negated else ''}", True
        if negated and strength == "exact":
            strength = "truthy" if value in ("null", "undefined", '""', "") else "shape"
        if strength == "exact" and value.startswith(_ANYTHING):
            strength = "shape"
        if (_is_literal(subject) and (literal or not values)) or (strength == "exact" and value and value == subject):
            strength = "trivial"
        weight = max(1, value.count(",") + 1) if value[:1] in ("{", "[") else 2 if strength == "error" and values else 1
        case.asserts.append(
            Assertion(
                subject, value if values else last, strength, line, weight * times, tolerance, _LIMITS.get(last, ""),
                guard, literal or not values,
            )
        )  # fmt: skip


_FAILS = frozenset(("throw", "expect", "assert", "fail", "done"))


def _assert(case: TestCase, last: str, values: list[str], line: int, guard: str) -> None:
    """`assert(x)`, `assert.equal(x, y)`."""
    strength: Strength = _MATCHERS.get(last, "truthy")
    first, second = [*values, "", ""][:2]
    literal = _is_literal(second)
    if strength == "error":
        case.asserts.append(Assertion("raises", second, "error", line, 1 + bool(second), guard=guard, literal=True))
        return
    if (_is_literal(first) and (not second or literal)) or (second and first == second):
        strength = "trivial"
    expected = second if strength == "exact" else ""
    case.asserts.append(Assertion(first, expected, strength, line, guard=guard, literal=literal))


def _statement_end(texts: list[str], at: int, end: int) -> int:
    """The end of a statement without braces."""
    return next((i for i in range(at + 1, end) if texts[i] in (";", "}")), end)


def _is_literal(text: str) -> bool:
    return (
        text[:1] in ('"', "`", "[", "{", "/", "-")
        or text[:1].isdigit()
        or text in ("true", "false", "null", "undefined")
    )


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


_REQUIRE = re.compile(r"(?:const|let|var)\s+(\{[^}]*\}|\w+)\s*=\s*(?:await\s+)?(?:require|import)\(\s*['\"`]([^'\"`]+)")
_IMPORT = re.compile(r"import\s+(?:type\s+)?(?:(\w+)\s*,?\s*)?(?:\*\s+as\s+(\w+)|(\{[^}]*\}))?\s*from\s*['\"]([^'\"]+)")


def _imports(text: str, found: TestFile) -> None:
    for names, module in _REQUIRE.findall(text):
        found.imports.update(dict.fromkeys(re.findall(r"(?:\w+\s*:\s*)?(\w+)", names), module))
    for default, star, names, module in _IMPORT.findall(text):
        for name in filter(None, (default, star, *re.findall(r"(?:\w+\s+as\s+)?(\w+)", names))):
            found.imports[name] = module
