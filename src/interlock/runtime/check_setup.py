"""Check setup: the settings that decide what a `done_when` command runs; one whose settings change proves nothing."""

from __future__ import annotations

import ast
import configparser
import hashlib
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

MAX_BYTES = 1_048_576
INTERPRETER = re.compile(r"(?:sh|bash|dash|zsh|python[\d.]*|node|deno|bun|ruby|perl)")
EXITS = frozenset(("os._exit", "sys.exit", "SystemExit", "exit", "quit", "pytest.exit"))
"""What ends the tests with a status of its own."""


def read_setup(folder: str | None, commands: Iterable[str]) -> dict[str, str]:
    """The files that set up these commands, each with a digest of the part that counts; what is missing is left out."""
    found: dict[str, str] = {}
    if folder is None:
        return found
    commands = tuple(commands)
    words = " ".join(commands)
    programs = tuple((name, _whole) for command in commands for name in _programs(command))
    for pattern, files in (*SETUPS, (re.compile(""), programs)):
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


def _programs(command: str) -> Iterator[str]:
    """The files of the workspace that a command runs: a script by its path, an interpreter's script or module."""
    try:
        words = shlex.split(command)
    except ValueError:
        return
    started = False
    for at, word in enumerate(words):
        if started or "=" in word.partition("/")[0]:
            started = started and not set(word) <= set("&|;")
            continue
        started = True
        rest = words[at + 1 :]
        if "/" in word:
            yield word
        if not INTERPRETER.fullmatch(word.rpartition("/")[2]):
            continue
        if "-m" in rest:
            module = "".join(rest[rest.index("-m") + 1 :][:1]).replace(".", "/")
            yield from (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py")
        elif "-c" not in rest:
            yield from [word for word in rest if not word.startswith("-")][:1]


def _hooks(text: str) -> str:
    """What a conftest.py does to the run of the tests itself; fixtures do not count."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    hooks = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("pytest_")]
    exits = [each for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute)]
    names = sorted({ast.unparse(each) for each in exits} & EXITS)
    return "\n".join([*map(ast.unparse, hooks), *names])


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
            *((f"{folder}conftest.py", _hooks) for folder in ("", "tests/", "test/")),
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
