"""Tree: small questions about a script's syntax tree."""

from __future__ import annotations

import re

from tree_sitter import Node


def is_fork_bomb(name: str, body: str) -> bool:
    """Whether a function pipes into itself in the background."""
    bare = "".join(body.split())
    return f"{name}|{name}&" in bare


def breeds(condition: str, body: str) -> bool:
    """Whether a loop without an end starts one process after the other and waits for none."""
    if condition.strip(" ;") not in ENDLESS or WAITING.search(body) is not None:
        return False
    return BEHIND.search(body) is not None


ENDLESS = (":", "true", "[ 1 ]", "[[ 1 ]]", "((1))", "(( 1 ))")
BEHIND = re.compile(r"(?<![&<>\d])&(?![&>\d])")
WAITING = re.compile(r"\b(?:sleep|wait|read|break|inotifywait|accept|timeout|nc|socat|exit)\b")


def goes_on(before: Node, node: Node) -> bool:
    """Whether nothing but backslashes at line ends is between the two: then they are one word."""
    lines = node.start_point[0] - before.end_point[0]
    return lines > 0 and node.start_byte - before.end_byte == 2 * lines


def flatten(node: Node) -> list[Node]:
    """The statements of an `a && b && c` list, which the parser nests to the left."""
    found: list[Node] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "list":
            stack += reversed(current.named_children)
        else:
            found.append(current)
    return found
