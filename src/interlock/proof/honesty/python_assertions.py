"""Python assertions: what an assert or an asserting call demands, and what hides its failure."""

from __future__ import annotations

import re

from tree_sitter import Node

from .test_file import Assertion, Strength, squeezed
from .trees import given_to, leaves, line_of, number, text_of, walk

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
_BOTH = ("[True,False]", "(True,False)", "{True,False}", "[False,True]", "(False,True)")


def asserted(node: Node, guard: str) -> Assertion | None:
    """The assertion of a call; None for a call that asserts nothing."""
    function = text_of(node.child_by_field_name("function"))
    last = function.rpartition(".")[2]
    given = given_to(node)
    if last in _METHODS and ("self" in function or function == last):
        return _method(node, last, given, guard)
    if function in ("pytest.raises", "pytest.warns", "raises"):
        named = squeezed(text_of(given[0])) if given else ""
        weight = 1 + any(each.type == "keyword_argument" and text_of(each).startswith("match") for each in given)
        return Assertion("raises", named, "error", line_of(node), weight, literal=True, guard=guard)
    if _MOCK_ASSERTS.search(function):
        arguments = squeezed(text_of(node.child_by_field_name("arguments")))
        return Assertion(squeezed(function), arguments, "other", line_of(node), guard=guard)
    return None


def assertions(node: Node, guard: str) -> list[Assertion]:
    """The assertions of an assert statement, one for each condition."""
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
        return Assertion(a, b, strength, line, leaves(right), guard=guard, literal=literal)
    if operator in ("!=", "isnot"):
        return Assertion(a, b, "truthy" if b in ("None", '""', "0", "[]") else "shape", line, guard=guard)
    if operator in ("in", "notin"):
        return Assertion(a, b, "trivial" if b in _BOTH else "member", line, guard=guard, literal=literal)
    limit = number(b)
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
            within[1], within[2], "near", line, tolerance=limit, guard=guard, literal=number(within[2]) is not None
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
        tolerance = number(expected)
    limit = {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}.get(name, "")
    weight = leaves(plain[1]) if len(plain) > 1 and strength == "exact" else 1
    return Assertion(subject, expected, strength, line, weight, tolerance, limit, guard, literal)


def _tolerance(text: str) -> float:
    found = [float(each) for each in re.findall(r"(?:abs|rel|rel_tol|abs_tol|atol|rtol)=([\d.]+(?:e-?\d+)?)", text)]
    return max(found) if found else 1e-6


def guard_of(node: Node, body: Node) -> str:
    """What hides a failure: an except that swallows it, a condition, a branch that never runs."""
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
                    return "an error also passes"
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
    """Whether an except clause does nothing."""
    body = clause.children[-1]
    done = [each for each in body.named_children if each.type != "comment"]
    return bool(done) and all(each.type in ("pass_statement", "return_statement") for each in done)


def _swallows(clause: Node) -> bool:
    text = squeezed(text_of(clause))
    head = text.partition(":")[0]
    if not (head == "except" or re.search(r"except\(?(?:.*,)?(?:AssertionError|Exception|BaseException)", head)):
        return False
    return not any(each.type == "raise_statement" or "fail(" in text_of(each)[:40] for each in walk(clause))
