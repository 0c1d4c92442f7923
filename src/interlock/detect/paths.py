"""Paths: the files and places that a call names."""

from __future__ import annotations

import shlex

from ..core import Step, Tool, late_pattern
from .effect import Effect, command_of, is_shell

PATHS = 16
"""Paths read of one call."""
LENGTH = 400
"""Characters of a path; longer ones are no paths."""

_KEYS = frozenset((
    "path", "file", "file_path", "filepath", "filename", "file_name", "dir", "directory", "folder", "cwd", "url",
    "uri", "target", "notebook_path", "source", "destination", "src", "dst", "old_path", "new_path", "root",
))  # fmt: skip
_BETWEEN = str.maketrans(dict.fromkeys("\"'<>|;&:,", " "))
"""What is between the words of a command, beside blanks."""
_IN_WORD = late_pattern(
    r"(?:^|[=(])((?:~|\.{0,2}/|\.?[\w@%+-]+/)[\w@%+./~-]*|[\w@%+-]+\.[A-Za-z]\w{0,5}"
    r"|\.(?:env(?:\.[\w.-]+)?|netrc|npmrc|pypirc|pgpass|htpasswd))(?=$|\))"
)


def read_paths(step: Step, tool: Tool, effect: Effect, script: str) -> list[str]:
    """The paths that a call with this script names, in order, each once."""
    found: dict[str, None] = {}
    if step.paths is not None:
        for group in (step.paths.written, step.paths.deleted, step.paths.read):
            found.update(dict.fromkeys(group))
    for key, value in tool.arguments.items():
        if isinstance(value, str) and key.lower() in _KEYS and 0 < len(value) <= LENGTH:
            found[value] = None
    if not found and effect in ("run", "write"):
        for word in script[:1000].translate(_BETWEEN).split():
            # Most words of a command can be no path; looking is cheaper than matching.
            if "/" in word or "." in word or "~" in word:
                for path in _IN_WORD.findall(word):
                    found[path] = None
    return list(found)[:PATHS]


_EMPTIES = late_pattern(r"(?:^|[;&\n])([^;&\n>]*[^;&\n>0-9]|)>\s*([\w./~+-]+)\s*(?=$|[;&\n])")
_NOTHING = late_pattern(r"\s*(?::|true|cat\s+/dev/null|echo\s+-n(?:\s+(?:''|\"\"))?|printf\s+(?:''|\"\"))?\s*")


def emptied_paths(command: str) -> list[str]:
    """The files that a command empties: it writes nothing into them, or reads them while they are written anew."""
    found = []
    for before, target in _EMPTIES.findall(command):
        # The shell empties a file before the command that reads it starts.
        if _NOTHING.fullmatch(before) or target in before.split():
            found.append(target)
    return found


_REDIRECTED = late_pattern(r"(?:^|[^0-9&>=-])>>?\s*([^\s;&|<>()]+)")
_CHANGED = late_pattern(
    r"(?:^|[;&|]\s*)(?:sudo\s+)?(rm|mv|cp|touch|mkdir|chmod|chown|ln|tee|sed\s+-i\S*|truncate)\s+"
    r"((?:'[^']*'|\"[^\"]*\"|[^;&|'\"])*)"
)


def written_paths(tool: Tool, effect: Effect) -> tuple[str, ...]:
    """The files that a call is to write, change or remove, as far as its arguments say."""
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
    """The files among the words after `sed -i`: its first operand is a script, unless options give it."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    given = [at for at, word in enumerate(words) if word in _SCRIPTED]
    operands = [word for at, word in enumerate(words) if word and word[0] != "-" and at - 1 not in given]
    return operands if given or any(word.startswith("--expression=") for word in words) else operands[1:]


_SCRIPTED = frozenset(("-e", "-f", "--expression", "--file"))
