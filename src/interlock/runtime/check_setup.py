"""Check setup: the files that determine what a `done_when` command runs; if they change, a pass proves nothing."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ..core import read_small

MAX_BYTES = 1_048_576
INTERPRETER = re.compile(r"(?:sh|bash|dash|zsh|python[\d.]*|node|deno|bun|ruby|perl)")
EXITS = frozenset(("os._exit", "sys.exit", "SystemExit", "exit", "quit", "pytest.exit"))
"""Calls that end the tests with an exit status of their own."""


PYTHON = re.compile(r"\bpython[\d.]*\s+-m\b|\bpytest\b")
PYTEST = re.compile(r"\bpytest\b|\bpy\.test\b|\btox\b|\bnox\b")
CHECKERS = frozenset((
    "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "pygments", "tomli", "coverage", "xdist",
    "mypy", "ruff", "pylint", "flake8", "tox", "nox", "sitecustomize", "usercustomize",
))  # fmt: skip
"""The checkers' own modules."""
NOT_OURS = frozenset(("node_modules", "venv", "env", "site-packages", "build", "dist", "target"))
FOLDERS = 5_000
"""How many folders are searched for a conftest.py."""


def read_setup(folder: str | None, commands: Iterable[str]) -> dict[str, str]:
    """The files that set up these commands, each with a digest of its relevant part; missing files are skipped."""
    found: dict[str, str] = {}
    if folder is None:
        return found
    commands = tuple(commands)
    words = " ".join(commands)
    programs = tuple((name, _whole) for command in commands for name in _programs(command))
    if PYTHON.search(words):
        programs += tuple((name, _whole) for name in _shadows(folder))
    if PYTEST.search(words):
        programs += tuple((name, _hooks) for name in _conftests(folder))
    for pattern, files in (*SETUPS, (re.compile(""), programs)):
        if pattern.search(words):
            for name, part in files:
                text = _read(Path(folder) / name)
                if text is not None and (counts := part(text)):
                    digest = sha256(counts.encode("utf-8", "replace")).hexdigest()[:16]
                    found[name] = found.get(name, "") + digest
    return found


def changed_setup(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The files whose relevant part changed."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _programs(command: str) -> Iterator[str]:
    """The workspace files that a command runs: a script by its path, or an interpreter's script or module."""
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


def _shadows(folder: str) -> Iterator[str]:
    """The workspace's modules that shadow those of Python or of the checkers."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            name = entry.name.removesuffix(".py")
            if name in sys.stdlib_module_names or name in CHECKERS:
                yield from (entry.name,) if entry.name.endswith(".py") else (f"{entry.name}/__init__.py",)


def _conftests(folder: str) -> Iterator[str]:
    for count, (parent, folders, files) in enumerate(os.walk(folder)):
        folders[:] = [name for name in folders if not name.startswith((".", "__")) and name not in NOT_OURS]
        if "conftest.py" in files:
            yield str((Path(parent) / "conftest.py").relative_to(folder))
        if count >= FOLDERS:
            return


def _hooks(text: str) -> str:
    """The parts of a conftest.py that affect the test run itself: hooks, fixtures that skip, exits."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    hooks = [each for each in tree.body if "pytest_" in _names(each) or _skips(each)]
    exits = [each for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute)]
    names = sorted({ast.unparse(each) for each in exits} & EXITS)
    return "\n".join([*map(ast.unparse, hooks), *names])


def _names(node: ast.stmt) -> str:
    """The names that a statement of a conftest.py defines, if they may be hooks."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("pytest_"):
            return name
        case ast.ImportFrom(names=names):
            return " ".join("pytest_*" if each.name == "*" else each.name for each in names)
        case ast.Assign() | ast.AnnAssign():
            return ast.unparse(node)
    return ""


def _skips(node: ast.stmt) -> bool:
    text = ast.unparse(node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    return "autouse" in text and ("skip" in text or "xfail" in text)


def _whole(text: str) -> str:
    return text


def _toml(*path: str) -> Callable[[str], str]:
    def part(text: str) -> str:
        import json
        import tomllib

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
        import configparser
        import json

        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return text
        return json.dumps(sorted(parser.items(section))) if parser.has_section(section) else ""

    return part


def _package(text: str) -> str:
    import json

    try:
        value = json.loads(text)
    except ValueError:
        return text
    kept = {name: value.get(name) for name in ("scripts", "jest", "mocha", "ava") if name in value}
    return json.dumps(kept, sort_keys=True) if kept else ""


def _read(path: Path) -> str | None:
    try:
        return read_small(path, MAX_BYTES, links=True).decode("utf-8", "replace")
    except OSError:
        return None


ENDINGS = ("js", "ts", "mjs", "cjs")
SETUPS: tuple[tuple[re.Pattern[str], tuple[tuple[str, Callable[[str], str]], ...]], ...] = (
    (
        PYTEST,
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
"""Patterns of commands, and the files that determine what they check."""
