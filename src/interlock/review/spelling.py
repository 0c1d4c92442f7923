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

GIVEN = re.compile(
    r"(?:^|(?<=[;\s,({]))([A-Za-z_]\w{0,63})\s{0,4}=\s{0,4}((?:require\([^()\n]{0,80}\)\.)?[A-Za-z_][\w.]{0,127})"
    r"(?=\s{0,4}(?:[;\n,)]|\Z))"
)
"""A function that is given another name: `f = shutil.rmtree`."""

TAKEN = re.compile(r"(?<!\w)([A-Za-z_]\w{0,63})\s{0,4}(?::|\bas\b)\s{0,4}([A-Za-z_]\w{0,63})(?=\s{0,4}(?:[,}\n;)]|\Z))")
"""A function that is taken from a module under another name: `{rmSync: f} = require('fs')`, `import system as f`."""


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
    for name, function in GIVEN.findall(code):
        if acts(function):
            yield name, function
    if "require(" in code or "import" in code:
        for function, name in TAKEN.findall(code):
            if acts(function):
                yield name, function
