"""Python tests: what a file's tests check, from its syntax tree."""

from __future__ import annotations

import re

from tree_sitter import Node

from .test_file import Assertion, Strength, TestCase, TestFile, squeezed
from .trees import line_of, parse, repeated, text_of, walk

LITERALS = frozenset((
    "integer", "float", "string", "true", "false", "none", "list", "dictionary", "tuple", "set", "unary_operator",
    "concatenated_string",
))  # fmt: skip
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
_MOCK_ASSERTS = re.compile(
    r"\.(?:assert_called\w*|assert_any_call|assert_has_calls|assert_not_called|assert_awaited\w*)$",
)
_PLATFORM = re.compile(
    r"platform|version|sys\.|which|import|HAS_|has_|os\.name|find_spec|available|WINDOWS|getuid|shutil",
)
_PATCHES = re.compile(r"(?:^|\.)(?:patch|patch\.object|setattr|patch\.multiple|spy)$")
_BOTH = ("[True,False]", "(True,False)", "{True,False}", "[False,True]", "(False,True)")


def read_python(text: str) -> TestFile | None:
    """The tests of a Python file, or of a piece of one."""
    root = parse(text, "python")
    if root is None:
        return None
    found = TestFile()
    loose = TestCase("", 1, body=squeezed(text) if len(text) < 20_000 else "")
    _definitions(root, "", "", found, loose)
    if loose.asserts or loose.mocks or loose.skip or loose.xfail or any(key[0] == ":" for key in found.returns):
        found.tests[""] = loose
    return found


def _definitions(node: Node, prefix: str, skip: str, found: TestFile, loose: TestCase) -> None:
    for child in node.children:
        decorators: list[Node] = []
        definition = child
        if child.type == "decorated_definition":
            decorators = [each for each in child.children if each.type == "decorator"]
            definition = child.child_by_field_name("definition") or child
        if definition.type == "function_definition":
            name = text_of(definition.child_by_field_name("name"))
            if name.startswith("test") or prefix == "":
                _function(definition, name, prefix, decorators, skip, found)
        elif definition.type == "class_definition":
            name = text_of(definition.child_by_field_name("name"))
            body = definition.child_by_field_name("body")
            marks = TestCase(name, line_of(definition))
            _decorate(marks, decorators)
            if body is not None:
                _definitions(body, f"{prefix}{name}.", skip or marks.skip, found, loose)
        elif child.type in ("import_statement", "import_from_statement"):
            _imports(child, found)
        elif child.type == "decorator":
            _decorate(loose, [child])
        else:
            if prefix == "" and child.type == "expression_statement":
                _module_statement(child, found, loose)
            if prefix == "":
                _statements(child, loose, found)
            elif child.type in ("ERROR", "block"):
                _definitions(child, prefix, skip, found, loose)
    if node.type == "module":
        for each in node.children:
            if each.type == "ERROR":
                _decorate(loose, [one for one in walk(each) if one.type == "decorator"])


def _module_statement(node: Node, found: TestFile, loose: TestCase) -> None:
    text = squeezed(text_of(node))
    if text.startswith("pytestmark="):
        case = TestCase("the whole file", line_of(node))
        _mark(case, text)
        loose.skip = loose.skip or case.skip
        loose.xfail = loose.xfail or case.xfail
    elif text.startswith(("pytest.skip(", "collect_ignore")):
        loose.skip = loose.skip or text[:60]
    if "patch(" in text or "setattr(" in text:
        found.loose.append(text)


def _function(node: Node, name: str, prefix: str, decorators: list[Node], skip: str, found: TestFile) -> None:
    body = node.child_by_field_name("body")
    if body is None:
        return
    case = TestCase(f"{prefix}{name}", line_of(node), skip=skip, body=squeezed(text_of(body)))
    _decorate(case, decorators)
    _statements(body, case, found)
    for decorator in decorators:
        _mocked(decorator, case)
    if name.startswith("test"):
        found.tests[case.name] = case
        return
    if case.asserts:
        found.helpers.add(name)
    for mock in case.mocks:
        found.mocks[mock] = case.line


def _decorate(case: TestCase, decorators: list[Node]) -> None:
    for decorator in decorators:
        text = squeezed(text_of(decorator)).lstrip("@")
        _mark(case, text)
        if "parametrize(" in text:
            case.rows = _rows(decorator) or case.rows
        _mocked(decorator, case)


def _mark(case: TestCase, text: str) -> None:
    if re.search(r"(?:^|\.|=)skip(?:\(|$|,)|unittest\.skip\(|mark\.skip\b", text) and "skipif" not in text.lower():
        case.skip = case.skip or "skip"
    condition = re.search(r"skip(?:if|If|Unless)\((.*)", text)
    if condition is not None and not _PLATFORM.search(condition[1]):
        case.skip = case.skip or "skipif"
    if re.search(r"\bxfail\b|expectedFailure", text):
        case.xfail = True
    if re.search(r"\bflaky\b|reruns|retry\(", text):
        case.retries = True
    if "mark.order(" in text or "mark.run(order" in text:
        case.ordered = True


def _rows(decorator: Node) -> list[str]:
    lists = [
        each
        for each in walk(decorator)
        if each.type in ("list", "tuple") and each.parent and each.parent.type == "argument_list"
    ]
    if not lists:
        return []
    return [squeezed(text_of(each)) for each in lists[-1].named_children if each.type != "comment"]


def _statements(body: Node, case: TestCase, found: TestFile) -> None:
    """Everything that a body asserts, calls and mocks; and whether its failures can be seen."""
    stopped = ""
    for statement in body.children if body.type == "block" else [body]:
        if statement.type == "return_statement" and body.type == "block":
            stopped = stopped or "after an early return"
        for node in walk(statement, into=frozenset(("lambda", "class_definition"))):
            if node.type == "assert_statement":
                found_here = _assertion(node, stopped or _guard(node, body))
                for each in found_here:
                    each.weight *= repeated(node, body, "right")
                case.asserts += found_here
            elif node.type == "call":
                _call(node, case, found, stopped or _guard(node, body))
            elif node.type == "assignment":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if re.search(r"\.(?:return_value|side_effect)$", text_of(left)):
                    found.returns[f"{case.name}:{squeezed(text_of(left))}"] = squeezed(text_of(right))
    first = next((each for each in body.children if each.is_named and each.type != "comment"), None)
    if first is not None and body.type == "block":
        for statement in body.children:
            if statement.type == "expression_statement" and squeezed(text_of(statement)).startswith(
                ("pytest.skip(", "self.skipTest(", "raiseSkipTest", "pytest.xfail(")
            ):
                case.skip = case.skip or "skip"
            if statement.type == "raise_statement" and "SkipTest" in text_of(statement):
                case.skip = case.skip or "skip"


def _call(node: Node, case: TestCase, found: TestFile, guard: str) -> None:
    function = text_of(node.child_by_field_name("function"))
    last = function.rpartition(".")[2]
    case.calls.add(function)
    arguments = node.child_by_field_name("arguments")
    given = [each for each in arguments.named_children if each.type != "comment"] if arguments is not None else []
    if last in _METHODS and ("self" in function or function == last):
        case.asserts.append(_method(node, last, given, guard))
    elif function in ("pytest.raises", "pytest.warns", "raises"):
        named = squeezed(text_of(given[0])) if given else ""
        weight = 1 + any(each.type == "keyword_argument" and text_of(each).startswith("match") for each in given)
        case.asserts.append(Assertion("raises", named, "error", line_of(node), weight, literal=True, guard=guard))
    elif _MOCK_ASSERTS.search(function):
        case.asserts.append(
            Assertion(squeezed(function), squeezed(text_of(arguments)), "other", line_of(node), guard=guard)
        )
    elif _PATCHES.search(function):
        _mocked(node, case)


def _mocked(node: Node, case: TestCase) -> None:
    """What a patch puts a mock over: the dotted name, or `module.attribute`."""
    for call in walk(node):
        if call.type != "call" or not _PATCHES.search(text_of(call.child_by_field_name("function"))):
            continue
        arguments = call.child_by_field_name("arguments")
        given = (
            [each for each in arguments.named_children if each.type not in ("comment", "keyword_argument")]
            if arguments
            else []
        )
        if not given:
            continue
        target = text_of(given[0]).strip("\"'")
        if given[0].type != "string" and len(given) > 1 and given[1].type == "string":
            target = f"{target}.{text_of(given[1]).strip(chr(34) + chr(39))}"
        case.mocks.add(target)


def _guard(node: Node, body: Node) -> str:
    """What keeps a failure from being seen: an except that swallows it, a condition, a branch that never runs."""
    at = node.parent
    child = node
    while at is not None and at.id != body.id:
        if (
            at.type == "try_statement"
            and child.type == "block"
            and child.id == (at.child_by_field_name("body") or at).id
        ):
            for clause in at.children:
                if clause.type == "except_clause" and _swallows(clause):
                    return "its failure is caught"
                if clause.type == "except_clause" and _passes(clause) and squeezed(text_of(node)) != "assertFalse":
                    return "an error passes as well"
        elif at.type == "if_statement":
            condition = squeezed(text_of(at.child_by_field_name("condition")))
            if condition in ("False", "0", "None"):
                return "it never runs"
            if at.child_by_field_name("alternative") is None:
                return f"only if {text_of(at.child_by_field_name('condition'))[:60]}"
        elif at.type in ("with_statement",) and "suppress(" in text_of(at)[:80]:
            return "its failure is caught"
        child, at = at, at.parent
    return ""


def _passes(clause: Node) -> bool:
    """Whether an except does nothing."""
    body = clause.children[-1]
    done = [each for each in body.named_children if each.type != "comment"]
    return bool(done) and all(each.type in ("pass_statement", "return_statement") for each in done)


def _swallows(clause: Node) -> bool:
    text = squeezed(text_of(clause))
    head = text.partition(":")[0]
    if not (head == "except" or re.search(r"except\(?(?:.*,)?(?:AssertionError|Exception|BaseException)", head)):
        return False
    return not any(each.type == "raise_statement" or "fail(" in text_of(each)[:40] for each in walk(clause))


def _assertion(node: Node, guard: str) -> list[Assertion]:
    expressions = [each for each in node.named_children if each.type != "comment"]
    if not expressions:
        return []
    return _conditions(expressions[0], line_of(node), guard)


def _conditions(node: Node, line: int, guard: str) -> list[Assertion]:
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    if node.type == "boolean_operator":
        parts = [each for each in (node.child_by_field_name("left"), node.child_by_field_name("right")) if each]
        if text_of(node.child_by_field_name("operator")) == "and":
            return [one for part in parts for one in _conditions(part, line, guard)]
        trivial = any(text_of(part) in ("True", "1") for part in parts)
        return [Assertion(squeezed(text_of(node)), "", "trivial" if trivial else "shape", line, guard=guard)]
    if node.type == "comparison_operator":
        return [_comparison(node, line, guard)]
    if node.type == "tuple" and len(node.named_children) > 1:
        return [Assertion(squeezed(text_of(node)), "", "trivial", line, guard=guard)]
    if node.type in LITERALS and text_of(node) not in ("False", "0", "None"):
        return [Assertion(squeezed(text_of(node)), "", "trivial", line, guard=guard)]
    if node.type == "call":
        function = text_of(node.child_by_field_name("function"))
        arguments = node.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        if function in ("isinstance", "hasattr", "callable"):
            kind: Strength = "trivial" if text_of(arguments).endswith(", object)") else "shape"
            return [Assertion(squeezed(text_of(given[0])) if given else "", "", kind, line, guard=guard)]
        if function in ("math.isclose", "np.allclose", "numpy.allclose", "np.isclose", "isclose") and len(given) > 1:
            near = _tolerance(text_of(arguments))
            return [
                Assertion(
                    squeezed(text_of(given[0])), squeezed(text_of(given[1])), "near", line, tolerance=near, guard=guard
                )
            ]
        if function in ("any", "all") and given:
            return [Assertion(squeezed(text_of(node)), "", "other", line, guard=guard)]
    negated = node.type == "not_operator"
    subject = squeezed(text_of(node.named_children[-1] if negated else node))
    return [Assertion(subject, "false" if negated else "", "truthy", line, guard=guard)]


def _comparison(node: Node, line: int, guard: str) -> Assertion:
    sides = node.named_children
    left, right = sides[0], sides[-1]
    operator = squeezed(text_of(node))[len(squeezed(text_of(left))) : -len(squeezed(text_of(right))) or None]
    if left.type in LITERALS and right.type not in LITERALS and operator in ("==", "<", ">", "<=", ">="):
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    a, b = squeezed(text_of(left)), squeezed(text_of(right))
    literal = right.type in LITERALS
    if a == b or (left.type in LITERALS and right.type in LITERALS):
        return Assertion(a, b, "trivial", line, guard=guard)
    if operator in ("==", "is"):
        near = re.match(r"(?:pytest\.)?approx\((.*)\)$", b)
        if near is not None:
            return Assertion(
                a, near[1].partition(",")[0], "near", line, tolerance=_tolerance(near[1]), guard=guard, literal=True
            )
        strength: Strength = "exact"
        return Assertion(a, b, strength, line, _leaves(right), guard=guard, literal=literal)
    if operator in ("!=", "isnot"):
        return Assertion(a, b, "truthy" if b in ("None", '""', "0", "[]") else "shape", line, guard=guard)
    if operator in ("in", "notin"):
        return Assertion(a, b, "trivial" if b in _BOTH else "member", line, guard=guard, literal=literal)
    limit = _number(b)
    if (
        limit is not None
        and operator in (">=", ">")
        and re.match(r"len\(", a)
        and (limit < 0 or (limit == 0 and operator == ">="))
    ):
        return Assertion(a, b, "trivial", line, guard=guard)
    within = re.match(r"abs\((.+)-(.+)\)$", a)
    if within is not None and operator in ("<", "<=") and limit is not None:
        return Assertion(
            within[1], within[2], "near", line, tolerance=limit, guard=guard, literal=_number(within[2]) is not None
        )
    return Assertion(a, b, "bound", line, tolerance=limit, limit=operator, guard=guard, literal=limit is not None)


def _method(node: Node, name: str, given: list[Node], guard: str) -> Assertion:
    values = [squeezed(text_of(each)) for each in given if each.type != "keyword_argument"]
    strength = _METHODS[name]
    line = line_of(node)
    if name in ("assertRaises", "assertRaisesRegex"):
        weight = 2 if name == "assertRaisesRegex" else 1
        return Assertion("raises", values[0] if values else "", "error", line, weight, guard=guard, literal=True)
    subject, expected = [*values, "", ""][:2]
    plain = [each for each in given if each.type != "keyword_argument"]
    literal = len(plain) > 1 and plain[1].type in LITERALS
    if len(plain) > 1 and plain[0].type in LITERALS and plain[1].type not in LITERALS:
        subject, expected, literal = expected, subject, True
    if strength in ("exact", "near") and subject == expected and subject:
        strength = "trivial"
    if name == "assertIn" and expected in _BOTH:
        strength = "trivial"
    if name in ("assertTrue", "assertFalse") and plain:
        if plain[0].type in LITERALS:
            strength = "trivial" if text_of(plain[0]) in ("True", "1") or name == "assertFalse" else "other"
        elif plain[0].type == "comparison_operator" and name == "assertTrue":
            return _comparison(plain[0], line, guard)
        expected, literal = ("false" if name == "assertFalse" else "true"), True
    tolerance = None
    if name == "assertAlmostEqual":
        places = re.search(r"places=(\d+)", text_of(node))
        delta = re.search(r"delta=([\d.e-]+)", text_of(node))
        tolerance = float(delta[1]) if delta else 10.0 ** -int(places[1]) if places else 1e-7
    if strength == "bound":
        tolerance = _number(expected)
    limit = {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}.get(name, "")
    weight = _leaves(plain[1]) if len(plain) > 1 and strength == "exact" else 1
    return Assertion(subject, expected, strength, line, weight, tolerance, limit, guard, literal)


def _tolerance(text: str) -> float:
    found = [float(each) for each in re.findall(r"(?:abs|rel|rel_tol|abs_tol|atol|rtol)=([\d.]+(?:e-?\d+)?)", text)]
    return max(found) if found else 1e-6


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


def _leaves(node: Node) -> int:
    if node.type not in ("dictionary", "list", "tuple", "set"):
        return 1
    return max(1, sum(each.type not in ("comment",) for each in node.named_children))


def _imports(node: Node, found: TestFile) -> None:
    text = " ".join(text_of(node).replace("(", " ").replace(")", " ").split())
    of = re.match(r"from (\S+) import (.+)", text)
    if of is not None:
        for part in of[2].split(","):
            name, _, other = part.strip().partition(" as ")
            found.imports[other or name] = f"{of[1]}.{name}"
        return
    for part in text.removeprefix("import ").split(","):
        name, _, other = part.strip().partition(" as ")
        found.imports[other or name] = name
