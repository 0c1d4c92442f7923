"""Check setup: the settings that decide what a `done_when` command runs; one whose settings change proves nothing."""

from __future__ import annotations

import configparser
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

MAX_BYTES = 1_048_576


def read_setup(folder: str | None, commands: Iterable[str]) -> dict[str, str]:
    """The files that set up these commands, each with a digest of the part that counts; what is missing is left out."""
    found: dict[str, str] = {}
    if folder is None:
        return found
    words = " ".join(commands)
    for pattern, files in SETUPS:
        if pattern.search(words):
            for name, part in files:
                text = _read(Path(folder) / name)
                if text is not None and (counts := part(text)):
                    digest = hashlib.sha256(counts.encode("utf-8", "replace")).hexdigest()[:16]
                    found[name] = found.get(name, "") + digest
    return found


def changed_setup(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The files whose counting part is not what it was."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _whole(text: str) -> str:
    return text


def _toml(*path: str) -> Callable[[str], str]:
    def part(text: str) -> str:
        try:
            value: object = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return text
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return "" if value is None else json.dumps(value, sort_keys=True, default=str)

    return part


def _ini(section: str) -> Callable[[str], str]:
    def part(text: str) -> str:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return text
        return json.dumps(sorted(parser.items(section))) if parser.has_section(section) else ""

    return part


def _package(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    kept = {name: value.get(name) for name in ("scripts", "jest", "mocha", "ava") if name in value}
    return json.dumps(kept, sort_keys=True) if kept else ""


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


ENDINGS = ("js", "ts", "mjs", "cjs")
SETUPS: tuple[tuple[re.Pattern[str], tuple[tuple[str, Callable[[str], str]], ...]], ...] = (
    (
        re.compile(r"\bpytest\b|\bpy\.test\b|\btox\b|\bnox\b"),
        (
            ("pytest.ini", _whole), (".pytest.ini", _whole), ("pyproject.toml", _toml("tool", "pytest")),
            ("tox.ini", _ini("pytest")), ("setup.cfg", _ini("tool:pytest")),
        ),
    ),
    (re.compile(r"\btox\b"), (("tox.ini", _whole),)),
    (re.compile(r"\bnox\b"), (("noxfile.py", _whole),)),
    (re.compile(r"\bmake\b"), (("Makefile", _whole), ("makefile", _whole), ("GNUmakefile", _whole))),
    (re.compile(r"\b(?:npm|yarn|pnpm|bun)\b"), (("package.json", _package),)),
    (
        re.compile(r"\b(?:jest|vitest|npm|yarn|pnpm|bun)\b"),
        tuple((f"{name}.config.{end}", _whole) for name in ("jest", "vitest", "vite") for end in ENDINGS),
    ),
    (re.compile(r"\bmypy\b"), (("mypy.ini", _whole), ("pyproject.toml", _toml("tool", "mypy")))),
    (re.compile(r"\bruff\b"), (("ruff.toml", _whole), ("pyproject.toml", _toml("tool", "ruff")))),
)  # fmt: skip
"""Commands, and the files that decide what they check."""
