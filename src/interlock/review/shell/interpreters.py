"""Interpreters: code in other languages, and statements for databases."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from ...core import late_pattern
from ..code import read_calls
from ..code_signs import signs_in
from .model import NOTHING, Command, KnownFile, PipeContent
from .names import CODE_OPTIONS, INTERPRETERS
from .scope import ShellScope, below, stems_of
from .secret_flow import ENVIRONMENT, EVERYTHING, secret_in
from .servers import code_is_for_tests
from .sinks import LOCAL, SEND_SECRET
from .transfers import is_fetched, run_fetched
from .unpickling import find_unpickled

if TYPE_CHECKING:
    from .reader import ScriptReader


def run_interpreter(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`python -c CODE`, `node -e CODE`, `python - <<EOF`: calls that act become commands."""
    code = inline_code(command, INTERPRETERS[command.program])
    if code is None and command.args[:2] in (("-m", "pytest"), ("-m", "py.test")):
        return reader.execute(
            ["pytest", *command.args[2:]], scope, flow, redirects=command.redirects, span=command.span
        )
    operands = operands_of(command.args)
    inline = code is not None
    if code is not None or operands:
        # The program is given, so the pipe carries data.
        command = msgspec.structs.replace(command, fed_by=())
    fetcher = is_fetched(operands[0], scope) if operands and code is None else None
    if fetcher is not None:
        command = msgspec.structs.replace(command, fed_by=(fetcher,))
    if code is None:
        code = scope.recall(operands[0]) if operands else flow.text
    with reader.quoting(scope.evidence(operands[0]) if code is not None and operands and not inline else ""):
        reader.add(msgspec.structs.replace(command, code=code))
        if code is not None:
            run_code(reader, code, command.program, scope)
    return PipeContent(None, (*flow.sources, command.program)[-4:])


def operands_of(args: tuple[str, ...]) -> list[str]:
    """The file to run and its arguments; `-m a.b` is the file `a/b.py`."""
    if "-m" in args[:-1] and all(arg[:1] == "-" for arg in args[: args.index("-m")]):
        at = args.index("-m")
        return [f"{args[at + 1].replace('.', '/')}.py", *args[at + 2 :]]
    return [arg for at, arg in enumerate(args) if arg[:1] != "-" and (at == 0 or args[at - 1] not in ("-W", "-X"))]


def run_code(reader: ScriptReader, code: str, program: str, scope: ShellScope) -> None:
    """Run the calls of a piece of code, as far as they can be parsed."""
    inner = below(scope, program)
    if program in IMPORTS and len(scope.via) < MAX_IMPORTS:
        for name, file in imported(code, program, scope):
            with reader.quoting(f"{name}, written in step {file.step}" if file.step >= 0 else ""):
                run_code(reader, file.text or "", program, inner)
    for call in read_calls(code):
        if call.script is not None:
            reader.nested(call.script, inner.copy(), NOTHING)
        elif (call.words == ("sql",) and is_scratch(code)) or (call.words[:1] in SERVED and code_is_for_tests(code)):
            continue
        elif call.words:
            reader.execute(list(call.words), inner.copy(), NOTHING if call.text is None else PipeContent(call.text))
    find_sent(reader, code, program, scope)
    if (scope.files.known or scope.files.made) and any(sign in code for sign in LIBRARIES):
        for found in islice(LIBRARY.finditer(code), MAX_MODULES):
            run_fetched(reader, found[1], inner)
    if program == "python" and signs_in(code).evaluates:
        find_unpickled(reader, code, scope)
    if (scope.files.known or scope.files.made) and signs_in(code).evaluates:
        for found in islice(LITERAL.finditer(code), MAX_MODULES):
            if (text := scope.recall(found[1])) is not None:
                run_payloads(reader, text, inner)
    if program not in READ_BY_CALLS:
        run_payloads(reader, code, inner)


SERVED = (("sql",), ("call",))
"""Calls that act on a server."""

LIBRARIES = ("DLL(", "LoadLibrary(", "dlopen(", "load_dynamic(")
LIBRARY = late_pattern(
    r"(?:\w{0,6}DLL|LoadLibrary|dlopen|load_dynamic)\(\s{0,4}(?:['\"]\w{1,64}['\"]\s{0,4},\s{0,4})?r?['\"]([^'\"\n]{1,200})['\"]"
)
"""A library that a program loads."""

READ_BY_CALLS = frozenset(("python", "node", "ruby", "perl", "go", "rust", "deno", "bun"))
"""Languages whose calls are parsed; other code is searched for commands and deletions."""


def run_payloads(reader: ScriptReader, text: str, scope: ShellScope) -> None:
    """Run the commands inside another kind of text: in its literals, in lists of them, or after a word."""
    if not reader.may_search(text):
        return
    text = REMARK.sub("", text)
    for found in islice(PAYLOAD.finditer(text), MAX_PAYLOADS):
        quote, inner = found[1], found[2]
        if quote in QUOTES:
            inner = inner.partition(QUOTES[quote])[0]
        elif inner.count("'") % 2 or inner.count('"') % 2:
            inner = inner.rstrip().rstrip("'\"")
        reader.nested(inner.replace('\\"', '"'), scope.copy(), NOTHING)
    for found in islice(PAYLOAD_LIST.finditer(text), MAX_PAYLOADS):
        words = [found[1], *re.findall(r"['\"]([^'\"\n]*)['\"]", found[2])]
        reader.execute(words, scope.copy(), NOTHING)
    for found in islice(DELETING.finditer(text), MAX_PAYLOADS):
        begin, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        place = FAR.search(text[begin : end if end >= 0 else len(text)])
        if place is not None:
            reader.execute(["rm", "-rf", place[1]], scope.copy(), NOTHING)
    for found in islice(DELETING_BARE.finditer(text), MAX_PAYLOADS):
        reader.execute(["rm", "-rf", found[1]], scope.copy(), NOTHING)


MAX_PAYLOADS = 32
QUOTES = {"'": "'", '"': '"', "`": "'"}
"""What ends a literal; macros quote `like this'."""
REMARK = late_pattern(r"^\s*(?:#(?!!)|//|--|;|dnl\b|\*|/\*).*$", re.MULTILINE)
_WORD = (
    r"(?:/[\w/.-]{1,80}/)?(?:rm|dd|shred|mkfs(?:\.\w+)?|wipefs|find|curl|wget|nc|ncat|bash|sh|chmod|chown|truncate"
    r"|mv|scp|ssh|cat|env)"
)
PAYLOAD = late_pattern(rf"(^|[\s;&|(=:!`'\"\[,{{])({_WORD}[ \t][^\n`)]{{1,400}})", re.MULTILINE)
PAYLOAD_LIST = late_pattern(
    rf"['\"]({_WORD})['\"]((?:\s{{0,4}}(?:,|\)\s{{0,4}}\.args?\()[\s\[]{{0,4}}['\"][^'\"\n]{{0,200}}['\"]){{1,8}})"
)
DELETING = late_pattern(
    r"(?<![\w-])(?:rm(?:_rf|_r|dir|tree)?!?(?=\()|rm_rf!?|unlink|(?:del|delete|remove|rm)[-_]?(?:[Dd]ir|[Tt]ree|[Ff]older|[Ff]ile|"
    r"[Rr]ecursively|[Aa]ll)\w*)"
)
"""A call that deletes files, in any language."""

DELETING_BARE = late_pattern(
    r"(?:^|[;\[{\n])\s{0,8}(?:file\s+delete|delete\s+file|remove\s+file)(?:\s+-\w+){0,3}\s+(?:--\s+)?([~/][^\s;\]}]{1,300})"
)
"""The same in languages whose calls have no parentheses."""

FAR = late_pattern(r"['\"]((?:/|~/)[^'\"\n]{1,300})['\"]")


def is_scratch(code: str) -> bool:
    """Whether a program creates its own database: in memory, or dropped only to be recreated."""
    lower = code.lower()
    return ":memory:" in lower or ("drop table if exists" in lower and "create table" in lower)


MAX_IMPORTS = 3
"""Depth of nested imports."""

MAX_MODULES = 16
"""Modules looked up per piece of code."""

IMPORT = late_pattern(
    r"(?:^|;)[ \t]{0,16}(?:import[ \t]{1,8}([\w.]{1,80})|from[ \t]{1,8}([\w.]{1,80})[ \t]{1,8}import)", re.MULTILINE
)


REQUIRE = late_pattern(
    r"(?:\brequire\(|\bimport\(|\bfrom|\bimport)\s{0,4}['\"](\.{1,2}/[\w./-]{1,200})['\"]|\brequire_relative\s{0,4}\(?['\"]([\w./-]{1,200})"
)
"""Modules of a project in JavaScript and Ruby."""

IMPORTS = {
    "python": (IMPORT, (".py", "/__init__.py")),
    "node": (REQUIRE, ("", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts")),
    "ruby": (REQUIRE, ("", ".rb")),
}
"""How a language names a project's modules, and the suffixes of their files."""


def imported(code: str, language: str, scope: ShellScope) -> list[tuple[str, KnownFile]]:
    """The project modules that a piece of code imports, if a step has written them."""
    found: list[tuple[str, KnownFile]] = []
    endings = IMPORTS[language][1]
    stems = stems_of(scope.files.known) if scope.files.known else frozenset()
    for module in modules_of(code, language):
        if module in STANDARD and module not in stems:
            continue
        path = module.replace(".", "/") if language == "python" else module.removeprefix("./")
        for ending in endings:
            file = scope.file(name := path + ending)
            if file.text is not None:
                found.append((name, file))
    return found


@lru_cache(64)
def modules_of(code: str, language: str) -> tuple[str, ...]:
    """The modules that a piece of code names; cached, since a run runs the same file repeatedly."""
    return tuple(found[1] or found[2] for found in islice(_imports(code, language), MAX_MODULES))


def _imports(code: str, language: str) -> Iterator[re.Match[str]]:
    """Where a piece of code names modules; in Python only lines with `import` are searched."""
    sign = IMPORTS[language][0]
    if sign is not IMPORT:
        yield from sign.finditer(code)
        return
    at = code.find("import")
    while at >= 0:
        begin, end = code.rfind("\n", 0, at) + 1, code.find("\n", at)
        end = len(code) if end < 0 else end
        yield from sign.finditer(code, begin, end)
        at = code.find("import", end)


STANDARD = frozenset(sys.stdlib_module_names) | {"numpy", "pandas", "requests", "pytest", "django", "flask", "torch"}
"""Modules that no project writes."""


def find_sent(reader: ScriptReader, code: str, program: str, scope: ShellScope) -> None:
    """Record that a piece of code sends a secret elsewhere: it reads one, and it sends something."""
    if not signs_in(code).sends:
        return
    mark = ENVIRONMENT if READS_ENVIRONMENT.search(code) or IN_ADDRESS.search(code) else ""
    if not mark and READS_FILES.search(code) is not None:
        literals = islice(LITERAL.finditer(code), MAX_LITERALS)
        paths = (found[1] for found in literals if "." in found[1] or "/" in found[1])
        mark = next((mark for path in paths if (mark := secret_in(scope.place(path), scope.file(path)))), "")
    addresses = ADDRESS.findall(code)
    if mark and not (addresses and all(LOCAL.match(address) for address in addresses)):
        reader.add(Command(program=SEND_SECRET, args=(mark, program), via=scope.via, cwd=scope.cwd))


MAX_LITERALS = 256


READS_ENVIRONMENT = late_pattern(
    r"\bos\.environ(?!\s{0,4}[\[.])|os\.environ\.(?:copy|items)\(|dict\(os\.environ|\bprocess\.env(?!\s{0,4}[.\[])|\bENV\.to_h|%ENV|\bgetenv\(\)"
    r"|dotenv_values|environ\.items"
)
IN_ADDRESS = late_pattern(
    r"https?://[^\s'\"`]{0,200}(?:['\"]\s{0,4}[+.]\s{0,4}|\$?\{|#\{)"
    r"(?:os\.(?:environ(?:\.get)?|getenv)|process\.env|ENV)[\[(.]{1,2}['\"]?\w{0,60}(?:KEY|TOKEN|SECRET|PASS|CRED)"
)
"""A secret from the environment inside a URL: services expect one in a header."""
READS_FILES = late_pattern(
    r"\bopen\(|read_text|read_bytes|readFile|File\.(?:read|open)|file_get_contents|IO\.read|slurp|\bopen\b|upload|files="
)
LITERAL = late_pattern(r"['\"]([^'\"\n]{1,200})['\"]")
ADDRESS = late_pattern(r"https?://[^\s'\"`)]{1,200}")


def inline_code(command: Command, options: tuple[str, ...]) -> str | None:
    """The text after one of the options; several are joined."""
    found: list[str] = []
    args = command.args
    for at, arg in enumerate(args):
        if arg in options:
            found += args[at + 1 : at + 2]
        elif arg.startswith("--") and "=" in arg and arg.partition("=")[0] in options:
            found.append(arg.partition("=")[2])
        elif len(arg) > 2 and arg[:2] in options and arg[1] != "-":
            found.append(arg[2:])
        elif arg[:1] == "-" and arg[1:2] != "-" and len(arg) > 2 and f"-{arg[-1]}" in options and arg[1:].isalpha():
            found += args[at + 1 : at + 2]
    return "\n".join(found) if found else None


READ_FILE = late_pattern(r"\s*(?:\.read|\\i|source|\\\.)\s+['\"]?([^\s'\";]+)")
"""Statements that read others from a file."""


def statement_file(command: Command) -> str | None:
    """The file that a database client reads its statements from."""
    for redirect in command.redirects:
        if redirect.op == "<":
            return redirect.target
    args = command.args
    for at, arg in enumerate(args):
        if arg in ("-f", "--file", "-i", "-init", "--queries-file") and at + 1 < len(args):
            return args[at + 1]
        if arg.startswith(("--file=", "--queries-file=")):
            return arg.partition("=")[2]
    return None


def database(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Statements given to a database client by option, operand or pipe."""
    code = inline_code(command, CODE_OPTIONS[command.program])
    if code is None and command.program in (
        "sqlite3",
        "sqlite",
        "turso",
        "bq",
        "isql",
        "db2",
        "cypher-shell",
        "duckdb",
        "rqlite",
    ):
        operands = [arg for arg in command.args if not arg.startswith("-")]
        if len(operands) == 2 or (operands and command.program == "cypher-shell"):
            code = operands[-1]
        elif operands[1:]:
            code = ";\n".join((*operands[1:], operands[0]))
    evidence = ""
    if code is not None and (named := READ_FILE.match(code)) is not None:
        code, evidence = scope.recall(named[1]) or code, scope.evidence(named[1])
    if code is None:
        source = statement_file(command)
        code = flow.text if source is None else scope.recall(source)
        if source is not None:
            evidence = scope.evidence(source)
    with reader.quoting(evidence):
        scratch = code is not None and command.program in FILES and is_scratch(code)
        reader.add(msgspec.structs.replace(command, code=None if scratch else code))
        for left, inner in islice(SHELL_OUT.findall(code or ""), MAX_PAYLOADS):
            reader.nested(left or inner, below(scope, command.program), NOTHING)
    if "--rdb" in command.args:
        scope.note(command.args[-1], KnownFile(secret=EVERYTHING))
    return PipeContent(None, (*flow.sources, command.program)[-4:])


FILES = ("sqlite3", "sqlite", "duckdb", "litecli")
"""Clients whose database is a file."""

SHELL_OUT = late_pattern(
    r"(?:^|\n)\s{0,8}(?:\\+!|\.shell|\.system|system|!)\s{0,8}([^\n]{1,400})"
    r"|\bPROGRAM\s{1,4}'([^'\n]{1,400})'"
)
"""Statements with which a database client runs a command."""
