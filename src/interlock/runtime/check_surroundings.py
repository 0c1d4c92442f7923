"""Surroundings of a check: what decides what it runs, besides the sources that it is about."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path, PurePosixPath
from subprocess import TimeoutExpired

from ..calls import read_script
from ..checkpoint import Change
from ..core import read_small, run_program
from ..proof import is_test

MAX_BYTES = 65_536
"""Bytes read of a script, for the files that it names."""
FIND_S = 20.0

LINES = 400
"""Lines of scripts in which commands are looked for."""
CODE = (
    ".py",
    ".js",
    ".ts",
    ".tsx",
    ".jsx",
    ".mjs",
    ".go",
    ".rs",
    ".c",
    ".cc",
    ".cpp",
    ".h",
    ".java",
    ".kt",
    ".rb",
    ".php",
)

FOLDERS = frozenset((
    ".venv", "venv", "env", "node_modules", "site-packages", "dist-packages", ".tox", ".nox", ".husky", ".cargo",
    ".mvn", ".gradle", ".yarn", "__pycache__", "bin", ".bin", "hooks",
))  # fmt: skip
"""Folders with programs and libraries, which no check is about."""
NAMES = frozenset((
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
    "noxfile.py", "sitecustomize.py", "usercustomize.py", ".coveragerc", "setup.py", "manage.py",
    "package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", ".mocharc.js", ".mocharc.json",
    ".mocharc.yml", ".babelrc", "deno.json", "bunfig.toml", "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt",
    "build.gradle", "settings.gradle", "pom.xml", "Cargo.toml", "build.rs", "go.mod", "go.work", ".env", ".envrc",
    ".python-version", ".tool-versions", "mise.toml", ".nvmrc", "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml",
    ".eslintrc.json", ".eslintrc.js", ".eslintignore", ".gitattributes", ".bashrc", ".profile",
))  # fmt: skip
SUFFIXES = (".pth", ".mk", ".sh", ".bash", ".so", ".node", ".pyc", ".egg-link", ".jar")
CONFIGURED = (".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".config.mts", ".config.json")
IMPORTED_FROM = frozenset(("src", "lib", "tests", "test"))
"""Folders from which Python may import by a module's first name; the workspace itself is another."""
CHECKERS = frozenset((
    "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "pygments", "tomli", "coverage", "xdist",
    "mypy", "ruff", "pylint", "flake8", "tox", "nox",
))  # fmt: skip
"""The checkers' own modules."""


def decides(path: str) -> bool:
    """Whether a file decides what a check runs, by its place and name."""
    parts = PurePosixPath(path).parts
    if parts[0] == ".git":
        return parts[1:2] in (("hooks",), ("config",), ("info",))
    if not FOLDERS.isdisjoint(parts) or any(part.endswith((".egg-info", ".dist-info")) for part in parts):
        return True
    name = parts[-1]
    if name in NAMES or name.endswith((*SUFFIXES, *CONFIGURED)):
        return True
    module = parts[1] if len(parts) > 1 and parts[0] in IMPORTED_FROM else parts[0]
    shadows = module.removesuffix(".py") in sys.stdlib_module_names | CHECKERS
    return shadows and (name.endswith(".py") or module == name)


def find_surroundings(folder: Path, commands: Iterable[str], changes: Sequence[Change], task: str) -> list[Change]:
    """Of what a run changed, what decides what its checks run, and is not what the task is about."""
    words = "\n".join(commands)
    named = "\n".join(chain((words,), map(_text, _scripts(folder, words))))
    known = [change for change in changes if change.kind != "touched"]
    found = [change for change in known if decides(change.key) or _is_used(change, named)]
    # What an included script names counts as well.
    more = "\n".join(_text(folder / change.key) for change in found if change.key.endswith((".mk", ".sh", "akefile")))
    found += [change for change in known if change not in found and more and _is_used(change, more)]
    ran = _ran(named)
    return [change for change in found if change.key in ran or not (change.key in task and change.key in words)]


def _is_used(change: Change, named: str) -> bool:
    """Whether a file that was there is run by a script, or is a test or no code and named in it."""
    if change.kind == "created" or PurePosixPath(change.key).name not in named:
        return False
    return is_test(change.key) or not change.key.endswith(CODE) or change.key in _ran(named)


@lru_cache(8)
def _ran(text: str) -> frozenset[str]:
    """The files that the lines of a script run, by the first word of a command or by an interpreter."""
    programs = [program for line in text.splitlines()[:LINES] for program in read_script(line.strip()).programs]
    return frozenset(each.script.removeprefix("./") for each in programs if each.script)


def _scripts(folder: Path, words: str) -> list[Path]:
    """The files of a workspace that a command names, and those in which a runner looks for commands."""
    named = [*words.replace(";", " ").split(), "Makefile", "makefile", "GNUmakefile", "package.json", "tox.ini"]
    return [folder / word for word in named if not word.startswith(("-", "/")) and (folder / word).is_file()]


def _text(path: Path) -> str:
    try:
        return read_small(path, MAX_BYTES, links=True).decode("utf-8", "replace")
    except OSError:
        return ""


HOME = (".npmrc", ".yarnrc", ".pdbrc", ".bash_env", ".config/pip", ".config/git", ".gitconfig", ".cargo/config.toml",
        ".cargo/bin", ".m2/settings.xml", ".gradle/init.d", ".gradle/init.gradle", ".local/bin", ".npm-global/bin",
        "bin", ".config/pytest.ini", ".mypy.ini", ".config/mypy", ".config/ruff", ".coveragerc")  # fmt: skip
LIBRARIES = (".local/lib", "/usr/lib/python3", "/usr/local/lib", "/usr/lib/node_modules")


def changed_outside(folder: Path, since: float) -> list[str]:
    """The files outside the workspace that decide what a command runs, and changed since a time."""
    home = Path.home()
    programs = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    places = [*programs, *(home / name for name in HOME), *(home / name for name in LIBRARIES)]
    if (environment := os.environ.get("VIRTUAL_ENV")) is not None:
        places.append(Path(environment))
    there = [str(path) for path in dict.fromkeys(places) if path.exists() and folder not in (path, *path.parents)]
    return newer(there, since, without=("__pycache__", ".git"))


def newer(places: Iterable[str], since: float, *, without: Sequence[str] = ()) -> list[str]:
    """The files and links below some places that changed after a time, in content or otherwise; `without` folders."""
    folders = list(places)
    if not folders:
        return []
    pruned = [word for name in without for word in ("-name", name, "-prune", "-o")]
    words = ["find", "-H", *folders, *pruned, "(", "-type", "f", "-o", "-type", "l", ")", "-newerct", f"@{since:.6f}"]
    with suppress(OSError, TimeoutExpired):
        done = run_program([*words, "-print0"], timeout=FIND_S)
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return [f"{folders[0]} (not searched)"]


MODULES = frozenset(("_pytest", "pluggy", "atexit", "ctypes", "gc", "psutil", "faulthandler"))
"""Modules through which code reaches into the program that tests it."""
REACHES = frozenset((
    "os._exit", "os.abort", "os.kill", "os.getppid", "os.execv", "os.execve", "os.execvp", "os.execl", "os.execlp",
    "sys.modules", "sys._getframe", "sys.settrace", "sys.setprofile", "sys.meta_path", "sys.path_hooks",
    "sys.excepthook", "sys.addaudithook", "inspect.stack", "inspect.currentframe", "builtins",
    "threading.settrace", "signal.signal", "__builtins__", "__import__", "exec", "eval",
))  # fmt: skip
TEXTS = ("/proc/", "PYTEST", "interlock", "INTERLOCK")
SCRIPTED = ("process.exit", "process.reallyExit", "process.abort", "process.on(", "process.kill", "process.binding",
            "require.cache", "Module._load", "Module.prototype", "globalThis.", "global.", "child_process", "node:test",
            "/proc/", "npm_lifecycle", "JEST_WORKER", "NODE_ENV === 'test'", 'NODE_ENV === "test"')  # fmt: skip


def reaches(path: str, before: str | None, after: str | None) -> str:
    """What new code does to the program that runs it; empty if nothing is known."""
    if after is None:
        return ""
    if path.endswith((".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx")):
        return next((sign for sign in SCRIPTED if sign in after and sign not in (before or "")), "")
    if not path.endswith(".py"):
        return ""
    new = _reached(after, tests="test" in path) - (_reached(before, tests=True) if before else set())
    return min(new, default="")


def _reached(text: str, *, tests: bool) -> set[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    imported: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                imported.update(each.asname or each.name.partition(".")[0] for each in names)
                found.update(each.name for each in names if _is_runner(each.name, tests=tests))
            case ast.ImportFrom(module=str(module), names=names):
                imported.update(each.asname or each.name for each in names)
                found.update((module,) if _is_runner(module, tests=tests) else ())
                found.update({f"{module}.{each.name}" for each in names} & REACHES)
            case ast.Attribute() | ast.Name():
                found.update({ast.unparse(node)} & REACHES)
            case ast.Constant(value=str(value)):
                found.update(f'"{sign}"' for sign in TEXTS if sign in value)
            case ast.FunctionDef(name="__eq__" | "__ne__", body=[*_, ast.Return(value=ast.Constant())]):
                found.add("a constant __eq__")
    targets: Callable[[ast.AST], list[ast.expr]] = lambda each: (  # noqa: E731
        each.targets if isinstance(each, ast.Assign) else [each.target] if isinstance(each, ast.AugAssign) else []
    )
    for node in ast.walk(tree):
        for target in targets(node):
            base = target
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            if base is not target and isinstance(base, ast.Name) and base.id in imported:
                found.add(f"{ast.unparse(target)} =")
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and node.args:
            name = ast.unparse(node.args[0]).partition(".")[0]
            found.update((f"setattr({name})",) if name in imported else ())
    return found


def _is_runner(module: str, *, tests: bool) -> bool:
    first = module.partition(".")[0]
    return first in MODULES or (not tests and first in ("pytest", "unittest"))
