"""Python tests: what a file's tests check, from its syntax tree."""

from __future__ import annotations

import re

from tree_sitter import Node

from .python_assertions import asserted, assertions, guard_of
from .test_file import TestCase, TestFile, squeezed
from .trees import given_to, line_of, parse, repeated, text_of, walk

_PLATFORM = re.compile(
    r"platform|version|sys\.|which|import|HAS_|has_|os\.name|find_spec|available|WINDOWS|getuid|shutil",
)
_PATCHES = re.compile(r"(?:^|\.)(?:patch|patch\.object|setattr|patch\.multiple|spy)$")


def read_python(text: str) -> TestFile | None:
    """The tests of a Python file or fragment."""
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
    """Collect everything that a body asserts, calls and mocks; and whether its failures are visible."""
    stopped = ""
    for statement in body.children if body.type == "block" else [body]:
        if statement.type == "return_statement" and body.type == "block":
            stopped = stopped or "after an early return"
        for node in walk(statement, into=frozenset(("lambda", "class_definition"))):
            if node.type == "assert_statement":
                found_here = assertions(node, stopped or guard_of(node, body))
                for each in found_here:
                    each.weight *= repeated(node, body, "right")
                case.asserts += found_here
            elif node.type == "call":
                _call(node, case, stopped or guard_of(node, body))
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


def _call(node: Node, case: TestCase, guard: str) -> None:
    function = text_of(node.child_by_field_name("function"))
    case.calls.add(function)
    found = asserted(node, guard)
    if found is not None:
        case.asserts.append(found)
    elif _PATCHES.search(function):
        _mocked(node, case)


def _mocked(node: Node, case: TestCase) -> None:
    """Collect the targets that a patch mocks: the dotted name, or `module.attribute`."""
    for call in walk(node):
        if call.type != "call" or not _PATCHES.search(text_of(call.child_by_field_name("function"))):
            continue
        given = [each for each in given_to(call) if each.type != "keyword_argument"]
        if not given:
            continue
        target = text_of(given[0]).strip("\"'")
        if given[0].type != "string" and len(given) > 1 and given[1].type == "string":
            target = f"{target}.{text_of(given[1]).strip(chr(34) + chr(39))}"
        case.mocks.add(target)


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
