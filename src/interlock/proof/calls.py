"""Calls: what a tool call means for proof: the script that it runs, the files that it writes, what it says."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..core import Step, Tool, late_pattern
from ..review import COMMAND_KEYS, Write, file_verb, kind_of, path_of, text_of, writes_of
from .command_lines import read_programs

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
    """A call read for proof. `says` is what it prints or submits in the agent's own words."""

    script: str = ""
    writes: tuple[Write, ...] = ()
    paths: tuple[str, ...] = ()
    reads: str = ""
    says: str = ""
    answers: bool = False


NOTHING = CallReading()


_last: tuple[Step | None, CallReading] = (None, NOTHING)
"""The newest reading: more than one part asks for it."""


def read_call(step: Step, tool: Tool) -> CallReading:
    """What a call means for proof."""
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
    """What a shell script means for proof."""
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
