"""Searches: `find` deletes what it matches or runs a command on it, `xargs` runs one on its input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..wordlist import name_set
from .model import NOTHING, Command, PipeContent
from .projects import run_on_known
from .scope import ShellScope, below
from .wrappers import PARALLEL, XARGS

if TYPE_CHECKING:
    from .reader import ScriptReader

MAX_ROOTS = 8

MAX_ITEMS = 32
"""File names from a pipe that are followed."""

TESTS = name_set(
    """-name -iname -path -ipath -wholename -iwholename -regex -iregex -size -empty -mtime -atime -ctime -mmin -amin
    -cmin -newer -newermt -anewer -cnewer -user -group -uid -gid -nouser -nogroup -perm -links -inum -samefile
    -lname -ilname -used"""
)
"""Tests that narrow the search to some files."""

WEAK_TESTS = name_set("-type -xtype -maxdepth -mindepth -fstype -readable -writable -executable")
"""Tests that narrow it to a type of file: enough below the working directory, not below the root."""


BROAD_ROOTS = ("/", "~", "/home", "/Users")
"""These contain everyone's work: even the files of a single kind are many."""

NAME_TESTS = name_set("-name -iname -path -ipath -wholename -iwholename -regex -iregex")

RUBBISH = name_set(
    """bak tmp temp cache pycache pyc pyo class o swp swo orig rej core old part crdownload dsstore thumbsdb egg-info ~
    #"""
)
"""What the names of disposable files reduce to."""

RUNNING = name_set("sh bash zsh dash python python3 node perl ruby source . {}")

REMOVING = name_set("rm unlink shred srm rmdir")


def run_find(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Run the commands of `-exec` and similar on every root, and treat `-delete` as a removal."""
    args = command.args
    roots = roots_of(args)
    narrow = is_narrow(args)
    kind = is_kind(args)
    weak = not WEAK_TESTS.isdisjoint(args)
    picked = [
        f"{root.rstrip('/')}/{'{}' if narrow or (weak and not root.startswith(('/', '~', '$', '..'))) else '*'}"
        for root in roots
    ]
    name = folder_of(args)
    folders = [f"{root.rstrip('/')}/**/{name}" for root in roots] if name else picked
    reader.add(command)
    inner = below(scope, "find")
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "-delete":
            for pick in widened(picked, kind):
                reader.execute(["rm", "-r", pick], inner, PipeContent(), filtered=pick.endswith("{}"))
        elif arg in ("-exec", "-execdir", "-ok", "-okdir"):
            words = until_end(args[at:])
            at += len(words)
            picks = picked
            if words and words[0].rpartition("/")[2] in REMOVING:
                picks = folders if name and any(map(RECURSIVE.match, words)) else widened(picked, kind)
            for pick in picks if any("{}" in word for word in words) else picks[:1]:
                if words and words[0] in RUNNING:
                    run_on_known(reader, words, pick.removesuffix("/*").removesuffix("/{}"), inner)
                if words:
                    filled = [word.replace("{}", pick) for word in words]
                    reader.execute(filled, inner, PipeContent(), filtered=pick.endswith("{}"))
    return PipeContent(None, (*flow.sources, "find")[-8:], tuple(folders if "d" in args else picked))


def folder_of(args: tuple[str, ...]) -> str:
    """The name of the folders that a search finds, if only their name selects them and no tool can rebuild them."""
    names = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in FOLDER_NAMES]
    tests = [arg for arg in args if arg in TESTS or arg in ("!", "-not") or arg.startswith("-newer")]
    if len(names) != 1 or len(tests) != 1 or "f" in args or "l" in args:
        return ""
    return "" if is_rebuilt(names[0]) else names[0].replace("*", "")


def is_rebuilt(name: str) -> bool:
    """Whether a folder of this name, or one that a pattern matches, contains only what a tool makes again."""
    plain = name.lower().strip("*").lstrip(".")
    return plain in REBUILT or plain.strip("_-") in RUBBISH or name[:1] in "*?[" or plain.endswith(REBUILT_ENDINGS)


FOLDER_NAMES = frozenset(("-name", "-iname"))
RECURSIVE = re.compile(r"-\w*[rR]|--recursive\Z")
REBUILT = name_set(
    """node_modules __pycache__ bower_components build dist out target bin obj venv env htmlcov coverage cmakefiles
    deriveddata tmp temp cache logs debug release pods elm-stuff bazel-out buck-out site-packages vendor __snapshots__
    __macosx wandb mlruns lightning_logs tox nox next nuxt turbo gradle terraform nyc_output ipynb_checkpoints
    svelte-kit eggs output dart_tool docusaurus"""
)
REBUILT_ENDINGS = ("-info", "cache", "-build", ".tmp", "_tmp", "-tmp", ".bak", ".old")
"""Folders that tools make, and how the names of others end."""


def run_xargs(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`xargs rm`: the names come from the pipe. `xargs -I% CODE` and `parallel` run once per line."""
    is_parallel = command.program == "parallel"
    words = (PARALLEL if is_parallel else XARGS).inner(command.args)
    mark = mark_of(command.args) or ("{}" if is_parallel else None)
    items = flow.items
    lines = not items and flow.text is not None and (mark is not None or by_line(command.args))
    if flow.text and not items:
        items = tuple((LINES.split(flow.text) if lines else flow.text.split())[:MAX_ITEMS])
    if ":::" in words:
        at = words.index(":::")
        words, items, lines = words[:at], tuple(words[at + 1 :][:MAX_ITEMS]), True
    if not words:
        return reader.nested("\n".join(items), below(scope, "parallel"), NOTHING) if is_parallel and items else None
    inner = below(scope, command.program)
    # Matches of an earlier search count like input that xargs has not read.
    picked = not items or all(item.endswith("{}") for item in items)
    # A path among the words is affected in any case.
    picked = picked and not any(word[:1] in ("/", "~") and (mark or "{}") not in word for word in words[1:])
    out = NOTHING
    for group in [(item,) for item in items if item] if lines and mark is not None else [items]:
        filled = fill(words, group, mark or "{}")
        if is_parallel and len(words) == 1:
            out = reader.nested(" ".join(filled), inner, NOTHING)
        else:
            out = reader.execute(
                filled, inner, PipeContent(None, flow.sources), redirects=command.redirects, filtered=picked
            )  # fmt: skip
    return out


LINES = re.compile(r"[\n\0]")


def by_line(args: tuple[str, ...]) -> bool:
    """Whether names are not separated by whitespace."""
    return any(arg[:2] in ("-0", "-d") or arg in ("--null", "--delimiter") for arg in args)


def mark_of(args: tuple[str, ...]) -> str | None:
    """The placeholder for a name in the words: `-I %`, `-I%`, `-i`, `--replace=%`."""
    for at, arg in enumerate(args):
        if arg in ("-I", "-J"):
            return args[at + 1] if at + 1 < len(args) else None
        if arg[:2] == "-I":
            return arg[2:]
        if arg == "-i" or arg == "--replace":
            return "{}"
        if arg.startswith("--replace="):
            return arg[10:]
        if arg[:1] != "-":
            break
    return None


def fill(words: list[str], items: tuple[str, ...], mark: str) -> list[str]:
    """The words with the names inserted at the placeholder, otherwise at the end."""
    filled: list[str] = []
    for word in words:
        if word == mark:
            filled += items or ("{}",)
        elif mark in word:
            filled.append(word.replace(mark, items[0] if items else "{}"))
        else:
            filled.append(word)
    return filled if any(mark in word for word in words) else [*filled, *(items or ("{}",))]


def is_narrow(args: tuple[str, ...]) -> bool:
    """Whether a test selects some files and not others; `-name '*'` does not."""
    for at, arg in enumerate(args):
        value = args[at + 1] if at + 1 < len(args) else ""
        if (arg in TESTS or arg.startswith("-newer")) and value not in ("*", ".*", "*.*"):
            return True
        if arg == "-type" and value not in ("f", "d", "f,d", "d,f"):
            return True
    return False


def widened(picked: list[str], kind: bool) -> list[str]:
    """What a removal affects: below the root or a home, all files of one kind (`*.py`) count as all files."""
    if not kind:
        return picked
    return [f"{pick[:-2]}*" if pick.endswith("{}") and (pick[:-3] or "/") in BROAD_ROOTS else pick for pick in picked]


def is_kind(args: tuple[str, ...]) -> bool:
    """Whether only names narrow the search, and to a kind of file that is not disposable."""
    kinds, others = False, False
    for at, arg in enumerate(args[:-1]):
        if arg in NAME_TESTS:
            broad = args[at - 1] in ("!", "-not") or is_broad(args[at + 1])
            kinds, others = kinds or broad, others or not broad
        elif arg in TESTS or arg.startswith("-newer"):
            others = True
    return kinds and (not others or "-o" in args or "-or" in args)


def is_broad(pattern: str) -> bool:
    """Whether a pattern matches a kind of file anywhere, rather than certain or disposable files."""
    kept = re.sub(r"\[[^]]*\]|[*?.\\/_$^+\s]", "", pattern).lower()
    if pattern.strip("*.?\\^$").count("/") or kept in RUBBISH or pattern.rstrip("*").endswith(("~", "#")):
        return False
    return pattern[:1] in "*?.[" and any(mark in pattern for mark in "*?[")


def roots_of(args: tuple[str, ...]) -> list[str]:
    """The folders that are searched."""
    roots: list[str] = []
    for arg in args:
        if arg in ("-L", "-H", "-P") or arg.startswith("-O"):
            continue
        if arg[:1] in ("-", "(", "!", ")"):
            break
        roots.append(arg)
    return roots[:MAX_ROOTS] or ["."]


def until_end(args: tuple[str, ...]) -> list[str]:
    """The words of an `-exec`, up to its `;` or `+`."""
    words: list[str] = []
    for arg in args:
        if arg == ";" or (arg == "+" and words):
            return words
        words.append(arg)
    return words
