"""Build files: tools that run the contents of their own file, where an earlier step has written that file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import re2

from ...core import from_json, late_pattern
from ..wordlist import name_set
from .interpreters import run_code, run_payloads
from .model import NOTHING, Command
from .projects import MAX_FILES, MAX_LINES, run_recipes
from .scope import OfFiles, ShellScope, below

if TYPE_CHECKING:
    from .reader import ScriptReader

TOOLS: dict[str, tuple[tuple[str, ...], str]] = {
    "task": (("Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"), "lines"),
    "just": (("justfile", "Justfile", ".justfile"), "recipes"),
    "tox": (("tox.ini",), "lines"),
    "pre-commit": ((".pre-commit-config.yaml",), "lines"),
    "act": ((".github/workflows/",), "lines"),
    "ansible-playbook": (("",), "lines"),
    "cmake": (("CMakeLists.txt",), "lines"),
    "rake": (("Rakefile", "rakefile"), "ruby"),
    "vagrant": (("Vagrantfile",), "ruby"),
    "invoke": (("tasks.py",), "python"),
    "inv": (("tasks.py",), "python"),
    "nox": (("noxfile.py",), "python"),
    "fab": (("fabfile.py",), "python"),
    "scons": (("SConstruct",), "python"),
    "gulp": (("gulpfile.js",), "node"),
    "grunt": (("Gruntfile.js",), "node"),
    "vite": (("vite.config.js", "vite.config.ts"), "node"),
    "webpack": (("webpack.config.js",), "node"),
    "jest": (("jest.config.js", "jest.setup.js", "tests/", "test/", "__tests__/"), "node"),
    "vitest": (("vitest.config.js", "vitest.config.ts", "vitest.setup.ts", "tests/", "test/"), "node"),
    "mocha": ((".mocharc.js", ".mocharc.cjs", "test/"), "node"),
    "rspec": (("spec/",), "ruby"),
    "gem": (("ext/",), "ruby"),
    "phpunit": (("tests/",), "php"),
    "terraform": (("",), "values"),
    "tofu": (("",), "values"),
    "gradle": (("build.gradle", "build.gradle.kts"), "groovy"),
    "gradlew": (("build.gradle", "build.gradle.kts"), "groovy"),
    "cargo": (("build.rs", "src/", "tests/"), "rust"),
    "go": (("",), "go"),
    **dict.fromkeys(("foreman", "honcho", "overmind", "goreman"), (("Procfile",), "lines")),
    "mix": (("mix.exs",), "elixir"),
    "pip": (("setup.py",), "python"),
    "pipx": (("setup.py",), "python"),
    "composer": (("composer.json",), "composer"),
    "docker": (("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"), "compose"),
    "docker-compose": (("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"), "compose"),
}
"""The files that a tool reads (a folder: all below it; empty: those that it names, or all here), and their format."""

ENDINGS = {"go": (".go",), "rust": (".rs",), "values": (".tf",), "lines": (".yml", ".yaml")}
ASKS = frozenset(("--version", "-V", "--help", "-h", "--list", "-l", "plan", "validate", "fmt", "ps", "logs", "config"))
"""Options and subcommands that only inspect the file."""


def run_build_file(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """Run what a tool would run from the files that an earlier step has written for it."""
    names, how = TOOLS[command.program]
    if names == ("setup.py",) and not any(
        arg in (".", "./", "-e.", ".[dev]") or arg[:2] == "./" for arg in command.args
    ):
        return
    if not ASKS.isdisjoint(command.args[:2]):
        return
    inner = below(scope, command.program)
    if names == ("setup.py",) and (backend := BACKEND.search(scope.recall("pyproject.toml") or "")) is not None:
        names = (*names, f"{backend[1].replace('.', '/')}.py")
    if command.program == "cargo" and (built := BUILT.search(scope.recall("Cargo.toml") or "")) is not None:
        names = (*names, built[1])
    for name, text, step in _files(command, names, how, scope):
        with reader.quoting(f"{name}, written in step {step}" if step >= 0 else ""):
            _run(reader, command, text, how, inner)
            if how not in ("recipes", "composer", "compose", "go"):
                run_payloads(reader, text, inner)
            if command.program == "ansible-playbook":
                for path in (path or other for path, other in ABSENT.findall(text)[:MAX_FILES]):
                    reader.execute(["rm", "-rf", path], inner.copy(), NOTHING)


@lru_cache(1024)
def may_be_loaded(place: str) -> bool:
    """Whether a tool may load a file of this name by itself: `Snakefile`, `.envrc`, `flake.nix`, but not a module."""
    name = place.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if SETTINGS.match(name) is not None:
        return True
    return ending not in CODE and not name.endswith(PROSE) and not name.startswith(ELSEWHERE) and bool(stem or ending)


CODE = name_set(
    """py pyi ipynb js jsx mjs cjs ts tsx vue svelte sh bash zsh rb pl pm php lua r jl c h cc cpp hpp cs java kt scala
    go rs swift sql css scss less html xml json jsonl toml lock yml yaml cfg conf ini env svg png pdf tmpl j2 service"""
)
"""Extensions of files that are run by name, or are only data."""
ELSEWHERE = ("Dockerfile", "Containerfile", "Jenkinsfile", "Makefile", "makefile", "GNUmakefile", "LICENSE", ".git")
"""Files that run on another machine, or that a known program runs."""


def run_given(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """Run the commands inside a written file given to a program: a compiler, macro processor or service manager."""
    for arg in command.args[:MAX_GIVEN]:
        name = arg.rpartition("=")[2]
        if name.isidentifier() and scope.recall(f"{name}.py") is not None:
            name = f"{name}.py"
        if not name or name[:1] == "-" or name.endswith(PROSE) or len(name) > MAX_NAME:
            continue
        file = scope.file(name)
        if file.text is not None:
            with reader.quoting(scope.evidence(name)):
                run_payloads(reader, file.text, below(scope, command.program))
    if not scope.files.known or not (loadable := _loadable(scope.files.known)):
        return
    folders = {"", *(arg.rstrip("/") for arg in command.args[:MAX_GIVEN] if arg[:1] != "-" and len(arg) < MAX_NAME)}
    for place, file in loadable:
        name = place.rpartition("/")[2]
        if "/." in place or any(place == scope.place(f"{near}/{name}" if near else name) for near in folders):
            with reader.quoting(f"{name}, written in step {file.step}"):
                _run_settings(reader, place, file.text or "", below(scope, command.program))


_loadable = OfFiles(
    lambda known: [(place, file) for place, file in known.items() if file.text is not None and may_be_loaded(place)]
)


def _run_settings(reader: ScriptReader, place: str, text: str, scope: ShellScope) -> None:
    """Run a file that a tool loads by itself: as code if it is code, and with the files that it names."""
    language = LANGUAGES.get(place.rpartition(".")[2])
    if language is not None:
        run_code(reader, text, language, scope)
    run_payloads(reader, text, scope)
    folder = place.rpartition("/")[0]
    for other, file in list(scope.files.known.items()):
        name = other.removeprefix(f"{folder}/")
        language = LANGUAGES.get(other.rpartition(".")[2])
        if other != place and file.text is not None and language is not None and name in text:
            run_code(reader, file.text, language, scope)


LANGUAGES = {
    **dict.fromkeys(("js", "cjs", "mjs", "ts", "cts", "mts"), "node"), "py": "python", "rb": "ruby", "pl": "perl",
    "lua": "lua", "gradle": "groovy", "kts": "kotlin", "php": "php", "exs": "elixir", "rs": "rust",
}  # fmt: skip
"""The interpreter of a settings file that is a program, by its extension."""

SETTINGS = late_pattern(
    r"(?i)(?:conf|config|settings|setup|tasks?|dodo|fabfile|noxfile|wscript|build|plugins?|hooks?|sitecustomize|usercustomize"
    r"|site|bootstrap|preload|register|environment|karma|gruntfile|gulpfile|rakefile|snakefile|duties|app_config|devcontainer|extconf)\.\w{1,6}\Z"
    r"|[\w.-]*[._-](?:config|conf|setup|hooks?|plugin|rc|settings|bootstrap|preset|env)\.(?:[cm]?[jt]s|py|rb|lua|php|exs|kts|json|ya?ml|toml)\Z"
    r"|\.[\w.-]*rc(?:\.\w{1,5})?\Z|\.[\w-]+\.(?:[cm]?js|py|rb|lua|ya?ml|toml)\Z|[\w.-]*(?:file|rc)\.(?:[cm]?[jt]s|py|rb)\Z"
)
"""Names of files that a tool loads by itself."""


MAX_GIVEN = 16
MAX_NAME = 400
PROSE = (".md", ".txt", ".rst", ".adoc", ".html", ".csv", ".log", ".patch", ".diff")
"""Files that no program runs."""


def _files(command: Command, names: tuple[str, ...], how: str, scope: ShellScope) -> Iterator[tuple[str, str, int]]:
    given = [arg for at, arg in enumerate(command.args) if at and command.args[at - 1] in ("-f", "--file", "-t")]
    given += [arg for arg in command.args if arg.endswith(ENDINGS.get(how, ("\0",)))]
    count = 0
    for name in given or names:
        if name and not name.endswith("/"):
            file = scope.file(name)
            if file.text is not None:
                yield name, file.text, file.step
            continue
        for place, file in scope.below(name or "."):
            if file.text is not None and place.endswith(ENDINGS.get(how, ("",))) and count < MAX_FILES:
                count += 1
                yield place.rpartition("/")[2], file.text, file.step


def _run(reader: ScriptReader, command: Command, text: str, how: str, scope: ShellScope) -> None:
    if how == "lines":
        for line in text.split("\n")[:MAX_LINES]:
            plain = KEY.sub("", line).strip().strip("\"'")
            if plain and MAY_ACT.Match(plain.encode("utf-8", "replace")):
                reader.nested(plain, scope.copy(), NOTHING)
    elif how == "values":
        for value in VALUE.findall(text)[:MAX_LINES]:
            reader.nested(value.replace('\\"', '"'), scope.copy(), NOTHING)
    elif how == "recipes":
        wanted = [arg for arg in command.args if arg[:1] != "-" and "=" not in arg]
        run_recipes(reader, INDENTED.sub("\t", text), wanted, scope)
    elif how == "composer":
        _run_composer(reader, command, text, scope)
    elif how == "compose":
        if any(arg in ("up", "run", "start", "create") for arg in command.args):
            _run_services(reader, text, scope)
    elif how == "go":
        for line in GENERATE.findall(text)[:MAX_LINES] if "generate" in command.args[:1] else ():
            reader.nested(line, scope.copy(), NOTHING)
        if command.args[:1] in (("run",), ("test",)):
            run_code(reader, text, how, scope)
    else:
        run_code(reader, text, how, scope)


MAY_ACT = re2.Set.SearchSet()
MAY_ACT.Add(
    r"(?:^|[\s;&|(])(?:\S*/)?(?:rm|dd|mkfs\S*|shred|curl|wget|nc|ncat|socat|ssh|scp|rsync|sudo|chmod|chown|kill|git|docker"
    r"|kubectl|aws|psql|mysql|unlink|truncate|mv|crontab|base64|bash|sh|python3?|node|perl|ruby|find|eval)\s"
)
MAY_ACT.Compile()
"""Commands that act, in a line of a file that also contains other text."""

KEY = late_pattern(r"^\s*(?:-\s+)*(?:[\w.-]+\s*[:=]\s*)?[|>]?-?")
BACKEND = late_pattern(r"^build-backend\s{0,4}=\s{0,4}['\"]([\w.]{1,80})", re.MULTILINE)
BUILT = late_pattern(r"^build\s{0,4}=\s{0,4}['\"]([\w./-]{1,80})", re.MULTILINE)
ABSENT = late_pattern(
    r"\b(?:path|dest):\s*['\"]?([^\s'\"]{1,400})['\"]?\s+state:\s*absent|\bstate:\s*absent\s+path:\s*['\"]?([^\s'\"]{1,400})"
)
"""A file or folder that a playbook removes."""

VALUE = late_pattern(r'\bcommand\s{0,8}=\s{0,8}"((?:[^"\\\n]|\\.){1,2000})"')
INDENTED = late_pattern(r"^[ ]{2,8}(?=\S)", re.MULTILINE)
GENERATE = late_pattern(r"^//go:generate\s+(\S.*)$", re.MULTILINE)


class _Composer(msgspec.Struct):
    scripts: dict[str, str | list[str]] = {}


def _run_composer(reader: ScriptReader, command: Command, text: str, scope: ShellScope) -> None:
    """`composer install` runs the scripts of its events, `composer NAME` that script."""
    try:
        scripts = from_json(text.encode(), _Composer).scripts
    except msgspec.DecodeError:
        return
    words = [arg for arg in command.args if arg[:1] != "-"]
    name = words[1] if words[:1] in (["run"], ["run-script"]) and len(words) > 1 else words[0] if words else "install"
    for event, value in scripts.items():
        if event == name or (event.startswith(("pre-", "post-")) and name in ("install", "update", "require")):
            for line in [value] if isinstance(value, str) else value:
                reader.nested(line.removeprefix("@php "), scope.copy(), NOTHING)


def _run_services(reader: ScriptReader, text: str, scope: ShellScope) -> None:
    """Services of a compose file as the equivalent `docker run`: their mounts and their commands."""
    for part in re.split(r"^ {2}(?=[\w.-]+:\s*$)", text, flags=re.MULTILINE)[1 : MAX_FILES + 1]:
        found = SERVICE.findall(part)
        run = next((value for key, value in found if key in ("command", "entrypoint")), "")
        mounts = MOUNT.findall(part)
        if run and mounts:
            words = _words(run.strip())
            options = [word for mount in mounts for word in ("-v", mount)]
            reader.execute(["docker", "run", *options, "image", *words], scope.copy(), NOTHING)


SERVICE = late_pattern(r"^\s+(command|entrypoint|image):[ \t]*(\S.*)$", re.MULTILINE)
MOUNT = late_pattern(r"(?:^\s+-|volumes:[ \t]*\[|,)[ \t]*[\"']?((?:[./~$]|\.\.)[^\s:\"']*:/[^\s\"',\]]*)", re.MULTILINE)


def _words(run: str) -> list[str]:
    if run.startswith("["):
        return re.findall(r"[\"']([^\"']*)[\"']", run)
    try:
        return shlex.split(run)
    except ValueError:
        return run.split()
