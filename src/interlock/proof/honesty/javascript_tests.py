"""JavaScript and TypeScript tests: what a file's tests check, from its syntax tree."""

from __future__ import annotations

import re

from tree_sitter import Node

from .test_file import Assertion, Strength, TestCase, TestFile, squeezed
from .trees import given_to, leaves, line_of, number, parse, repeated, text_of, walk

LITERALS = frozenset((
    "number", "string", "true", "false", "null", "undefined", "array", "object", "template_string", "regex",
    "unary_expression",
))  # fmt: skip
_TESTS = frozenset(("test", "it", "specify", "xit", "xtest", "fit", "xspecify", "Deno.test"))
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
    "match": "member", "closeTo": "near", "notEqual": "shape", "true": "exact", "false": "exact", "a": "shape",
    "an": "shape", "above": "bound", "below": "bound", "least": "bound", "most": "bound", "isTrue": "exact",
    "isFalse": "exact", "isOk": "truthy", "instanceOf": "shape", "lengthOf": "exact", "property": "member",
}  # fmt: skip
_LIMITS = {
    "toBeGreaterThan": ">", "toBeGreaterThanOrEqual": ">=", "toBeLessThan": "<", "toBeLessThanOrEqual": "<=",
    "above": ">", "least": ">=", "below": "<", "most": "<=",
}  # fmt: skip
_ANYTHING = re.compile(r"expect\.any(?:thing)?\(|expect\.objectContaining\(\{\}\)")


def read_javascript(text: str, language: str) -> TestFile | None:
    """The tests of a JavaScript or TypeScript file or fragment."""
    root = parse(text, language)
    if root is None:
        return None
    found = TestFile()
    loose = TestCase("", 1)
    _visit(root, "", "", found, loose)
    if loose.asserts:
        found.tests[""] = loose
    return found


def _visit(node: Node, prefix: str, skip: str, found: TestFile, case: TestCase) -> None:
    for child in node.children:
        if child.type == "call_expression" and _called(child, prefix, skip, found, case):
            continue
        if child.type in ("import_statement", "lexical_declaration", "variable_declaration"):
            _imports(child, found)
        if child.type in ("function_declaration", "variable_declarator"):
            name = text_of(child.child_by_field_name("name"))
            if re.search(r"\bexpect\(|\bassert\b", text_of(child)) and (
                "=>" in text_of(child) or "function" in text_of(child)[:40]
            ):
                found.helpers.add(name)
        if child.type == "return_statement" and case.name and node.parent is not None and not case.asserts:
            case.calls.add("return")
        _visit(child, prefix, skip, found, case)


def _called(node: Node, prefix: str, skip: str, found: TestFile, case: TestCase) -> bool:
    """Read one call; True if its children are to be read too."""
    function = node.child_by_field_name("function")
    name = text_of(function)
    given = given_to(node)
    base, *marks = re.sub(r"\(.*", "", name, flags=re.DOTALL).split(".")
    if base in _TESTS or base in _GROUPS:
        each = _table(function)
        return _declared(node, base, marks, given, each, prefix, skip, found)
    if name in ("jest.mock", "vi.mock", "jest.doMock", "vi.doMock") and given:
        found.mocks[text_of(given[0]).strip("\"'`")] = line_of(node)
    elif name in ("jest.spyOn", "vi.spyOn", "sinon.stub") and len(given) > 1:
        chain = text_of(node.parent.parent) if node.parent is not None and node.parent.parent is not None else ""
        if name == "sinon.stub" or ".mock" in chain:
            case.mocks.add(f"{text_of(given[0])}.{text_of(given[1]).strip(chr(34) + chr(39))}")
    elif re.search(r"\.mock(?:Return|Resolved|Rejected)Value(?:Once)?$|\.mockImplementation$", name) and given:
        found.returns[f"{case.name}:{squeezed(name)}"] = squeezed(text_of(given[0]))
    elif name in ("jest.retryTimes", "this.retries", "vi.retryTimes"):
        found.loose.append("retries")
    elif name in ("this.skip", "t.skip", "ctx.skip", "pending"):
        if not _under_condition(node):
            case.skip = case.skip or "skip"
    elif _asserted(node, name, given, case):
        return True
    case.calls.add(name)
    return False


def _declared(
    node: Node, base: str, marks: list[str], given: list[Node], rows: list[str], prefix: str, skip: str, found: TestFile
) -> bool:
    title = text_of(given[0]).strip("\"'`") if given else ""
    body = next(
        (each for each in reversed(given) if each.type in ("arrow_function", "function_expression", "function")), None
    )
    skipped = skip or ("skip" if "skip" in marks or base.startswith("x") else "")
    if base in _GROUPS:
        if body is not None:
            only = TestCase(title, line_of(node), only="only" in marks or base.startswith("f"))
            if only.only:
                found.loose.append(f"only:{title}")
            _visit(body, f"{prefix}{title} > ", skipped, found, TestCase(f"{prefix}{title}", line_of(node)))
        return True
    if not given or given[0].type not in (
        "string",
        "template_string",
        "identifier",
        "member_expression",
        "binary_expression",
    ):
        return False
    case = TestCase(f"{prefix}{title}", line_of(node), skip=skipped, rows=rows, only="only" in marks or base == "fit")
    if "todo" in marks or (body is None and "skip" not in marks and len(given) == 1 and base in _TESTS):
        case.skip = case.skip or "todo"
    case.xfail = "fails" in marks or "failing" in marks
    options = [text_of(each) for each in given[1:] if each.type == "object"]
    if any(re.search(r"\bskip:\s*true", option) for option in options):
        case.skip = case.skip or "skip"
    case.retries = any(re.search(r"\bretry:\s*[1-9]", option) for option in options)
    if body is not None:
        case.body = squeezed(text_of(body))
        _visit(body, prefix, skip, found, case)
    found.tests[case.name] = case
    return True


def _table(function: Node | None) -> list[str]:
    """The rows of `test.each([...])`."""
    if function is None or function.type != "call_expression":
        return []
    lists = [each for each in given_to(function) if each.type == "array"]
    return [squeezed(text_of(each)) for each in lists[0].named_children if each.type != "comment"] if lists else []


def _asserted(node: Node, name: str, given: list[Node], case: TestCase) -> bool:
    """Read an assertion: `expect(x).toBe(y)`, `assert.equal(x, y)`, `x.should.equal(y)`, `cy.get(x).should(...)`."""
    line, guard = line_of(node), _guard(node, case)
    last = name.rpartition(".")[2]
    values = [squeezed(text_of(each)) for each in given]
    subject = _expected_of(node)
    if subject is not None:
        _expect(case, subject, name, last, given, line, guard)
        return True
    if name == "assert" or (name.startswith(("assert.", "t.", "strict.")) and last in _MATCHERS):
        strength = _MATCHERS.get(last, "truthy") if name != "assert" else "truthy"
        first = values[0] if values else ""
        second = values[1] if len(values) > 1 else ""
        literal = len(given) > 1 and given[1].type in LITERALS
        if strength == "error":
            case.asserts.append(Assertion("raises", second, "error", line, 1 + bool(second), guard=guard, literal=True))
            return False
        if (given and given[0].type in LITERALS and (not second or literal)) or (second and first == second):
            strength = "trivial"
        weight = leaves(given[1]) if len(given) > 1 and strength == "exact" else 1
        expected = second if strength == "exact" else ""
        case.asserts.append(Assertion(first, expected, strength, line, weight, guard=guard, literal=literal))
        return False
    if re.search(r"\.should$", name) and given:
        case.asserts.append(
            Assertion(squeezed(name[:-7]), ",".join(values), "exact", line, len(values), guard=guard, literal=True)
        )
        return False
    return False


def _expected_of(node: Node) -> Node | None:
    """The `expect(x)` at the beginning of a chain that this call ends."""
    at = node.child_by_field_name("function")
    if node.parent is not None and node.parent.type == "member_expression":
        return None
    while at is not None and at.type in ("member_expression", "call_expression", "await_expression"):
        if at.type == "call_expression" and text_of(at.child_by_field_name("function")) in ("expect", "expect.soft"):
            return at
        at = at.child_by_field_name("object") or at.child_by_field_name("function")
    return None


def _expect(case: TestCase, subject: Node, name: str, last: str, given: list[Node], line: int, guard: str) -> None:
    looked = given_to(subject)
    first = squeezed(text_of(looked[0])) if looked else ""
    negated = ".not." in name
    strength = _MATCHERS.get(last, "other")
    value = squeezed(text_of(given[0])) if given else ""
    literal = bool(given) and given[0].type in LITERALS
    tolerance = None
    if strength == "near":
        digits = text_of(given[1]) if len(given) > 1 else "2"
        tolerance = 10.0 ** -float(digits) if re.fullmatch(r"-?\d+", digits) else None
    elif strength == "bound":
        tolerance = number(value)
        if first.endswith(".length") and last == "toBeGreaterThanOrEqual" and value == "0":
            strength = "trivial"
    elif strength == "error":
        first = f"raises{'not' if negated else ''}"
        literal = True
    if negated and strength == "exact":
        strength = "truthy" if value in ("null", "undefined", '""', "") else "shape"
    if strength == "exact" and _ANYTHING.match(value):
        strength = "shape"
    if (looked and looked[0].type in LITERALS and (literal or not given)) or (
        strength == "exact" and value and value == first
    ):
        strength = "trivial"
    weight = leaves(given[0]) if given and strength == "exact" else 2 if strength == "error" and given else 1
    weight *= repeated(subject, subject, "right")
    expected = value if given else last
    case.asserts.append(
        Assertion(
            first, expected, strength, line, weight, tolerance, _LIMITS.get(last, ""), guard, literal or not given
        )
    )
    for each in walk(subject):
        if each.type == "call_expression":
            case.calls.add(text_of(each.child_by_field_name("function")))


def _guard(node: Node, case: TestCase) -> str:
    """What hides a failure: a catch that swallows it, or a condition."""
    if "return" in case.calls:
        return "after an early return"
    child, at = node, node.parent
    while at is not None and at.type not in (
        "arrow_function",
        "function_expression",
        "function_declaration",
        "program",
    ):
        if at.type == "try_statement" and child.id == (at.child_by_field_name("body") or at).id:
            handler = at.child_by_field_name("handler")
            caught = text_of(handler)
            if handler is not None and not re.search(r"\bthrow\b|\bexpect\(|\bassert|\bfail\(|done\(", caught):
                return "its failure is caught"
        elif at.type == "if_statement":
            condition = text_of(at.child_by_field_name("condition"))
            if squeezed(condition) in ("(false)", "(0)"):
                return "it never runs"
            if at.child_by_field_name("alternative") is None:
                return f"only if {condition.strip('()')[:60]}"
        child, at = at, at.parent
    return ""


def _under_condition(node: Node) -> bool:
    at = node.parent
    while at is not None and at.type not in ("arrow_function", "function_expression"):
        if at.type in ("if_statement", "ternary_expression"):
            return True
        at = at.parent
    return False


_REQUIRE = re.compile(r"(?:const|let|var)\s+(\{[^}]*\}|\w+)\s*=\s*(?:await\s+)?(?:require|import)\(\s*['\"`]([^'\"`]+)")
_IMPORT = re.compile(r"import\s+(?:type\s+)?(?:(\w+)\s*,?\s*)?(?:\*\s+as\s+(\w+)|(\{[^}]*\}))?\s*from\s*['\"]([^'\"]+)")


def _imports(node: Node, found: TestFile) -> None:
    text = text_of(node)[:2_000]
    for names, module in _REQUIRE.findall(text):
        for name in re.findall(r"(?:\w+\s*:\s*)?(\w+)", names):
            found.imports[name] = module
    for default, star, names, module in _IMPORT.findall(text):
        for name in filter(None, (default, star, *re.findall(r"(?:\w+\s+as\s+)?(\w+)", names))):
            found.imports[name] = module
