"""Code tokens: the calls in a piece of code with their literals, in any language. See `code` for their effects."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice

from ..core import late_pattern
from .paths import fixed

MAX_TOKENS = 20_000
MAX_LITERALS = 12

STRING = (
    r'(?:[rbfuRBFU]{0,2})(?:"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\''
    r'|"(?:[^"\\\n]|\\[\s\S])*"|\'(?:[^\'\\\n]|\\[\s\S])*\'|`(?:[^`\\]|\\[\s\S])*`)'
)
# Every repetition is bounded or possessive, so that matching takes linear time.
TOKEN = late_pattern(
    # Quickly skips characters that begin no token.
    r"(?=[A-Za-z_$.\"'`(\[{)\]};\n#/]|^[ \t])"
    rf"(?:(?P<string>(?=[rbfuRBFU\"'`]){STRING})"
    # Possessive: a shorter name would be followed by a letter, so none is tried.
    r"|(?P<call>\.?[A-Za-z_$][\w$]{0,63}+(?:(?:\.|::|->)[A-Za-z_]\w{0,63}+){0,7}+)(?=\s{0,8}\(|!?[ \t]{1,8}['\"\[])"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[;\n])"
    r"|(?P<comment>(?:^|(?<=\s))\#[^\n]*|^[ \t]*//[^\n]*))",
    re.MULTILINE,
)
LITERAL = late_pattern(r"=\s{0,4}(\"[^\"\n]{0,999}\"|'[^'\n]{0,999}')")
NAME = late_pattern(r"(?:^|[;\s])(?:const |let |var |my )?\$?([A-Za-z_]\w{0,63})\s{0,4}:?\Z", re.MULTILINE)
MAX_BEFORE = 80
"""Characters before the `=` that are searched for the name."""


def assigned(code: str) -> Iterator[tuple[str, str]]:
    """Names and the literals assigned to them; found by the `=`, which is rare."""
    at = 0
    while (literal := LITERAL.search(code, at)) is not None:
        name = NAME.search(code[max(0, literal.start() - MAX_BEFORE) : literal.start()])
        if name is not None:
            yield name[1], literal[1]
        at = literal.start() + 1 if name is None else literal.end()


Found = tuple[str, list[str], list[str]]
"""A call: its name, the literals among its arguments, and those of the call that it is chained to."""


def calls(code: str, known: dict[str, str]) -> list[Found]:
    """Every call, innermost first."""
    done: list[Found] = []
    stack: list[tuple[str, list[str], list[str], int]] = []
    depth = 0
    last: list[str] = []
    end = 0
    for token in islice(TOKEN.finditer(code), MAX_TOKENS):
        kind = token.lastgroup
        if kind == "name":
            if not end and token[0] not in known:
                continue
        elif kind == "open":
            depth += 1
            continue
        elif kind == "comment" or (kind == "end" and not stack):
            continue
        sign = code[end : token.start()].strip(" )") if end and kind in JOINED else ""
        if len(sign) > MAX_SIGN:
            end = 0
        elif sign in ("/", "+", "."):
            text = unquote(token[0]) if kind == "string" else known.get(token[0], f"${token[0]}")
            last = add_to_last([*(frame[1] for frame in stack[-MAX_AROUND:]), list(last)], sign, text)
            end = token.end()
            if kind != "call":
                continue
        if kind == "call":
            name = token["call"]
            stack.append((name, [], last if name.startswith(".") else [], depth))
        elif kind == "string" or (kind == "name" and token[0] in known and not is_assigned(code, token.end())):
            text = unquote(token[0]) if kind == "string" else known[token[0]]
            end = token.end()
            if (
                text[:1] == "/"
                and code[max(0, token.start() - 4) : token.start()].rstrip()[-1:] == "+"
                and not fixed(text)
            ):
                text = f"$path{text}"  # the end of a path that something unknown begins
            if kind == "string" and token[0].startswith("`") and not stack:
                done.append(("`", [text], []))
            elif not is_keyword(code, token.start()):
                for _, literals, _, _ in stack:
                    if len(literals) < MAX_LITERALS:
                        literals.append(text)
        elif kind == "close" or kind == "end":
            depth -= kind == "close"
            while stack and depth <= stack[-1][3]:
                name, last, before, _ = stack.pop()
                if len(last) > 1 and (name == "join" or name.endswith(JOINING)):
                    last = join_last([*(frame[1] for frame in stack[-MAX_AROUND:]), list(last)], len(last))
                done.append((name, last, before))
    done += [(name, literals, before) for name, literals, before, _ in reversed(stack)]
    return done


def add_to_last(lists: list[list[str]], sign: str, text: str) -> list[str]:
    """Join both sides of an operator where the left side is the last literal; return the last list."""
    for literals in lists:
        if literals and len(literals[-1]) < MAX_JOINED:
            literals[-1] = f"{literals[-1].rstrip('/')}/{text}" if sign == "/" else literals[-1] + text
    return lists[-1]


def join_last(lists: list[list[str]], count: int) -> list[str]:
    """Join the arguments of a call that joins paths, and of calls around it, into one literal; return the last list."""
    parts = lists[-1]
    for literals in lists:
        if literals[-count:] == parts[-count:]:
            first, *rest = literals[-count:]
            # Some languages join `.` and `/dist` to `./dist`.
            literals[-count:] = [posixpath.join(first, *(part.lstrip("/") if first == "." else part for part in rest))]
    return lists[-1]


JOINING = ("path.join", "File.join", "joinpath", "path.Join", "path.resolve")
"""Functions that join the parts of a path."""

MAX_AROUND = 16
"""Enclosing calls in which a literal is joined with another."""

MAX_JOINED = 1_024
"""Characters beyond which nothing more is appended to a literal."""

JOINED = frozenset(("string", "name", "call"))

MAX_SIGN = 8
"""Characters after a literal within which the operator must be."""


def is_assigned(code: str, at: int) -> bool:
    """Whether a name is assigned here, as a variable or a keyword argument."""
    after = code[at : at + 4].lstrip()
    return after.startswith("=") and not after.startswith("==")


def is_keyword(code: str, at: int) -> bool:
    """Whether the text is the value of a keyword argument (`cwd="/x"`, `cwd: '/x'`)."""
    before = code[max(0, at - 24) : at].rstrip()
    return (before.endswith("=") and not before.endswith(("==", "(="))) or (
        before.endswith(":") and not before.endswith("::")
    )


def unquote(text: str) -> str:
    """The text of a string literal."""
    body = text.lstrip("rbfuRBFU")
    for mark in ('"""', "'''"):
        if body.startswith(mark):
            return body[3:-3]
    return ESCAPED.sub(r"\1", body[1:-1]) if "\\" in body else body[1:-1]


ESCAPED = re.compile(r"\\(['\"`\\])")
