"""Spelling: rewrites obfuscated or indirect forms of a call into the plain one."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import islice

from ..core import late_pattern

GETATTR = late_pattern(r"\bgetattr\(\s{0,4}([A-Za-z_][\w.]{0,127})\s{0,4},\s{0,4}['\"](\w{1,64})['\"]\s{0,4}\)")
SUBSCRIPT = late_pattern(r"\[['\"](\w{1,64})['\"]\](?=\()")
IMPORT = late_pattern(r"\b(?:__import__|importlib\.import_module)\(\s{0,4}['\"](\w{1,64})['\"]\s{0,4}\)")
DICTIONARY = late_pattern(r"\bvars\(\s{0,4}([A-Za-z_]\w{0,63})\s{0,4}\)|\b([A-Za-z_]\w{0,63})\.__dict__")
BY_NAME = ("__import__", "import_module", "__dict__", "vars(")
"""Modules and members accessed by name; substrings of such code."""
MAPPED = late_pattern(r"\bmap\(\s{0,4}([A-Za-z_][\w.]{0,127})\s{0,4},")
HOME = late_pattern(
    r"(?:pathlib\.)?Path\.home\(\)|(?:os\.path\.)?expanduser\((['\"])~\1\)|os\.environ\[(['\"])HOME\2\]"
    r"|\b(?:os\.)?(?:[gG]etenv|environ\.get)\((['\"])HOME\3\)|(?:(?:\bos|require\((['\"])(?:node:)?os\4\))\.)?\bhomedir\(\)"
    r"|\bDir\.home\b(?:\(\))?|\bENV\[(['\"])HOME\5\]|\$ENV\{['\"]?HOME['\"]?\}|\bprocess\.env\.HOME\b"
)
"""The home directory, as various languages express it."""

HERE = late_pattern(
    r"\bprocess\.cwd\(\)|\bos\.getcwd\(\)|\b(?:pathlib\.)?Path\.cwd\(\)|\bDir\.pwd\b|\b__dirname\b|\bimport\.meta\.dirname\b|\b__DIR__\b"
)
HERES = ("cwd()", "Dir.pwd", "dirname", "__DIR__")
"""The working directory or the script's own, and substrings of such code."""
HOME_IN_GO = late_pattern(r"\b(\w{1,64}),\s{0,4}\w{1,64}\s{0,4}:?=\s{0,4}os\.UserHomeDir\(\)")
HOME_RENAMED = late_pattern(r"\bhomedir(?:\s{0,4}:|\s{1,4}as\s)\s{0,4}([A-Za-z_]\w{0,63})")
CHAINED = late_pattern(r"'([~.])'\.joinpath\(")
FILLED = late_pattern(r"[$#]\{'([~.])'\}|(?<=[fF]['\"])\{'([~.])'\}")
"""One of these inside a text: `${homedir()}/x`."""

GIVEN = late_pattern(r"=\s{0,4}((?:require\([^()\n]{0,80}\)\.)?[A-Za-z_][\w.]{0,127})(?=\s{0,4}(?:[;\n,)]|\Z))")
"""A function assigned to another name: `f = shutil.rmtree`. Found by the `=`, which is rare."""

RENAMED = late_pattern(r":\s{0,4}([A-Za-z_]\w{0,63})(?=\s{0,4}[,}])")
"""A function imported from a module under another name: `{rmSync: f} = require('fs')`."""

IMPORTED = late_pattern(r" as\s{1,4}([A-Za-z_]\w{0,63})")
"""The same in a Python import: `from os import system as f`."""

NAMED_ALONE = late_pattern(
    r"\{([\w\s,]{1,200})\}\s{0,4}(?:=\s{0,4}(?:await\s{1,4})?(?:require|import)\(|from)\s{0,4}['\"](?:node:)?fs(?:/promises|-extra)?['\"]"
    r"|\bfrom\s{1,4}(?:os|shutil|pathlib)\s{1,4}import\s{1,4}\(?([\w, ]{1,200})"
)
"""Functions of the file system that code uses without naming the module: `import {rm} from 'fs/promises'`."""

MAX_NAME = 64
MAX_BLANKS = 4
"""Characters of a name before an operator, and of whitespace between them."""


def spell_out(code: str) -> str:
    """The same code with plain calls instead of calls by name, joined literals, and the home directory as `~`."""
    if "%" in code:
        code = PERCENT.sub(r'"\1"', code)
    code = plain_literals(code)
    if "[" in code:
        code = lists_in_place(code)
    if _has(code, BY_NAME):
        code = DICTIONARY.sub(lambda found: found[1] or found[2], IMPORT.sub(r"\1", code))
    if "partial(" in code:
        code = PARTIAL.sub(r"\1(", code)
    if "getattr(" in code:
        code = GETATTR.sub(r"\1.\2", code)
    if "](" in code:
        code = SUBSCRIPT.sub(r".\1", code)
    if "map(" in code:
        code = MAPPED.sub(r"\1(", code)
    if "HOME" in code or "ome" in code or "expanduser" in code:
        if (renamed := HOME_RENAMED.search(code)) is not None:
            code = re.sub(rf"\b{renamed[1]}\(\)", "homedir()", code)
        code = HOME.sub("'~'", HOME_IN_GO.sub(r"\1 := '~'", code) if "UserHomeDir" in code else code)
    if _has(code, HERES):
        code = HERE.sub("'.'", code)
    if ".joinpath(" in code:
        code = CHAINED.sub(r"os.path.join('\1', ", code)
    if "{'" in code:
        code = FILLED.sub(lambda found: found[1] or found[2], code)
    return code


LIST = late_pattern(r"=\s{0,4}\[(\s{0,40}(?:['\"][^'\"\n]{0,400}['\"]\s{0,40},?\s{0,40}){1,32})\]")
"""A list of literals assigned to a name, found by the `=`: the words of a command."""

MAX_LISTS = 16


def lists_in_place(code: str) -> str:
    """Inline lists of literals, with what is appended to them, into the calls that use their names."""
    for found in islice(LIST.finditer(code), MAX_LISTS):
        name, items = _before(code, found.start()), found[1].strip().rstrip(",")
        if not name:
            continue
        given = re.compile(rf"\(\s{{0,4}}\*?{name}\s{{0,4}}(?=[,)])")
        if given.search(code) is not None:
            added = re.findall(rf"\b{name}\.(?:append|push)\(\s{{0,4}}(['\"][^'\"\n]{{0,400}}['\"])\s{{0,4}}\)", code)
            whole = ", ".join([items, *added[:MAX_LISTS]])
            code = given.sub(lambda _, whole=whole: f"([{whole}]", code)  # type: ignore[misc]
    return code


def plain_literals(code: str) -> str:
    """Decode literals that are split, reversed, given as numbers or encoded."""
    if "\\x" in code or "\\u" in code:
        code = ESCAPED.sub(lambda found: shown(chr(int(found[1] or found[2], 16))), code)
    if "chr" in code or "bytes" in code or "fromCharCode" in code:
        code = MAPPED_NUMBERS.sub(r"[\1]", code)
        code = NUMBERS.sub(
            lambda found: as_literal(bytes(int(part) % 256 for part in found[1].split(",")), found[0]), code
        )
        code = CHARACTER.sub(lambda found: as_literal(bytes([int(found[1]) % 256]), found[0]), code)
        code = EMPTY_JOIN.sub(r"\1", code)
    if _has(code, ENCODINGS):
        code = COMPRESSED.sub(lambda found: unpacked(found), code) if "decompress(" in code else code
        code = ENCODED.sub(lambda found: decoded(found[0], found[2], found[3] or found[1]), code)
    if "%x" in code:
        code = RUBY_RUN.sub(r'system("\1")', code)
    if "pack" in code:
        code = PACKED.sub(lambda found: decoded(found[0], found[1] or found[2], "hex"), code)
    if "reduce" in code:
        code = BESIDE.sub(r"\1(", code)
    if "rot" in code:
        code = ROTATED.sub(lambda found: as_literal(codecs.decode(found[2] or found[4], "rot13").encode(), ""), code)
    if "[::-1]" in code or "rev" in code:
        code = BACKWARDS.sub(lambda found: as_literal((found[2] or found[4])[::-1].encode(), ""), code)
        code = EMPTY_JOIN.sub(r"\1", code)
    for _ in range(MAX_PIECES if BESIDE_EACH_OTHER.search(code) else 0):
        joined = PIECES.sub(r"\1\2\3\1", code)
        if joined == code:
            break
        code = joined
    return code


def _has(code: str, signs: tuple[str, ...]) -> bool:
    for sign in signs:  # noqa: SIM110 (any() is slower)
        if sign in code:
            return True
    return False


def decoded(call: str, text: str, way: str) -> str:
    """The decoded text of an encoded literal; the call unchanged if it cannot be decoded."""
    try:
        raw = bytes.fromhex(text) if "hex" in way or "b16" in way else base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return call
    return as_literal(raw, call)


def unpacked(found: re.Match[str]) -> str:
    """The text of a compressed and encoded literal; the call unchanged if it is none."""
    try:
        raw = zlib.decompressobj(AUTOMATIC).decompress(base64.b64decode(found[1], validate=True), MAX_UNPACKED)
    except (binascii.Error, ValueError, zlib.error):
        return found[0]
    return as_literal(raw, found[0])


AUTOMATIC = zlib.MAX_WBITS | 32
MAX_UNPACKED = 16_384
"""Either header, of zlib or of gzip; and bytes of the result."""


def as_literal(raw: bytes, otherwise: str) -> str:
    """Bytes as a string literal, if they are text."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return otherwise
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{quoted}"""' if "\n" in text else f'"{quoted}"'


def shown(letter: str) -> str:
    return letter if letter.isprintable() and letter not in "'\"\\`" else " "


MAX_PIECES = 12
"""How often adjacent literals are joined."""

PERCENT = late_pattern(r"%[qQwWi]\(([^()\"\n]{0,400})\)")
"""Ruby literals: `%q(a)`, `%w(a)`."""

PARTIAL = late_pattern(r"\b(?:functools\.)?partial\(\s{0,4}([A-Za-z_][\w.]{0,127})\s{0,4},?")
ESCAPED = late_pattern(r"\\x([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})")
MAPPED_NUMBERS = late_pattern(
    r"(?:map\(\s{0,4}chr\s{0,4},\s{0,4}|chr\(\w{1,16}\)\s{1,4}for\s{1,4}\w{1,16}\s{1,4}in\s{1,4})[\[(]([\d,\s]{5,2000})[\])](?:\s{0,4}\)(?=\)))?"
)
EMPTY_JOIN = late_pattern(r"(?:''|\"\")\.join\(\s{0,4}(\"(?:[^\"\\\n]|\\.){0,2000}\")\s{0,4}\)")
NUMBERS = late_pattern(
    r"(?:bytes|bytearray|fromCharCode)?\s{0,4}[\[(](\d{1,3}(?:\s{0,4},\s{0,4}\d{1,3}){2,400})\s{0,4}[\])]"
)
CHARACTER = late_pattern(r"\bchr\(\s{0,4}(\d{1,3})\s{0,4}\)")
ENCODED = late_pattern(
    r"([\w.:]{0,24}(?:b64decode|decode_base64|base64_decode|decode64|a2b_base64|fromhex|unhexlify|hex2bin|a2b_hex|b16decode)"
    r"|\batob|\bBuffer\.from)\(\s{0,4}b?['\"]([A-Za-z0-9+/=_-]{4,65536})['\"]"
    r"(?:\s{0,4},\s{0,4}['\"](\w{1,16})['\"])?\s{0,4}\)(?:\.(?:decode|toString)\([^()]{0,16}\))?"
)
ENCODINGS = (
    "b64decode", "decode_base64", "base64_decode", "decode64", "a2b_", "fromhex", "unhexlify", "hex2bin", "b16decode",
    "atob", "Buffer.from",
)  # fmt: skip
COMPRESSED = late_pattern(
    r"\b(?:zlib|gzip)\.decompress\(\s{0,4}(?:base64\.)?b64decode\(\s{0,4}b?['\"]([A-Za-z0-9+/=]{4,65536})['\"]\s{0,4}\)\s{0,4}\)"
    r"(?:\.decode\([^()]{0,16}\))?"
)
RUBY_RUN = late_pattern(r"%x[({\[|!]([^)}\]|!\n]{1,400})[)}\]|!]")
PACKED = late_pattern(
    r"\b(?:unhex_?)?pack\(\s{0,4}['\"]H\*['\"]\s{0,4},\s{0,4}['\"]([0-9a-fA-F]{4,65536})['\"]\s{0,4}\)"
    r"|\[\s{0,4}['\"]([0-9a-fA-F]{4,65536})['\"]\s{0,4}\]\.pack\(\s{0,4}['\"]H\*['\"]\s{0,4}\)"
)
BESIDE = late_pattern(r"\(\s{0,4}([A-Za-z_][\w.]{1,80})\s{0,4},\s{0,4}\((?=\s{0,4}['\"\[])")
"""A function next to the arguments that it will be called with, as in a pickle."""

ROTATED = late_pattern(
    r"(?:codecs\.)?(?:decode|encode)\(\s{0,4}(['\"])([^'\"\\\n]{1,400})\1\s{0,4},\s{0,4}['\"]rot_?13['\"]\s{0,4}\)"
    r"|\bstr_rot13\(\s{0,4}(['\"])([^'\"\\\n]{1,400})\3\s{0,4}\)"
)
BACKWARDS = late_pattern(
    r"(['\"])([^'\"\\\n]{1,400})\1(?:\[::-1\]|\.reverse\b(?:\(\))?|\.split\((?:''|\"\")\)\.reverse\(\)\.join\((?:''|\"\")\))"
    r"|\b(?:strrev|reversed|reverse)(?:\(\s{0,4}|\s{1,4})(['\"])([^'\"\\\n]{1,400})\3(?:\s{0,4}\))?"
)
PIECES = late_pattern(r"(['\"])([^'\"\\\n]{0,400})\1\s{0,4}(?:\+\s{0,4})?\1([^'\"\\\n]{0,400})\1")

BESIDE_EACH_OTHER = late_pattern(r"(['\"])\s{0,4}(?:\+\s{0,4})?\1")
"""A quick check for such pieces."""


def other_names(code: str, acts: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Names that stand for a function that acts, and the function."""
    for found in GIVEN.finditer(code):
        if acts(found[1]) and (name := _before(code, found.start())):
            yield name, found[1]
    for found in islice(NAMED_ALONE.finditer(code), MAX_LISTS) if "fs" in code or "import" in code else ():
        for name in (found[1] or found[2]).split(","):
            if acts(f"os.{name.strip()}"):
                yield name.strip(), f"os.{name.strip()}"
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
    """The name that ends before an index, with at most a few spaces between them."""
    end = at
    while end > max(0, at - MAX_BLANKS) and code[end - 1].isspace():
        end -= 1
    begin = end
    while begin > max(0, end - MAX_NAME) and (code[begin - 1].isalnum() or code[begin - 1] == "_"):
        begin -= 1
    while begin < end and not (code[begin] == "_" or (code[begin].isascii() and code[begin].isalpha())):
        begin += 1
    return code[begin:end]
