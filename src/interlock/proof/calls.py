"""Calls: a tool call parsed for proof: the programs that its script runs, the files it writes, the text it outputs."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..core import Step, Tool, late_pattern
from ..review import COMMAND_KEYS, Write, file_verb, kind_of, path_of, text_of, writes_of

ANSWERS = late_pattern(
    r"(?:^|_)(?:submit|finish|final_answer|done|complete|attempt_completion|task_complete|end)(?:_|\Z)"
)
_ANSWER_KEYS = ("message", "result", "answer", "output", "summary", "text", "content", "response", "command", "thought")
_VIEWS = ("view", "read", "open", "list", "undo_edit")
_HEREDOC = late_pattern(
    r"\bcat\s*(?:>>?\s*(?P<a>[^\s<>|&;]+)\s*<<-?\s*['\"]?(?P<m>\w+)['\"]?"
    r"|<<-?\s*['\"]?(?P<n>\w+)['\"]?\s*>>?\s*(?P<b>[^\s<>|&;]+))"
    r"[^\n]*\n(?P<text>.*?)\n[ \t]*(?:(?P=m)|(?P=n))(?=\s|\Z)",
    re.DOTALL,
)
_REDIRECT = late_pattern(r"(?<![\d&<>-])>>?\s*['\"]?([\w./~@+-]+)['\"]?")
_IN_PLACE = late_pattern(r"\b(?:sed|perl)\s+(?:-\S+\s+)*-\w*i\S*\s")
_CHANGES = late_pattern(
    r"\b(?:mv|cp|rm|touch|patch|git (?:apply|checkout|restore|stash|reset|revert|merge|pull|rebase))\b"
)
_FILE = late_pattern(r"(?<![\w=$-])((?:[\w@~.-]+/)*[\w@~-][\w@~.-]*\.[A-Za-z]\w{0,9})(?![\w(/])")
_LOG = late_pattern(r"\.(?:log|out)$|(?:^|/)(?:output|results?)\.txt$")
_SAYS = late_pattern(r"(?:^|[;&|]\s*)(?:echo|printf)\s+(?:-\w+\s+)*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^;&|>\n]+)")


class CallReading(Struct, frozen=True):
    """A call parsed for proof. `says` is what it prints or submits in the agent's own words."""

    script: str = ""
    writes: tuple[Write, ...] = ()
    paths: tuple[str, ...] = ()
    reads: str = ""
    says: str = ""
    answers: bool = False


NOTHING = CallReading()


_last: tuple[Step | None, CallReading] = (None, NOTHING)
"""The most recent result, cached since several callers need it."""


def read_call(step: Step, tool: Tool) -> CallReading:
    """Parse a call for proof."""
    global _last
    last = _last
    if last[0] is not step:
        last = _last = (step, _read_call(step, tool))
    return last[1]


@lru_cache(512)
def _is_answer(name: str, kind: str) -> bool:
    return ANSWERS.search(name) is not None and kind != "shell"


def _read_call(step: Step, tool: Tool) -> CallReading:
    name, kind = kind_of(tool.name)
    known = step.paths
    paths = (*known.written, *known.deleted) if known is not None else ()
    if _is_answer(name, kind):
        return CallReading(says=text_of(tool.arguments, _ANSWER_KEYS)[1], answers=True)
    if kind == "shell" or (kind == "unknown" and "command" in tool.arguments):
        script = text_of(tool.arguments, COMMAND_KEYS)[1]
        return read_script(script, paths) if script else NOTHING
    if kind in ("editor", "files"):
        path = path_of(tool.arguments)
        if tool.arguments.get("command") in _VIEWS or (kind == "files" and file_verb(name) in ("cat", "ls")):
            return CallReading(reads=path or "")
        writes = writes_of(path, tool.arguments)
        says = "\n".join(write.text for write in writes if _LOG.search(write.path))[:1_000]
        return CallReading(
            writes=writes, says=says, paths=paths or tuple(dict.fromkeys([w.path for w in writes] or [path or ""]))
        )
    return CallReading(paths=paths)


@lru_cache(256)
def read_script(script: str, paths: tuple[str, ...] = ()) -> CallReading:
    """Parse a shell script for proof."""
    says = reads = ""
    writes: list[Write] = []
    written: list[str] = list(paths)
    if "<<" in script:
        writes += [Write(found["a"] or found["b"], found["text"]) for found in _HEREDOC.finditer(script)]
    if "echo" in script or "printf" in script:
        plain = _HEREDOC.sub("", script) if writes else script
        says = "\n".join(each.strip("\"' ") for each in _SAYS.findall(plain))[:1_000]
    if not paths:
        if ">" in script:
            written += [each for each in _REDIRECT.findall(script) if not each.startswith("/dev/")]
        if (("sed" in script or "perl" in script) and _IN_PLACE.search(script)) or _CHANGES.search(script):
            written += _FILE.findall(script)
    if "cat " in script:
        first = read_programs(script)[:1]
        if first and first[0].words[0] == "cat" and len(first[0].words) == 2 and not writes:
            reads = first[0].words[1]
    return CallReading(script, tuple(writes), tuple(dict.fromkeys(written)), reads, says)


READ = 4_000
"""Characters of a script that are parsed."""

_HEREDOC_BODY = late_pattern(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n.*?(?:\n[ \t]*\2(?=\s|$)|\Z)", re.DOTALL)
_TOKEN = late_pattern(
    r"""(?P<op>&&|\|\||\|&|[;|\n]|&(?![>\d]))|(?P<space>[^\S\n]+|\\\n)|(?P<comment>(?<![^\s;&|(])\#[^\n]*)"""
    r"""|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\.|\d*>>?&?\d*|&>>?"""
    r"""|[^\s'"\\;&|`>]|[>&'"`\\])+)""",
    re.DOTALL,
)
_KEYWORDS = frozenset(("(", "{", "!", "do", "then", "else", "if", "elif", "while", "until", "time"))
_COMPOUND = frozenset(("for", "while", "until", "if", "case", "done", "fi", "esac", "do", "then", "else", "elif"))
_FAIL_FAST = late_pattern(r"\bset\s+-\w*e|\bset\s+-o\s+errexit")
_PIPEFAIL = late_pattern(r"\bpipefail\b")


_SPECIAL = re.compile(r"[\n'\"\\;&|`$(){}<>#]")
"""Characters that a single command of plain words does not contain."""


class ProgramRun(Struct, frozen=True):
    """One program of a script: its words without wrappers; `shows` if the script's exit status is its own.

    `text` is the program as written; `piped` are the programs that its output goes through.
    """

    words: tuple[str, ...]
    text: str
    shows: bool
    piped: tuple[str, ...] = ()


@lru_cache(64)
def read_programs(script: str) -> tuple[ProgramRun, ...]:
    """The programs of a script in order, as far as the script names them directly."""
    text = script[:READ]
    if _SPECIAL.search(text) is None:
        words = text.split()
        plain = unwrapped([word for word in words if word not in _KEYWORDS])
        return (ProgramRun(tuple(plain), " ".join(words), words[0] not in _COMPOUND),) if plain else ()
    if "<<" in text:
        text = _HEREDOC_BODY.sub(lambda found: found[3], text)
    statements, operators = _statements(text)
    pipefail = "pipefail" in text and _PIPEFAIL.search(text) is not None
    fail_fast = "set" in text and _FAIL_FAST.search(text) is not None
    redirects = ">" in text or "<" in text
    compound = any(words[:1] and words[0] in _COMPOUND for pipeline in statements for words in pipeline)
    found: list[ProgramRun] = []
    for at, pipeline in enumerate(statements):
        after = [each for each in operators[at:] if each]
        # `a && b` is 0 only if both are; `a; b` says nothing about a, and `a || b` about neither.
        certain = not compound and operators[max(0, at - 1) : at] != ["||"]
        reaches = certain and all(each == "&&" or (fail_fast and each in (";", "\n")) for each in after)
        for place, words in enumerate(pipeline):
            last = place == len(pipeline) - 1
            plain = unwrapped([_unquoted(word) for word in words if word not in _KEYWORDS])
            if redirects:
                plain = [word for word in plain if not _REDIRECTION.match(word)]
            if plain:
                piped = tuple(_unquoted(later[0]) for later in pipeline[place + 1 :] if later)
                shows = reaches and (last or pipefail)
                found.append(ProgramRun(tuple(plain), " ".join(words).strip("(){} "), shows, piped))
    return tuple(found)


_REDIRECTION = late_pattern(r"\d*(?:>>?|<)|&>")


def _statements(text: str) -> tuple[list[list[list[str]]], list[str]]:
    """Statements, each a pipeline of lists of words, and the operator after each."""
    statements: list[list[list[str]]] = []
    operators: list[str] = []
    pipeline: list[list[str]] = [[]]
    for operator, _, _, word in _TOKEN.findall(text):
        if word:
            pipeline[-1] += _opened(word)
        elif operator:
            if operator in ("|", "|&"):
                pipeline.append([])
            elif pipeline != [[]]:
                statements.append(pipeline)
                operators.append(operator)
                pipeline = [[]]
            elif operators and operator != "\n":
                operators[-1] = operator
    if pipeline != [[]]:
        statements.append(pipeline)
        operators.append("")
    elif operators:
        operators[-1] = operators[-1] if operators[-1] not in (";", "\n") else ""
    return statements, operators


def _opened(word: str) -> list[str]:
    """A word without the parentheses of a subshell."""
    if word[0] == "(" and len(word) > 1:
        word = word[1:]
    if word[-1] == ")" and "(" not in word:
        word = word[:-1]
    return [word] if word else []


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1]
    return word


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset((
    "sudo", "env", "time", "nice", "nohup", "npx", "command", "exec", "stdbuf", "xvfb-run", "bundle", "setsid",
))  # fmt: skip
RUNNERS = frozenset(("uv", "poetry", "pipenv", "hatch", "pdm", "rye"))
"""Programs whose `run` subcommand runs another."""
INTERPRETERS = frozenset(("python", "python3", "node", "bash", "sh", "ruby", "perl", "deno", "ts-node", "php"))


def unwrapped(words: list[str]) -> list[str]:
    """The words of a command without assignments and wrappers."""
    at = 0
    while at < len(words):
        word = words[at].rpartition("/")[2] if "/" in words[at] else words[at]
        if ("=" in words[at] and _ASSIGNMENT.match(words[at])) or word in _WRAPPERS or word in ("(", "{", "!"):
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 1
        elif word == "timeout":
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][:1].isdigit()):
                at += 1
        elif (word in RUNNERS and at + 1 < len(words) and words[at + 1] == "run") or (
            word in INTERPRETERS and at + 2 < len(words) and words[at + 1] == "-m"
        ):
            at += 2
        else:
            break
    return words[at:]
