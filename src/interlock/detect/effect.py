"""Effect: the purpose of a call, by its name and arguments, and the files and directories that it names."""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import Literal

from ..core import Step, Tool, late_pattern

Effect = Literal["read", "write", "run", "answer", "think"]

_ANSWERS = frozenset(
    ("final_answer", "finish", "submit", "done", "complete", "attempt_completion", "task_complete", "terminate")
)
_VERBS: tuple[tuple[Effect, frozenset[str]], ...] = (
    ("think", frozenset((
        "think", "thought", "thinking", "plan", "todo", "reflect", "hypothesis", "analyze", "analyse", "analysis",
    ))),
    ("run", frozenset((
        "bash", "shell", "sh", "exec", "execute", "run", "python", "terminal", "ipython", "jupyter", "sql",
        "powershell", "repl",
    ))),
    ("write", frozenset((
        "edit", "write", "create", "replace", "insert", "patch", "apply", "delete", "remove", "update", "modify",
        "rename", "move", "save", "undo", "add", "set", "send", "cancel", "book", "return", "exchange", "upload",
        "commit", "push", "fix",
    ))),
    ("read", frozenset((
        "read", "view", "open", "list", "search", "find", "grep", "glob", "get", "fetch", "visit", "inspect",
        "show", "cat", "extract", "look", "query", "browse", "page", "web", "scroll", "locate", "localize",
        "describe", "calculate", "ls",
    ))),
)  # fmt: skip
"""Words in a tool's name; the first kind with a matching word is the tool's purpose."""
_WORD = late_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
_SHELL_WRITES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    ((">",), late_pattern(r"(?:^|\s)1?>>?\s*(?!/dev/null|&)[\w./~$\"'{-]")),
    (("sed ", "perl "), late_pattern(r"\b(?:sed|perl)\s+(?:-\w+\s+)*-\w*i")),
    (("tee ", "patch "), late_pattern(r"\b(?:tee|patch)\s")),
    (
        ("mv ", "cp ", "rm ", "mkdir ", "touch ", "chmod ", "ln "),
        late_pattern(r"(?:^|[\s;&|(])(?:mv|cp|rm|mkdir|touch|chmod|ln)\s"),
    ),
    (("git ",), late_pattern(r"\bgit\s+(?:apply|bisect|checkout|switch|reset|commit|stash|revert|merge|pull|clone)\b")),
    (("nstall", "npm ", "cargo "), late_pattern(r"\b(?:pip3?|npm|apt|apt-get|yarn|cargo)\s+(?:install|add)\b")),
)
"""Ways in which a shell command writes: cheap substrings, then the pattern; most commands contain none."""
_SCRIPT_WRITES = (
    ".write(", ".write_text(", ".write_bytes(", ".to_csv(", ".dump(", "shutil.", "os.remove", "os.rename", ".unlink(",
    ".mkdir(", "makedirs(",
)  # fmt: skip
"""Calls by which Python code writes."""
_SAYS = late_pattern(r"\s*(?:echo\s+(?:-\w\s+)?(?:\"[^\"$`\\]*\"|'[^']*'|[\w .,:!-]*)|true|:)\s*")
"""A command that only prints: neither a read nor a change."""
_PYTHON = frozenset(("python", "ipython", "jupyter", "repl"))
_NOT_SHELL = _PYTHON | {"sql"}
_SCRIPTS = ("command", "cmd", "code", "script", "input")
_LOOK = 2000
"""Characters of a command that are parsed."""


def read_effect(tool: Tool, command: str) -> Effect:
    """The purpose of a call; a shell `command` that writes is a write."""
    kind = _kind(tool.name)
    if kind == "run":
        if "final_answer(" in command:
            return "answer"
        if _SAYS.fullmatch(command):
            return "think"
        return "write" if _writes(command, tool.name) else "run"
    if kind == "write":
        # An editor tool with several commands: viewing is not writing.
        verb = tool.arguments.get("command")
        if isinstance(verb, str) and _kind(verb[:24]) == "read":
            return "read"
    return kind


def _writes(command: str, name: str) -> bool:
    if not _names(name).isdisjoint(_PYTHON):
        return any(way in command for way in _SCRIPT_WRITES)
    for hints, way in _SHELL_WRITES:
        for hint in hints:
            if hint in command:
                if way.search(command) is not None:
                    return True
                break
    return False


@lru_cache(maxsize=256)
def _names(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=256)
def is_shell(name: str) -> bool:
    """Whether a tool's calls are shell commands."""
    return _kind(name) == "run" and _names(name).isdisjoint(_NOT_SHELL)


@lru_cache(maxsize=256)
def _kind(name: str) -> Effect:
    if name in _ANSWERS:
        return "answer"
    found = _names(name)
    return next((kind for kind, verbs in _VERBS if found & verbs), "run")


def command_of(tool: Tool) -> str:
    """The beginning of a command or script."""
    return _script(tool.arguments)[:_LOOK]


def script_of(tool: Tool) -> str:
    """The text of a command or script; of a long one, its beginning and end."""
    text = _script(tool.arguments)
    return text if len(text) <= 2 * _LOOK else f"{text[:_LOOK]}\n{text[-_LOOK:]}"


def _script(arguments: dict[str, object]) -> str:
    for key in _SCRIPTS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    return next((one for one in arguments.values() if isinstance(one, str)), "")


def wrote(step: Step, effect: Effect, failed: bool) -> bool:
    """Whether a completed call changed anything, as far as can be seen."""
    if step.paths is not None and (step.paths.written or step.paths.deleted):
        return True
    return effect == "write" and not failed


PATHS = 16
"""Paths kept per call."""
LENGTH = 400
"""Maximum length of a path; a longer text is not a path."""

_KEYS = frozenset((
    "path", "file", "file_path", "filepath", "filename", "file_name", "dir", "directory", "folder", "cwd", "url",
    "uri", "target", "notebook_path", "source", "destination", "src", "dst", "old_path", "new_path", "root",
))  # fmt: skip
_BETWEEN = str.maketrans(dict.fromkeys("\"'<>|;&:,", " "))
"""Separators between the words of a command, besides whitespace."""
_IN_WORD = late_pattern(
    r"(?:^|[=(])((?:~|\.{0,2}/|\.?[\w@%+-]+/)[\w@%+./~-]*|[\w@%+-]+\.[A-Za-z]\w{0,5}"
    r"|\.(?:env(?:\.[\w.-]+)?|netrc|npmrc|pypirc|pgpass|htpasswd))(?=$|\))"
)


def read_paths(step: Step, tool: Tool, effect: Effect, script: str) -> list[str]:
    """The paths that a call with this script names, in order, without duplicates."""
    found: dict[str, None] = {}
    if step.paths is not None:
        for group in (step.paths.written, step.paths.deleted, step.paths.read):
            found.update(dict.fromkeys(group))
    for key, value in tool.arguments.items():
        if isinstance(value, str) and key.lower() in _KEYS and 0 < len(value) <= LENGTH:
            found[value] = None
    if not found and effect in ("run", "write"):
        for word in script[:1000].translate(_BETWEEN).split():
            # Most words of a command cannot be paths; a substring test is cheaper than matching.
            if "/" in word or "." in word or "~" in word:
                for path in _IN_WORD.findall(word):
                    found[path] = None
    return list(found)[:PATHS]


_EMPTIES = late_pattern(r"(?:^|[;&\n])([^;&\n>]*[^;&\n>0-9]|)>\s*([\w./~+-]+)\s*(?=$|[;&\n])")
_NOTHING = late_pattern(r"\s*(?::|true|cat\s+/dev/null|echo\s+-n(?:\s+(?:''|\"\"))?|printf\s+(?:''|\"\"))?\s*")


def emptied_paths(command: str) -> list[str]:
    """The files that a command empties: by writing nothing to them, or by reading the file that it redirects to."""
    found = []
    for before, target in _EMPTIES.findall(command):
        # The shell truncates a file before it starts the command that reads it.
        if _NOTHING.fullmatch(before) or target in before.split():
            found.append(target)
    return found


_REDIRECTED = late_pattern(r"(?:^|[^0-9&>=-])>>?\s*([^\s;&|<>()]+)")
_CHANGED = late_pattern(
    r"(?:^|[;&|]\s*)(?:sudo\s+)?(rm|mv|cp|touch|mkdir|chmod|chown|ln|tee|sed\s+-i\S*|truncate)\s+"
    r"((?:'[^']*'|\"[^\"]*\"|[^;&|'\"])*)"
)


def written_paths(tool: Tool, effect: Effect) -> tuple[str, ...]:
    """The files that a call writes, changes or removes, according to its arguments."""
    if effect != "write":
        return ()
    if not is_shell(tool.name):
        found = [value for key, value in tool.arguments.items() if key.lower() in _KEYS and isinstance(value, str)]
        return tuple(path for path in found if 0 < len(path) <= LENGTH)
    command = command_of(tool)
    found = _REDIRECTED.findall(command) if ">" in command else []
    for program, rest in _CHANGED.findall(command):
        words = _edited(rest) if program[:3] == "sed" else rest.split()
        found += [word for word in words if word[:1] not in "-<>" and ("/" in word or "." in word)]
    stripped = (path.strip("\"'") for path in found)
    return tuple(dict.fromkeys(path for path in stripped if path and not path.startswith("/dev/")))[:PATHS]


def _edited(rest: str) -> list[str]:
    """The files among the words after `sed -i`: the first operand is a script, unless an option gives it."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    given = [at for at, word in enumerate(words) if word in _SCRIPTED]
    operands = [word for at, word in enumerate(words) if word and word[0] != "-" and at - 1 not in given]
    return operands if given or any(word.startswith("--expression=") for word in words) else operands[1:]


_SCRIPTED = frozenset(("-e", "-f", "--expression", "--file"))
