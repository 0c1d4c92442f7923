"""Garbled calls: calls that cannot work because their arguments are broken."""

from __future__ import annotations

from typing import Literal

from ..core import Tool, late_pattern

Garble = Literal["", "colon", "first line", "redirect", "markup", "punctuation", "empty"]
"""How a call is broken; empty if it is not. One with a garbled `first line` is broken only if it fails."""

_READ = 200
"""Characters of an argument that are checked: the broken part is at its beginning."""

_IDIOM = late_pattern(r":\s*(?:[;&|]|\d?>|\$\{|<<|'|\(\))")
"""Legitimate uses of the shell's `:`: emptying a file, defaults, comments."""
_MARKUP = late_pattern(
    r"</?(?:parameter|invoke|function_calls?|tool_call|arg_value|antml)\b|<\|\w+|^\s*\{?\\?\"command\\?\"\s*:"
)
_REDIRECT = late_pattern(r"\s*>+\s*[\w.-]+\s+[-\w\"'./|]|\s*>{2,}\s|\s*>\W*<")
_PLACES = frozenset(("file_path", "path", "file", "filename", "notebook_path", "pattern", "url"))
_CONTENTS = frozenset(("content", "file_text", "new_string", "new_str"))

ADVICE: dict[Garble, str] = {
    "colon": "your commands start with a colon, which makes the shell ignore them",
    "first line": "the first line of your commands is garbled",
    "redirect": "your commands start with >, which makes the shell write to a file instead of running them",
    "markup": "the markup of the call itself is inside your arguments",
    "punctuation": "your arguments are only punctuation",
    "empty": "your calls have no arguments",
}
"""What the agent does wrong, in words that it can act on."""


def read_garble(tool: Tool, command: str | None) -> Garble:
    """How a call is broken, by its arguments alone; `command` is set for a shell."""
    arguments = tool.arguments
    if command is not None:
        return _command(command[:_READ], bool(arguments))
    for name, value in arguments.items():
        if not isinstance(value, str) or not value:
            continue
        if name in _PLACES:
            if value[0] in ":>" and value[1:2] != ":":
                return "colon" if value[0] == ":" else "redirect"
            if "<" in value and _MARKUP.search(value[:_READ]):
                return "markup"
        elif name in _CONTENTS:
            if value[:2] == ": " and value[2:3].isalpha():
                return "colon"
            if name == "content" and 1 < len(value) < _READ and len(value.strip()) > 1 and not _says(value):
                return "punctuation"
    return ""


def _command(command: str, given: bool) -> Garble:
    start = command.lstrip()
    if not start:
        return "punctuation" if given else "empty"
    first = start[0]
    if first == ":" and not _IDIOM.match(start):
        line, _, rest = start.partition("\n")
        if _says(rest):
            # The lines below the first one still run; a colon alone on its line ignores nothing.
            return "first line" if line[1:].strip() else ""
        return "colon"
    if first == ">" and _REDIRECT.match(start):
        return "redirect"
    if ("<" in start or '"command' in start[:40]) and _MARKUP.search(start):
        return "markup"
    return "" if _says(start) else "punctuation" if first != "." else ""


def _says(text: str) -> bool:
    """Whether a text is more than punctuation."""
    return any(letter.isalnum() or letter == "_" for letter in text)
