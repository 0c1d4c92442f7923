"""Trees: syntax trees of Python, JavaScript and TypeScript, and helpers for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import zip_longest

import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

MAX_BYTES = 400_000
"""Larger files are not parsed."""

_LANGUAGES = {
    "python": Language(tree_sitter_python.language()),
    "javascript": Language(tree_sitter_javascript.language()),
    "typescript": Language(tree_sitter_typescript.language_typescript()),
    "tsx": Language(tree_sitter_typescript.language_tsx()),
}
_parsers = threading.local()


def parse(text: str, language: str) -> Node | None:
    """The root of a text's syntax tree; None if the text is too long."""
    raw = text.encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        return None
    parser = getattr(_parsers, language, None)
    if parser is None:
        parser = Parser(_LANGUAGES[language])
        setattr(_parsers, language, parser)
    return parser.parse(raw).root_node


def text_of(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def line_of(node: Node) -> int:
    return node.start_point[0] + 1


def given_to(call: Node) -> list[Node]:
    """The arguments of a call."""
    arguments = call.child_by_field_name("arguments")
    return [each for each in arguments.named_children if each.type != "comment"] if arguments is not None else []


def leaves(node: Node) -> int:
    """The number of values written out in an expression."""
    return max(1, sum(each.type != "comment" for each in node.named_children)) if node.type in _WRITTEN_OUT else 1


def number(text: str) -> float | None:
    """Parse a numeric literal; None if it is not one."""
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


def walk(node: Node, *, into: frozenset[str] | None = None) -> Iterator[Node]:
    """A node and its descendants, in order; nodes of the kinds in `into` are yielded but not entered."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if into is None or current.type not in into or current is node:
            waiting.extend(reversed(current.children))


def is_same_code(before: str, after: str, language: str) -> bool:
    """Whether two programs differ only in comments and spaces; stops at the first difference."""
    if before == after:
        return True
    left, right = "", ""
    for one, other in zip_longest(_words(before, language), _words(after, language), fillvalue=""):
        left, right = left + one, right + other
        shared = min(len(left), len(right))
        if left[:shared] != right[:shared]:
            return False
        left, right = left[shared:], right[shared:]
    return left == right


def _words(text: str, language: str) -> Iterator[str]:
    """The tokens of a program without its comments."""
    root = parse(text, language)
    if root is None:
        yield text
        return
    for node in walk(root):
        if not node.children and node.type != "comment":
            yield f"{text_of(node)} "


LOOPED = 5
"""Assumed iterations of a loop whose items are not written out."""
_LOOPS = ("for_statement", "for_in_statement", "while_statement")
_WRITTEN_OUT = ("list", "tuple", "set", "array", "dictionary", "object")


def repeated(node: Node, within: Node, over: str) -> int:
    """How often a node runs in its body: the product of the items of its loops; `over` is a loop's field for them."""
    times = 1
    at = node.parent
    while at is not None and at.id != within.id:
        if at.type in _LOOPS:
            items = at.child_by_field_name(over)
            known = items is not None and items.type in _WRITTEN_OUT
            times *= len(items.named_children) if known and items is not None else LOOPED
        at = at.parent
    return times
