"""Python tests: what a file's tests check, from its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from .test_file import Assertion, Strength, TestCase, TestFile, squeezed

MAX_CHARS = 400_000
"""Larger files are not parsed."""
LOOPED = 5
"""Assumed iterations of a loop whose items are not written out."""
_METHODS: dict[str, Strength] = {
    "assertEqual": "exact", "assertEquals": "exact", "assertDictEqual": "exact", "assertListEqual": "exact",
    "assertSequenceEqual": "exact", "assertMultiLineEqual": "exact", "assertCountEqual": "exact", "assertIs": "exact",
    "assertAlmostEqual": "near", "assertTrue": "truthy", "assertFalse": "truthy", "assertIsNone": "exact",
    "assertIsNotNone": "truthy", "assertIn": "member", "assertNotIn": "member", "assertRaises": "error",
    "assertRaisesRegex": "error", "assertIsInstance": "shape", "assertNotEqual": "other", "assertGreater": "bound",
    "assertLess": "bound", "assertGreaterEqual": "bound", "assertLessEqual": "bound", "assertRegex": "member",
    "assertSetEqual": "exact", "assertTupleEqual": "exact", "fail": "other", "assertContains": "member",
    "assertQuerysetEqual": "exact", "assertLogs": "error", "assertWarns": "error",
}  # fmt: skip
_LIMITS = {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}
_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
          ast.IsNot: "isnot", ast.In: "in", ast.NotIn: "notin"}  # fmt: skip
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_BOTH = ("[True,False]", "(True,False)", "{True,False}", "[False,True]", "(False,True)")
_PLATFORM = re.compile(
    r"platform|version|sys\.|which|import|HAS_|has_|os\.name|find_spec|available|WINDOWS|getuid|shutil",
)
_PATCHES = re.compile(r"(?:^|\.)(?:patch|patch\.object|setattr|patch\.multiple|spy)$")
_SKIPS = ("pytest.skip(", "self.skipTest(", "raiseSkipTest", "pytest.xfail(", "raiseunittest.SkipTest")
_CLOSE = ("math.isclose", "np.allclose", "numpy.allclose", "np.isclose", "isclose")


def parse(text: str) -> ast.Module | None:
    """The tree of a whole file; None if it is not valid, or too long."""
    try:
        return ast.parse(text) if len(text) <= MAX_CHARS else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def read_python(text: str) -> TestFile | None:
    """The tests of a Python file."""
    tree = parse(text)
    if tree is None:
        return None
    found = TestFile()
    loose = TestCase("", 1, body=squeezed(text) if len(text) < 20_000 else "")
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = f"{'.' * node.level}{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            found.imports.update({each.asname or each.name: f"{of}{each.name}" for each in node.names})
    _definitions(tree.body, "", "", found)
    others = [each for each in tree.body if not isinstance(each, _DEFINES | ast.ClassDef)]
    for each in others:
        text = squeezed(ast.unparse(each))
        if text.startswith("pytestmark="):
            _mark(loose, text)
        elif text.startswith(("pytest.skip(", "collect_ignore")):
            loose.skip = loose.skip or text[:60]
    _Body(others, loose, found).read()
    if loose.asserts or loose.mocks or loose.skip or loose.xfail or any(key[0] == ":" for key in found.returns):
        found.tests[""] = loose
    return found


_DEFINES = ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(body: Iterable[ast.stmt], prefix: str, skip: str, found: TestFile) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef):
            marks = TestCase(node.name, node.lineno)
            _decorate(marks, node.decorator_list)
            _definitions(node.body, f"{prefix}{node.name}.", skip or marks.skip, found)
        elif isinstance(node, _DEFINES) and (node.name.startswith("test") or not prefix):
            text = squeezed("\n".join(map(ast.unparse, node.body)))
            case = TestCase(f"{prefix}{node.name}", node.lineno, skip=skip, body=text)
            _decorate(case, node.decorator_list)
            _Body(node.body, case, found).read()
            if node.name.startswith("test"):
                found.tests[case.name] = case
                continue
            found.helpers.update((node.name,) if case.asserts else ())
            found.mocks.update(dict.fromkeys(case.mocks, case.line))


def _decorate(case: TestCase, decorators: Iterable[ast.expr]) -> None:
    for decorator in decorators:
        text = squeezed(ast.unparse(decorator))
        _mark(case, text)
        if "parametrize(" in text and isinstance(decorator, ast.Call):
            lists = [each for each in decorator.args if isinstance(each, ast.List | ast.Tuple)]
            case.rows = [squeezed(ast.unparse(each)) for each in lists[-1].elts] if lists else case.rows
        case.mocks.update(_mocked(decorator))


def _mark(case: TestCase, text: str) -> None:
    if re.search(r"(?:^|\.|=)skip(?:\(|$|,)|unittest\.skip\(|mark\.skip\b", text) and "skipif" not in text.lower():
        case.skip = case.skip or "skip"
    condition = re.search(r"skip(?:if|If|Unless)\((.*)", text)
    if condition is not None and not _PLATFORM.search(condition[1]):
        case.skip = case.skip or "skipif"
    case.xfail = case.xfail or re.search(r"\bxfail\b|expectedFailure", text) is not None
    case.retries = case.retries or re.search(r"\bflaky\b|reruns|retry\(", text) is not None
    case.ordered = case.ordered or "mark.order(" in text or "mark.run(order" in text


class _Body:
    """Everything that a body asserts, calls and mocks; and whether its failures are visible."""

    def __init__(self, body: Iterable[ast.stmt], case: TestCase, found: TestFile) -> None:
        self._body, self._case, self._found = list(body), case, found

    def read(self) -> None:
        stopped = ""
        for statement in self._body:
            text = squeezed(ast.unparse(statement)) if isinstance(statement, ast.Expr | ast.Raise) else ""
            if text.startswith(_SKIPS):
                self._case.skip = self._case.skip or "skip"
            stopped = stopped or ("after an early return" if isinstance(statement, ast.Return) else "")
            self._read(statement, stopped, 1)

    def _read(self, node: ast.AST, guard: str, times: int) -> None:
        """One node with what is inside of it. `guard` hides its failure; it runs so many times."""
        match node:
            case ast.Lambda() | ast.ClassDef():
                return
            case ast.Assert(test=test):
                self._case.asserts += [_weighed(each, times) for each in _conditions(test, node.lineno, guard)]
            case ast.Call():
                self._case.calls.add(ast.unparse(node.func))
                found = _asserted(node, guard)
                if found is not None:
                    self._case.asserts.append(found)
                else:
                    self._case.mocks.update(_mocked(node, deep=False))
            case ast.Assign(targets=[ast.Attribute(attr="return_value" | "side_effect") as left], value=right):
                self._found.returns[f"{self._case.name}:{squeezed(ast.unparse(left))}"] = squeezed(ast.unparse(right))
            case ast.For(iter=items):
                known = isinstance(items, ast.List | ast.Tuple | ast.Set)
                times *= len(items.elts) if known else LOOPED  # type: ignore[attr-defined]
            case ast.While():
                times *= LOOPED
        for name, value in ast.iter_fields(node):
            inside = _hidden(node, name) or guard
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._read(child, inside, times)


def _hidden(node: ast.AST, field: str) -> str:
    """What hides a failure in a part of a statement: an except that swallows it, a condition, a branch never taken."""
    match node:
        case ast.Try(handlers=handlers) if field == "body":
            for handler in handlers:
                named = "" if handler.type is None else ast.unparse(handler.type)
                text = ast.unparse(handler)
                fails = "fail(" in text or any(isinstance(each, ast.Raise) for each in ast.walk(handler))
                if not fails and (not named or re.search(r"AssertionError|\bException|BaseException", named)):
                    return "its failure is caught"
                if all(isinstance(each, ast.Pass | ast.Return) for each in handler.body):
                    return "an error also passes"
        case ast.If(test=test, orelse=orelse) if field == "body":
            condition = ast.unparse(test)
            if condition in ("False", "0", "None"):
                return "it never runs"
            return "" if orelse else f"only if {condition[:60]}"
        case ast.With(items=items) if field == "body" and any("suppress(" in ast.unparse(each) for each in items):
            return "its failure is caught"
    return ""


def _weighed(assertion: Assertion, times: int) -> Assertion:
    assertion.weight *= times
    return assertion


def _mocked(node: ast.expr, *, deep: bool = True) -> Iterator[str]:
    """The targets that a patch mocks: the dotted name, or `module.attribute`."""
    for call in ast.walk(node) if deep else (node,):
        if isinstance(call, ast.Call) and call.args and _PATCHES.search(ast.unparse(call.func)):
            first, second = call.args[0], call.args[1] if len(call.args) > 1 else None
            target = str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first)
            within = not isinstance(first, ast.Constant) and isinstance(second, ast.Constant)
            yield f"{target}.{second.value!s}" if within and isinstance(second, ast.Constant) else target


def _conditions(node: ast.expr, line: int, guard: str) -> list[Assertion]:
    """The assertions of an assert statement, one for each condition."""
    text = squeezed(ast.unparse(node))
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return [one for part in values for one in _conditions(part, line, guard)]
        case ast.BoolOp(values=values):
            trivial = any(isinstance(each, ast.Constant) and each.value in (True, 1) for each in values)
            return [Assertion(text, "", "trivial" if trivial else "shape", line, guard=guard)]
        case ast.Compare():
            return [_comparison(node, line, guard)]
        case ast.Tuple(elts=[_, _, *_]):
            return [Assertion(text, "", "trivial", line, guard=guard)]
        case ast.Call(func=func, args=args):
            name = ast.unparse(func)
            if name in ("isinstance", "hasattr", "callable"):
                kind: Strength = "trivial" if text.endswith(",object)") else "shape"
                return [Assertion(squeezed(ast.unparse(args[0])) if args else "", "", kind, line, guard=guard)]
            if name in _CLOSE and len(args) > 1:
                a, b = (squeezed(ast.unparse(each)) for each in args[:2])
                return [Assertion(a, b, "near", line, tolerance=_tolerance(text), guard=guard)]
            if name in ("any", "all") and args:
                return [Assertion(text, "", "other", line, guard=guard)]
    if _is_literal(node) and text not in ("False", "0", "None"):
        return [Assertion(text, "", "trivial", line, guard=guard)]
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    subject = squeezed(ast.unparse(node.operand)) if isinstance(node, ast.UnaryOp) and negated else text
    return [Assertion(subject, "false" if negated else "", "truthy", line, guard=guard)]


def _comparison(node: ast.Compare, line: int, guard: str) -> Assertion:
    left, right, sign = node.left, node.comparators[-1], _SIGNS[type(node.ops[0])]
    if _is_literal(left) and not _is_literal(right) and sign in ("==", *_FLIPPED):
        left, right, sign = right, left, _FLIPPED.get(sign, sign)
    a, b = squeezed(ast.unparse(left)), squeezed(ast.unparse(right))
    literal, limit = _is_literal(right), _number(b)
    if a == b or (_is_literal(left) and literal):
        return Assertion(a, b, "trivial", line, guard=guard)
    if sign in ("==", "is"):
        near = re.match(r"(?:pytest\.)?approx\((.*)\)$", b)
        if near is not None:
            value = near[1].partition(",")[0]
            return Assertion(a, value, "near", line, tolerance=_tolerance(near[1]), guard=guard, literal=True)
        return Assertion(a, b, "exact", line, _leaves(right), guard=guard, literal=literal)
    if sign in ("!=", "isnot"):
        return Assertion(a, b, "truthy" if b in ("None", '""', "0", "[]") else "shape", line, guard=guard)
    if sign in ("in", "notin"):
        return Assertion(a, b, "trivial" if b in _BOTH else "member", line, guard=guard, literal=literal)
    if (
        limit is not None
        and a.startswith("len(")
        and (limit < 0 or limit == 0)
        and sign == (">=" if limit == 0 else sign)
    ):
        return Assertion(a, b, "trivial" if sign[0] == ">" else "bound", line, guard=guard)
    within = re.match(r"abs\((.+)-(.+)\)$", a)
    if within is not None and sign in ("<", "<=") and limit is not None:
        known = _number(within[2]) is not None
        return Assertion(within[1], within[2], "near", line, tolerance=limit, guard=guard, literal=known)
    return Assertion(a, b, "bound", line, tolerance=limit, limit=sign, guard=guard, literal=limit is not None)


def _asserted(node: ast.Call, guard: str) -> Assertion | None:
    """The assertion of a call; None for a call that asserts nothing."""
    function, line = ast.unparse(node.func), node.lineno
    name, given = function.rpartition(".")[2], [squeezed(ast.unparse(each)) for each in node.args]
    if function in ("pytest.raises", "pytest.warns", "raises"):
        weight = 1 + any(each.arg == "match" for each in node.keywords)
        return Assertion("raises", given[0] if given else "", "error", line, weight, literal=True, guard=guard)
    if re.match(r"assert_(?:called|any_call|has_calls|not_called|awaited)", name) and "." in function:
        return Assertion(squeezed(function), ",".join(given), "other", line, guard=guard)
    if name not in _METHODS or not ("self" in function or function == name):
        return None
    strength = _METHODS[name]
    if strength == "error":
        weight = 2 if name == "assertRaisesRegex" else 1
        return Assertion("raises", given[0] if given else "", "error", line, weight, guard=guard, literal=True)
    subject, expected = [*given, "", ""][:2]
    literal = len(given) > 1 and _is_literal(node.args[1])
    if len(given) > 1 and _is_literal(node.args[0]) and not literal:
        subject, expected, literal = expected, subject, True
    if (strength in ("exact", "near") and subject == expected and subject) or (
        name == "assertIn" and expected in _BOTH
    ):
        strength = "trivial"
    if name in ("assertTrue", "assertFalse") and node.args:
        first = node.args[0]
        if isinstance(first, ast.Compare) and name == "assertTrue":
            return _comparison(first, line, guard)
        if _is_literal(first):
            strength = "trivial" if subject in ("True", "1") or name == "assertFalse" else "other"
        expected, literal = ("false" if name == "assertFalse" else "true"), True
    tolerance = _number(expected) if strength == "bound" else None
    if name == "assertAlmostEqual":
        options = {each.arg: _number(squeezed(ast.unparse(each.value))) for each in node.keywords}
        places = options.get("places")
        tolerance = options.get("delta") or (10.0**-places if places is not None else 1e-7)
    weight = _leaves(node.args[1]) if len(given) > 1 and strength == "exact" else 1
    return Assertion(subject, expected, strength, line, weight, tolerance, _LIMITS.get(name, ""), guard, literal)


def _is_literal(node: ast.expr) -> bool:
    written_out = ast.Constant | ast.List | ast.Dict | ast.Tuple | ast.Set | ast.JoinedStr
    return isinstance(node, written_out) or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not))


def _leaves(node: ast.expr) -> int:
    """The number of values written out in an expression."""
    count = len(node.keys) if isinstance(node, ast.Dict) else len(getattr(node, "elts", ()))
    return max(1, count)


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


def _tolerance(text: str) -> float:
    found = [float(each) for each in re.findall(r"(?:abs|rel|rel_tol|abs_tol|atol|rtol)=([\d.]+(?:e-?\d+)?)", text)]
    return max(found) if found else 1e-6
