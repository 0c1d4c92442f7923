"""Checks: commands that check something (tests, types, lint, build, an endpoint, a push), by program and arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import re2
from msgspec import Struct

from ..core import late_pattern
from ..review import name_set
from .calls import ProgramRun, read_programs
from .model import ClaimKind

TARGETS = 6
"""Targets kept per check."""
TEXT = 200
"""Characters kept of its command."""


class CheckCommand(Struct, frozen=True):
    """A check that a script runs; `shows` if the script's exit status is the check's."""

    kind: ClaimKind
    runner: str
    text: str
    targets: tuple[str, ...]
    shows: bool
    piped: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()


_HINT = re2.Set.SearchSet()
_HINT.Add(
    r"test|spec|tox|nox|jest|mocha|ava\b|cypress|check|verify|lint|tsc|mypy|pyright|ruff|flake8|prettier|black|isort"
    r"|biome|clippy|cop\b|build|compile|mvn|gradle|make|just|rake|task|ninja|cargo|gcc|g\+\+|clang|javac|webpack|vite"
    r"|rollup|esbuild|curl|wget|http|git|docker|dotnet|bazel|bats|tap\b|phpunit|karma|playwright|pre-commit|vet\b"
)
_HINT.Compile()
"""Substrings of commands that contain a check; most commands contain none."""

_NAMED: dict[str, tuple[ClaimKind, str]] = {
    **{name: ("tests", name) for name in (
        "pytest", "unittest", "tox", "nox", "jest", "vitest", "mocha", "ava", "karma", "jasmine", "ctest", "phpunit",
        "rspec", "bats", "nosetests", "nose2", "tap", "trial", "testem", "cucumber", "behave", "nextest", "gotestsum",
    )},
    **{name: ("types", name) for name in ("tsc", "mypy", "pyright", "basedpyright", "pyre", "flow", "vue-tsc")},
    **{name: ("lint", name) for name in (
        "flake8", "pylint", "eslint", "stylelint", "golangci-lint", "shellcheck", "rubocop", "pycodestyle", "standard",
        "xo", "oxlint", "yamllint", "markdownlint", "hadolint", "lint-imports", "bandit", "pydocstyle", "tslint",
    )},
    **{name: ("build", name) for name in (
        "gcc", "g++", "clang", "clang++", "javac", "rustc", "webpack", "rollup", "esbuild", "py_compile", "compileall",
        "cc", "ninja", "parcel", "tsup",
    )},
    "py.test": ("tests", "pytest"),
    "curl": ("endpoint", "curl"), "wget": ("endpoint", "wget"), "http": ("endpoint", "http"),
}  # fmt: skip
_VERBS: dict[str, dict[str, tuple[ClaimKind, str]]] = {
    "go": {"test": ("tests", "go test"), "build": ("build", "go build"), "vet": ("lint", "go vet")},
    "cargo": {
        "test": ("tests", "cargo test"), "nextest": ("tests", "cargo test"), "t": ("tests", "cargo test"),
        "build": ("build", "cargo build"), "b": ("build", "cargo build"), "check": ("build", "cargo check"),
        "clippy": ("lint", "cargo clippy"), "fmt": ("lint", "cargo fmt"),
    },
    "ruff": {"check": ("lint", "ruff"), "format": ("lint", "ruff format")},
    "biome": {"check": ("lint", "biome"), "lint": ("lint", "biome"), "ci": ("lint", "biome")},
    "cypress": {"run": ("tests", "cypress")},
    "playwright": {"test": ("tests", "playwright")},
    "vite": {"build": ("build", "vite")},
    "next": {"build": ("build", "next"), "lint": ("lint", "next lint")},
    "docker": {"build": ("build", "docker build")},
    "podman": {"build": ("build", "docker build")},
    "dotnet": {"test": ("tests", "dotnet test"), "build": ("build", "dotnet build")},
    "swift": {"test": ("tests", "swift test"), "build": ("build", "swift build")},
    "bazel": {"test": ("tests", "bazel test"), "build": ("build", "bazel build")},
    "mix": {"test": ("tests", "mix test"), "compile": ("build", "mix compile")},
    "deno": {"test": ("tests", "deno test"), "lint": ("lint", "deno lint"), "check": ("types", "deno check")},
    "flutter": {"test": ("tests", "flutter test"), "analyze": ("lint", "flutter analyze")},
    "dart": {"test": ("tests", "dart test"), "analyze": ("lint", "dart analyze")},
    "sbt": {"test": ("tests", "sbt test"), "compile": ("build", "sbt compile")},
    "stack": {"test": ("tests", "stack test"), "build": ("build", "stack build")},
    "git": {"push": ("push", "git push"), "commit": ("commit", "git commit")},
    "pre-commit": {"run": ("lint", "pre-commit")},
    "django": {"test": ("tests", "django")},
    "django-admin": {"test": ("tests", "django")},
    "composer": {"test": ("tests", "composer test")},
    "bun": {"test": ("tests", "bun test")},
}  # fmt: skip
_CHECK_ONLY = {"black": "--check", "prettier": "--check", "isort": "--check", "cargo fmt": "--check",
               "ruff format": "--check", "clang-format": "--dry-run"}  # fmt: skip
"""Formatters check only with this option; otherwise they change files."""
_PACKAGERS = frozenset(("npm", "yarn", "pnpm", "bun"))
_MAKES = frozenset(("make", "gmake", "just", "task", "rake", "invoke", "inv"))
_JAVA = frozenset(("mvn", "mvnw", "gradle", "gradlew"))
SCRIPTS = name_set("python python3 node bash sh ruby perl php deno ts-node tsx script")
"""Script runners, whose output on failure is unknown."""
_TEST_NAME = late_pattern(r"(?:\A|[/_.:-])(?:run_?|all_?)?(?:tests?|specs?|e2e)(?:[/_.:-]|\Z)", re.IGNORECASE)
_TEST_DIGIT = late_pattern(r"(?:\A|/)test_?\w*\.\w+\Z|\w_?tests?\.\w+\Z", re.IGNORECASE)
_LINT_NAME = late_pattern(r"(?:\A|[_.:-])(?:lint|eslint|format:check|fmt:check)(?:[_.:-]|\Z)")
_TYPE_NAME = late_pattern(r"(?:\A|[_.:-])(?:type-?check|types?|tsc|mypy)(?:[_.:-]|\Z)")
_BUILD_NAME = late_pattern(r"(?:\A|[_.:-])(?:build|compile|bundle)(?:[_.:-]|\Z)")
_CHECK_NAME = late_pattern(r"(?:\A|[_.:-])(?:check|verify|validate|ci)(?:[_.:-]|\Z)")
_NOT_RUN = name_set(
    """--help -h --version -V --collect-only --co --list --list-tests --listTests --showConfig --fixtures --markers
    --dry-run --print-config --init --install-types --setup-plan --no-run --just-print --recon --question"""
)
_NARROWS = ("--ignore", "--deselect", "--exclude", "--skip", "--testPathIgnorePatterns", "-DskipTests",
            "-Dmaven.test.skip")  # fmt: skip


@lru_cache(256)
def read_checks(script: str) -> tuple[CheckCommand, ...]:
    """The checks that a script runs, in order."""
    if not _HINT.Match(script.encode("utf-8", "replace")):
        return ()
    found = []
    own = _defined(script)
    for run in read_programs(script):
        known = _recognise(list(run.words)) if run.words[0] not in own else None
        if known is not None:
            found.append(_check(run, *known))
    return tuple(found)


def _defined(script: str) -> set[str]:
    if "(" not in script and "function" not in script and "alias" not in script:
        return set()
    return {name for names in _DEFINED.findall(script) for name in names}


_DEFINED = late_pattern(r"(?:\A|[\s;&|({])(?:([\w.-]+)\s*\(\s*\)|function\s+([\w.-]+)|alias\s+([\w.-]+)=)")
"""Names that a script itself defines."""


def _check(run: ProgramRun, kind: ClaimKind, runner: str) -> CheckCommand:
    targets = dict.fromkeys(
        word.partition("::")[0].rstrip("/")
        for word in run.words[1:]
        if not word.startswith(("-", "$", ">", "<")) and ("/" in word or "." in word) and "=" not in word
    )
    narrowed = [word for word in run.words if word.startswith(_NARROWS)]
    if "-k" in run.words[:-1] and (chosen := run.words[run.words.index("-k") + 1]).startswith("not "):
        narrowed.append(f"-k {chosen!r}")
    return CheckCommand(
        kind,
        runner,
        run.text[:TEXT],
        tuple(name for name in targets if name not in ("", ".", "./", "./..."))[:TARGETS],
        run.shows,
        run.piped,
        tuple(narrowed[:TARGETS]),
    )


def _recognise(words: list[str]) -> tuple[ClaimKind, str] | None:
    program = words[0].rpartition("/")[2]
    program = program.removesuffix(".cmd").removesuffix(".exe")
    rest = [word for word in words[1:] if not word.startswith("-")]
    if not _NOT_RUN.isdisjoint(words[1:]) and program != "git":
        return None
    if program in _CHECK_ONLY:
        return ("lint", program) if any(word.startswith(_CHECK_ONLY[program]) for word in words) else None
    if program == "node" and any(word.startswith("--test") for word in words[1:]):
        return "tests", "node --test"
    if program in _NAMED:
        return _NAMED[program]
    if program in _VERBS:
        known = next((_VERBS[program][word] for word in rest[:2] if word in _VERBS[program]), None)
        if known is not None and known[1] in _CHECK_ONLY and _CHECK_ONLY[known[1]] not in words:
            return None
        if known is not None or program not in _PACKAGERS:
            return known
    if program in _PACKAGERS:
        return _packager(rest)
    if program in _JAVA:
        return _java(program.removesuffix("w"), words)
    if program in _MAKES:
        if _is_idle_make(words):
            return None
        return _by_name(rest[0], program) if rest else ("build", program) if program == "make" else None
    if program == "cmake":
        return ("build", "cmake") if "--build" in words else None
    if program in SCRIPTS:
        return _script(program, words[1:], rest)
    if words[0].startswith(("./", "/", "../")) or "/" in words[0] or program.endswith((".sh", ".py")):
        return _by_name(program, "script")
    return ("tests", "script") if re.fullmatch(r"[a-z]+-tests?|run_?tests?", program) else None


def _is_idle_make(words: Sequence[str]) -> bool:
    """Whether make only prints what it would do, or ignores errors."""
    return words[0] == "make" and any(re.fullmatch(r"-\w*[nqi]\w*|--ignore-errors", word) for word in words[1:])


def _packager(rest: list[str]) -> tuple[ClaimKind, str] | None:
    if not rest:
        return None
    if rest[0] in ("run", "run-script", "exec", "dlx", "x"):
        rest = rest[1:]
    if not rest:
        return None
    if rest[0] in ("t", "tst"):
        return "tests", "npm test"
    if rest[0] in _NAMED or rest[0] in _VERBS or rest[0] in _CHECK_ONLY:
        return _recognise(rest)
    return _by_name(rest[0], f"npm {rest[0]}")


def _java(program: str, words: list[str]) -> tuple[ClaimKind, str] | None:
    last = {word.rpartition(":")[2] for word in words[1:] if not word.startswith("-")}
    skips = any(word.startswith(("-DskipTests", "-Dmaven.test.skip")) for word in words) or "-x" in words
    if last & {"test", "verify", "integration-test", "check", "install", "package"} and not skips:
        return "tests", program
    built = {"compile", "build", "assemble", "test-compile", "jar", "classes", "install", "package"}
    return ("build", program) if last & built else None


def _script(program: str, words: list[str], rest: list[str]) -> tuple[ClaimKind, str] | None:
    if not rest or "-c" in words or "-e" in words:
        return None
    name = rest[0]
    if name.endswith("manage.py"):
        return ("tests", "django") if "test" in rest[1:2] else None
    if name.endswith("setup.py"):
        return ("tests", "unittest") if "test" in rest[1:2] else ("build", "setup.py") if "build" in rest[1:2] else None
    return _by_name(name, program)


def _by_name(name: str, runner: str) -> tuple[ClaimKind, str] | None:
    """What a script or a target checks, judging by its name."""
    if _TEST_NAME.search(name) or _TEST_DIGIT.search(name):
        return "tests", runner
    last = name.rpartition("/")[2]
    if _LINT_NAME.search(last):
        return "lint", runner
    if _TYPE_NAME.search(last):
        return "types", runner
    if _BUILD_NAME.search(last) or (runner == "make" and last == "all"):
        return "build", runner
    return ("tests", runner) if _CHECK_NAME.search(last) else None


_READING = name_set(
    """cd export source . echo set sleep mkdir true : pushd popd unset printf alias clear test [ ls cat head tail grep
    rg find sed awk cut sort uniq wc tree less more stat file which type pwd env date whoami touch rm mv cp chmod chown
    diff git pip pip3 npm yarn pnpm apt apt-get brew conda tee xargs jq
    man history ps top df du free uname id hostname"""
)
"""Programs that inspect, move and install: their exit status says nothing about the task."""


@lru_cache(256)
def read_command(script: str) -> tuple[CheckCommand, ...]:
    """The last program of a script that does real work: evidence for a claim that something is done."""
    own = _defined(script)
    for run in reversed(read_programs(script)):
        program = run.words[0].rpartition("/")[2]
        if program in _NAMED or program in _JAVA or program in own or not _NOT_RUN.isdisjoint(run.words):
            # It would be a check if it checked anything.
            continue
        if (
            program not in _READING
            and not _is_idle_make(run.words)
            and not program.startswith(("-", "<", "$", "#"))
            and len(program) > 1
        ):
            return (CheckCommand("done", " ".join(run.words[:2])[:80], run.text[:TEXT], (), run.shows, run.piped),)
    return ()
