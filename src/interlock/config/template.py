"""Template: a configuration file with every key, its default and what it means."""

from __future__ import annotations

import json
import sys

import msgspec
import yaml
from msgspec import inspect

from .key_types import Key, keys_of, root

HEAD = """\
# The configuration of Interlock: every key with its default.
# Keep what you change and delete the rest; missing keys keep their defaults.
# INTERLOCK_LIMITS__MAX_STEPS=200 in the environment overrides limits.max_steps, and so on.
"""


def config_template() -> str:
    """The text that `interlock config init` writes."""
    lines = [HEAD]
    for key in keys_of(root()).values():
        lines += [*_lines(key, 0), ""]
    return "\n".join(lines).rstrip() + "\n"


def show(value: object) -> str:
    """A value as YAML on one line."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{_word(str(name))}: {show(inner)}" for name, inner in plain.items()) + "}"
    if isinstance(plain, (list, tuple)):
        return "[" + ", ".join(show(inner) for inner in plain) + "]"
    return _word(plain) if isinstance(plain, str) else json.dumps(plain)


def _lines(key: Key, depth: int) -> list[str]:
    indent = "  " * depth
    lines = [f"{indent}# {key.description}"] if key.description else []
    if key.section is None:
        example = _example(key)
        return [*lines, *(f"{indent}# {line}" for line in example), f"{indent}{key.name}: {show(key.default)}"]
    lines.append(f"{indent}{key.name}:")
    for inner in keys_of(key.section).values():
        lines += _lines(inner, depth + 1)
    return lines


def _example(key: Key) -> list[str]:
    """For a list of whole entries, how one looks."""
    if isinstance(key.kind, inspect.VarTupleType) and isinstance(key.kind.item_type, inspect.StructType):
        inner = keys_of(key.kind.item_type).values()
        entry = ", ".join(f"{k.name}: {'...' if k.required else show(k.default)}" for k in inner)
        return [f"- {{{entry}}}"]
    return []


def _word(text: str) -> str:
    """A text as YAML: bare where it cannot be taken for anything else."""
    letters = text.replace("-", "").replace("_", "")
    doubtful = text.lower() in ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    if letters.isalpha() and letters.isascii() and text[0].isalpha() and not doubtful:
        return text
    # Not as JSON: YAML does not join the two halves of a character beyond 16 bits.
    return str(yaml.safe_dump(text, default_style='"', width=sys.maxsize)).rstrip("\n")
