"""Words: from a node of a script's syntax tree to the words that the shell would produce."""

from __future__ import annotations

import re
from typing import Protocol

from tree_sitter import Node

from ...core import late_pattern
from .scope import ShellScope
from .simple import from_ascii

MAX_BRACES = 32
"""Words that one brace expression may expand to."""

MAX_BRACED = 1_024
"""Maximum length of a word whose braces are expanded."""

MAX_WORD = 65_536
"""Maximum length of one expanded word; a longer one is truncated."""


class Substitute(Protocol):
    """Runs a command substitution and returns its output, or `$(program)`."""

    def __call__(self, node: Node, scope: ShellScope) -> str: ...


def expand(node: Node, scope: ShellScope, substitute: Substitute) -> list[str]:
    """The words that a node expands to: none, one, or several after splitting and brace expansion."""
    kind = node.type
    if kind == "word" or kind == "number":
        text = unescape(source(node))
        return expand_braces(text) if "{" in text and "," in text else [text]
    if kind == "raw_string" or kind == "string" or kind == "ansi_c_string":
        if scope.params is not None and source(node) == '"$@"':
            return list(scope.params[1:])
        if scope.arrays and (found := ELEMENTS.match(source(node))) is not None and found[1] in scope.arrays:
            return elements(scope.arrays[found[1]], found[2])
        return [quoted(node, scope, substitute)]
    if kind == "concatenation":
        return join(node, scope, substitute)
    if kind == "expansion" and scope.arrays:
        found = ELEMENTS.match(f'"{source(node)}"')
        if found is not None and found[1] in scope.arrays:
            return " ".join(elements(scope.arrays[found[1]], found[2])).split()
    if kind == "simple_expansion" and scope.params is not None and source(node) in ("$@", "$*"):
        return list(scope.params[1:])
    text = unquoted(node, scope, substitute)
    if kind in VALUES and "IFS" in scope.variables:
        return re.split(f"[{re.escape(scope.variables['IFS'])} ]+", text)
    return text.split() if kind in VALUES and not text.startswith("$(") else [text]


def quoted(node: Node, scope: ShellScope, substitute: Substitute) -> str:
    """The text of one piece, never split."""
    kind = node.type
    if kind == "raw_string":
        return source(node)[1:-1]
    if kind == "string":
        return inside_string(node, scope, substitute)
    if kind == "ansi_c_string":
        return ansi(source(node)[2:-1])
    if kind == "word" or kind == "number":
        return unescape(source(node))
    if kind == "concatenation":
        return "".join(quoted(child, scope, substitute) for child in node.children)[:MAX_WORD]
    return unquoted(node, scope, substitute)


def unquoted(node: Node, scope: ShellScope, substitute: Substitute) -> str:
    """The value of an expansion, or a short form of the expansion if the value is unknown."""
    kind = node.type
    if kind == "simple_expansion":
        blank, _, name = source(node).partition("$")
        # Between two expansions in quotes, the parser counts the spaces as part of the second.
        known = scope.value(name)
        return f"{blank}${name}" if known is None else f"{blank}{known}"
    if kind == "expansion":
        text = run_inner(node, scope, substitute)
        plain = text.lstrip()
        return f"{text[: len(text) - len(plain)]}{parameter(plain, scope)}"
    if kind == "command_substitution" or kind == "process_substitution":
        return substitute(node, scope)
    if kind == "arithmetic_expansion":
        return run_inner(node, scope, substitute)[:MAX_WORD]
    return source(node)[:MAX_WORD]


def run_inner(node: Node, scope: ShellScope, substitute: Substitute) -> str:
    """Run the substitutions in an expansion, subscript or arithmetic expression; return its text with their output."""
    text = source(node)
    if "(" not in text and "`" not in text:
        return text
    stack, made = list(node.children), text
    while stack:
        child = stack.pop()
        if child.type in ("command_substitution", "process_substitution"):
            made = made.replace(source(child), substitute(child, scope), 1)
        else:
            stack += child.children
    return made


def inside_string(node: Node, scope: ShellScope, substitute: Substitute) -> str:
    """A double-quoted string; the parser omits spaces between expansions from its nodes, so gaps are filled."""
    raw = source_bytes(node)
    start = node.start_byte
    at = 2 if raw[:1] == b"$" else 1
    parts: list[str] = []
    for child in node.named_children:
        begin = child.start_byte - start
        if begin > at:
            parts.append(from_ascii(raw[at:begin].decode("ascii")))
        if child.type == "string_content":
            parts.append(unescape_quoted(source(child)))
        else:
            parts.append(unquoted(child, scope, substitute))
        at = child.end_byte - start
    end = len(raw) - 1 if raw.endswith(b'"') else len(raw)
    if end > at:
        parts.append(unescape_quoted(from_ascii(raw[at:end].decode("ascii"))))
    return "".join(parts)[:MAX_WORD]


def join(node: Node, scope: ShellScope, substitute: Substitute) -> list[str]:
    """Adjacent pieces: one word, unless an unquoted value or braces split it."""
    text = ""
    braces = False
    blank = False
    for child in node.children:
        piece = quoted(child, scope, substitute)
        kind = child.type
        if kind == "word":
            braces = braces or "{" in piece
        elif not blank and kind in VALUES:
            blank = " " in piece
        text += piece
        if len(text) > MAX_WORD:
            return [text[:MAX_WORD]]
    if braces and "," in text:
        return expand_braces(text)
    return text.split() if blank else [text]


VALUES = ("simple_expansion", "expansion", "command_substitution")
"""Pieces whose value the shell splits at whitespace outside quotes."""


PARAMETER = late_pattern(r"\$\{([A-Za-z_]\w*|\d+|[@*])(?:(:?[-=+?])(.*))?\}\Z", re.DOTALL)


SUBSTRING = late_pattern(r"\$\{(\w{1,64}):\s{0,4}(\d{1,4})(?::(\d{1,4}))?\}\Z")


def parameter(text: str, scope: ShellScope) -> str:
    """`${NAME}`, `${NAME:-default}` and similar; other forms keep only the name."""
    found = PARAMETER.match(text)
    if found is None:
        if (part := SUBSTRING.match(text)) is not None and (whole := scope.value(part[1])) is not None:
            rest = whole[int(part[2]) :]
            return rest if part[3] is None else rest[: int(part[3])]
        name = re.match(r"\$\{[!#]?(\w+)", text)
        if name is None or text.startswith("${#"):
            return "0"
        known = scope.value(name[1])
        return f"${name[1]}" if known is None else known
    name_, operator, other = found.groups()
    known = scope.value(name_)
    if operator and operator[-1] in "-=" and not known:
        return unescape_quoted(other.strip("\"'"))
    if operator and operator[-1] == "+":
        return unescape_quoted(other.strip("\"'")) if known else ""
    return f"${name_}" if known is None else known


SUBSCRIPT = late_pattern(r"\s{0,8}[A-Za-z_]\w{0,63}\[[^\n]{0,400}?(?:\$\(|`)")
"""A subscript that contains a command, which runs when arithmetic or a test evaluates the text."""

ELEMENTS = late_pattern(r'"\$\{(\w+)\[(@|\d{1,4})\](?::[^{}]*)?\}"\Z')


def elements(array: tuple[str, ...], index: str) -> list[str]:
    """`"${NAME[@]}"` is a word for each element, `"${NAME[1]}"` is one of them."""
    if index == "@":
        return list(array)
    return [array[int(index)] if int(index) < len(array) else ""]


def expand_braces(text: str) -> list[str]:
    """`a{b,c}d` to `abd acd`, at most MAX_BRACES words; nobody writes longer ones by hand."""
    if len(text) > MAX_BRACED:
        return [text]
    done: list[str] = []
    queue = [text]
    while queue and len(done) + len(queue) < MAX_BRACES:
        word = queue.pop(0)
        found = BRACES.search(word)
        if found is None:
            done.append(word)
            continue
        queue += [word[: found.start()] + choice + word[found.end() :] for choice in found[1].split(",")]
    return done + queue


BRACES = late_pattern(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}")


def unescape(text: str) -> str:
    """Remove backslashes outside quotes."""
    return re.sub(r"\\(\n|.?)", lambda m: "" if m[1] == "\n" else m[1], text) if "\\" in text else text


def unescape_quoted(text: str) -> str:
    """Remove backslashes inside double quotes: only before the characters that are special there."""
    return re.sub(r'\\([$`"\\]|\n)', lambda m: "" if m[1] == "\n" else m[1], text) if "\\" in text else text


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "0": "\0"}
ANSI = late_pattern(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)


def ansi(text: str) -> str:
    """Decode the escapes of `$'...'` and `printf`."""

    def one(found: re.Match[str]) -> str:
        for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
            if found[group]:
                point = int(found[group], base)
                return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else "\ufffd"
        return ESCAPES.get(found[5], found[5])

    return ANSI.sub(one, text) if "\\" in text else text


BACK_QUOTES = late_pattern(r"\\.|`((?:[^`\\]|\\.)*)`", re.DOTALL)
ESCAPED = late_pattern(r"\\([$`\\])")


def without_back_quotes(text: str) -> str:
    """`` `code` `` written as `$(code)`, for text in which both are run."""

    def one(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        code = ESCAPED.sub(r"\1", found[1])
        return f"$({code})" if code.strip() else ""

    return BACK_QUOTES.sub(one, text)


def source(node: Node) -> str:
    """The text that a node covers."""
    return from_ascii((node.text or b"").decode("ascii"))


def source_bytes(node: Node) -> bytes:
    return node.text or b""


def is_fork_bomb(name: str, body: str) -> bool:
    """Whether a function pipes into itself in the background."""
    bare = "".join(body.split())
    return f"{name}|{name}&" in bare


def breeds(condition: str, body: str) -> bool:
    """Whether an endless loop starts background processes without waiting for any."""
    if condition.strip(" ;") not in ENDLESS or WAITING.search(body) is not None:
        return False
    return BEHIND.search(body) is not None


ENDLESS = (":", "true", "[ 1 ]", "[[ 1 ]]", "((1))", "(( 1 ))")
BEHIND = re.compile(r"(?<![&<>\d])&(?![&>\d])")
WAITING = re.compile(r"\b(?:sleep|wait|read|break|inotifywait|accept|timeout|nc|socat|exit)\b")


def goes_on(before: Node, node: Node) -> bool:
    """Whether only backslashes at line ends are between the two nodes: then they are one word."""
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
