"""Spelling: other ways to write the same call in a piece of code, brought to the plain one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

GETATTR = re.compile(r"\bgetattr\(\s{0,4}([A-Za-z_][\w.]{0,127})\s{0,4},\s{0,4}['\"](\w{1,64})['\"]\s{0,4}\)")
SUBSCRIPT = re.compile(r"\[['\"](\w{1,64})['\"]\](?=\()")
MAPPED = re.compile(r"\bmap\(\s{0,4}([A-Za-z_][\w.]{0,127})\s{0,4},")
HOME = re.compile(
    r"(?:pathlib\.)?Path\.home\(\)|(?:os\.path\.)?expanduser\((['\"])~\1\)|os\.environ\[(['\"])HOME\2\]"
    r"|\b(?:os\.)?(?:getenv|environ\.get)\((['\"])HOME\3\)|(?:\bos|require\((['\"])(?:node:)?os\4\))\.homedir\(\)"
    r"|\bDir\.home\b(?:\(\))?|\bENV\[(['\"])HOME\5\]|\$ENV\{['\"]?HOME['\"]?\}|\bprocess\.env\.HOME\b"
)
"""The home directory, as languages ask for it."""

GIVEN = re.compile(r"=\s{0,4}((?:require\([^()\n]{0,80}\)\.)?[A-Za-z_][\w.]{0,127})(?=\s{0,4}(?:[;\n,)]|\Z))")
"""A function that is given another name: `f = shutil.rmtree`. Found by the sign, of which there are few."""

RENAMED = re.compile(r":\s{0,4}([A-Za-z_]\w{0,63})(?=\s{0,4}[,}])")
"""A function that is taken from a module under another name: `{rmSync: f} = require('fs')`."""

IMPORTED = re.compile(r" as\s{1,4}([A-Za-z_]\w{0,63})")
"""The same in an import: `from os import system as f`."""

NAME = re.compile(r"([A-Za-z_]\w{0,63})\s{0,4}\Z")
MAX_BEFORE = 80
"""Characters before a sign that are read for the name."""


def spell_out(code: str) -> str:
    """The same code with calls by name, and the home directory as `~`."""
    if "getattr(" in code:
        code = GETATTR.sub(r"\1.\2", code)
    if "](" in code:
        code = SUBSCRIPT.sub(r".\1", code)
    if "map(" in code:
        code = MAPPED.sub(r"\1(", code)
    if "HOME" in code or "home" in code or "expanduser" in code:
        code = HOME.sub("'~'", code)
    return code


def other_names(code: str, acts: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Names that stand for a function that acts, and the function."""
    for found in GIVEN.finditer(code):
        if acts(found[1]) and (name := _before(code, found.start())):
            yield name, found[1]
    if " as " in code:
        yield from _renamed(IMPORTED, code, acts)
    if "require(" in code:
        yield from _renamed(RENAMED, code, acts)


def _renamed(sign: re.Pattern[str], code: str, acts: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    for found in sign.finditer(code):
        function = _before(code, found.start())
        if function and acts(function):
            yield found[1], function


def _before(code: str, at: int) -> str:
    name = NAME.search(code[max(0, at - MAX_BEFORE) : at])
    return "" if name is None else name[1]
