"""Read a YAML file into nodes with line numbers; reject files that are not configuration files."""

from __future__ import annotations

from pathlib import Path

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..core import open_regular
from .problem import ConfigProblem

MAX_BYTES = 256 * 1024
MAX_NODES = 10_000
"""Counted with aliases expanded, so that a few lines cannot grow into gigabytes."""

MAX_DEPTH = 40

STANDARD = "tag:yaml.org,2002:"
TAGS = frozenset(("null", "bool", "int", "float", "str", "timestamp", "merge", "value", "map", "seq"))

NO_YAML = "A configuration is a YAML file of keys and values. Create one with interlock config init."


class UnreadableDocument(Exception):
    """Raised when there is no document to check; has the problem."""

    def __init__(self, problem: ConfigProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read(path: Path) -> Node | None:
    """The outermost node of a file; None if it is empty. Raises Unreadable."""
    source = str(path)
    try:
        with open_regular(path, links=True) as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unreadable(source, "the file does not exist", todo="Create one with interlock config init.") from None
    except IsADirectoryError:
        raise _unreadable(source, "is a folder", todo="Specify the file in it.") from None
    except OSError as error:
        raise _unreadable(source, f"cannot be read ({error.strerror})") from None
    if len(content) > MAX_BYTES:
        raise _unreadable(source, f"is larger than {MAX_BYTES // 1024} KiB", todo=NO_YAML)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unreadable(source, "is not UTF-8 text", line, todo="Save it as UTF-8.") from None
    return parse(text, source)


def parse(text: str, source: str) -> Node | None:
    """The outermost node of a YAML text. Raises Unreadable."""
    try:
        _refuse_depth(text, source)
        node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _unreadable(source, "is binary, not text", line, todo=NO_YAML) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(source, f"is not YAML: {error.problem}", mark.line + 1 if mark else None) from None
    if node is not None:
        _count(node, source, depth=0, counted=[0])
    return node


def value_of(node: ScalarNode) -> object:
    """The plain value of a scalar: text, number, true, false or null."""
    try:
        value: object = SafeConstructor().construct_object(node)
    except (ConstructorError, ValueError):
        return node.value
    # Dates and the like are text here; 1e3 is a number, although it is text in YAML 1.1.
    if isinstance(value, (bool, int, float, str)) or value is None:
        return _number(node) if node.style is None and isinstance(value, str) else value
    return node.value


def is_text(node: ScalarNode) -> bool:
    """Whether a scalar is text in YAML."""
    return bool(node.tag == f"{STANDARD}str")


def line_of(item: Node | yaml.Event) -> int:
    return int(item.start_mark.line if item.start_mark else 0) + 1


def _number(node: ScalarNode) -> object:
    text = str(node.value)
    if text[:1] in "+-.0123456789" and "e" in text.lower():
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _refuse_depth(text: str, source: str) -> None:
    """Reject deep nesting before composing: thousands of brackets would take minutes."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _unreadable(source, "is nested too deeply", line_of(event))


def _count(node: Node, source: str, depth: int, counted: list[int]) -> None:
    """Count the nodes with every alias expanded, and stop early."""
    counted[0] += 1
    if counted[0] > MAX_NODES or depth > MAX_DEPTH:
        what = "has too many values once its aliases are expanded" if depth <= MAX_DEPTH else "is nested too deeply"
        raise _unreadable(source, what, line_of(node), todo="Write the values out, without * aliases.")
    if node.tag.removeprefix(STANDARD) not in TAGS:
        raise _unreadable(source, f"has a tag ({node.tag.replace(STANDARD, '!!')})", line_of(node), todo="Remove it.")
    if isinstance(node, MappingNode):
        for key, value in node.value:
            _count(key, source, depth + 1, counted)
            _count(value, source, depth + 1, counted)
    elif isinstance(node, SequenceNode):
        for item in node.value:
            _count(item, source, depth + 1, counted)


def _unreadable(source: str, what: str, line: int | None = None, todo: str = "") -> UnreadableDocument:
    return UnreadableDocument(ConfigProblem(what=what, source=source, line=line, todo=todo))
