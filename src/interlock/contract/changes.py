"""Changes: the paths that a call would change, judging by its commands; the checkpoint after it shows the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ..core import late_pattern
from ..review import ToolCall, resolve
from ..review.shell import Command

MOST = 256
"""Paths checked per call."""


class ChangedPath(Struct, frozen=True):
    """A path that would change; `whole` if everything below it would be removed or moved."""

    path: str
    whole: bool = False


def changed_by(call: ToolCall, workspace: str | None) -> list[ChangedPath]:
    """The paths that a call would change; absolute if the workspace is known."""
    found: dict[ChangedPath, None] = {}
    for write in call.writes:
        found[ChangedPath(resolve(write.path, workspace))] = None
    for command in call.script.commands:
        if not ELSEWHERE.isdisjoint(command.via):
            continue
        for changed in _changes(command):
            if changed.path[:1] not in ("$", "&", "<", "") and len(changed.path) < 1024:
                found[ChangedPath(resolve(changed.path, command.cwd or workspace), changed.whole)] = None
        if len(found) >= MOST:
            break
    return list(found)


ELSEWHERE = frozenset(("ssh", "docker", "podman", "kubectl", "chroot"))
"""Through these wrappers a command works on files outside the workspace."""


def _changes(command: Command) -> Iterator[ChangedPath]:
    for redirect in command.redirects:
        if redirect.writes and not redirect.target.startswith("/dev/") and not redirect.target.isdigit():
            yield ChangedPath(redirect.target)
    program, args = command.program, command.args
    operands = [word for word in args if not word.startswith("-")]
    if program in (
        ">",
        ">>",
        "tee",
        "touch",
        "truncate",
        "sponge",
        "chmod",
        "chown",
        "chgrp",
        "mkdir",
        "shred",
        "unlink",
        "ed",
        "ex",
    ):
        values = operands[1:] if program in ("chmod", "chown", "chgrp") else operands
        yield from map(ChangedPath, values)
    elif program in ("rm", "rmdir"):
        yield from (ChangedPath(word, True) for word in operands)
    elif program == "mv":
        yield from (ChangedPath(word, True) for word in operands[:-1])
        yield from _into(operands, args)
    elif program in ("cp", "install", "ln", "rsync", "scp"):
        yield from _into(operands, args)
    elif program in ("sed", "gsed", "perl", "ruby", "awk", "gawk") and _in_place(program, args):
        yield from map(ChangedPath, _after_script(args, operands))
    elif program == "dd":
        yield from (ChangedPath(word[3:]) for word in args if word.startswith("of="))
    elif program in ("curl", "wget", "sort", "gcc", "cc", "pandoc"):
        yield from map(
            ChangedPath,
            _valued(args, ("-o", "-O", "--output", "--output-document") if program != "curl" else ("-o", "--output")),
        )
    elif program == "patch":
        yield from map(ChangedPath, operands[:1])
    elif program == "git":
        yield from _git(args, operands)
    elif program in FORMATTERS and _formats(program, args):
        yield from (ChangedPath(word) for word in operands if "/" in word or "." in word)
    if command.code:
        yield from map(ChangedPath, WRITTEN_BY_CODE.findall(command.code[:MAX_CODE]))


MAX_CODE = 65_536
WRITTEN_BY_CODE = late_pattern(
    r"(?:\bopen\(\s*[rbfu]?[\"'](?=[^\"'\n]{1,400}[\"']\s*,\s*(?:mode\s*=\s*)?[\"'][wax])"
    r"|Path\(\s*[\"'](?=[^\"'\n]{1,400}[\"']\s*\)\s*\.\s*(?:write_|unlink|rename|touch|open\(\s*[\"'][wax]))"
    r"|(?:[wW]riteFile|appendFile|unlink|rm)(?:Sync)?\(\s*[\"'`]|(?:file_put_contents|File\.write)\(\s*[\"'])"
    r"([^\"'`\n]{1,400})"
)
"""The files that code opens for writing."""


FORMATTERS: dict[str, tuple[str, ...]] = {
    "black": (), "isort": (), "rustfmt": (), "pyupgrade": (), "dos2unix": (), "unix2dos": (), "gofmt": ("-w",),
    "autopep8": ("-i", "--in-place"), "yapf": ("-i", "--in-place"), "autoflake": ("-i", "--in-place"),
    "prettier": ("--write", "-w"), "eslint": ("--fix",), "ruff": ("--fix", "format"), "clang-format": ("-i",),
    "biome": ("--write",),
}  # fmt: skip
"""Programs that rewrite the files given to them, and the options that they need for it."""

ONLY_CHECKS = frozenset(("--check", "--diff", "--check-only", "--dry-run", "--list-different"))


def _formats(program: str, args: tuple[str, ...]) -> bool:
    need = FORMATTERS[program]
    return (not need or any(word.partition("=")[0] in need for word in args)) and ONLY_CHECKS.isdisjoint(args)


def _into(operands: list[str], args: tuple[str, ...]) -> Iterator[ChangedPath]:
    """The destinations of a copy: the last operand, and the file names below it if it is a folder."""
    into = list(_valued(args, ("-t", "--target-directory")))
    target = into[0] if into else operands[-1] if len(operands) > 1 else ""
    if not target:
        return
    yield ChangedPath(target)
    for source in operands if into else operands[:-1]:
        yield ChangedPath(f"{target.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}")


def _in_place(program: str, args: tuple[str, ...]) -> bool:
    if program in ("awk", "gawk"):
        return "inplace" in args or "-iinplace" in args
    return any(
        re.match(r"-[a-zA-Z]*i|--in-place", word) for word in args if not word.startswith("--i") or "in-place" in word
    )


def _after_script(args: tuple[str, ...], operands: list[str]) -> list[str]:
    """The file operands of sed and perl: without the script, which -e and -f give or which comes first."""
    given = any(re.fullmatch(r"-[a-zA-Z]*[ef]|--expression.*|--file.*", word) for word in args)
    if not given:
        return operands[1:]
    scripts = set(
        _valued(args, tuple(word for word in args if re.fullmatch(r"-[a-zA-Z]*[ef]|--expression|--file", word)))
    )
    return [word for word in operands if word not in scripts]


def _valued(args: tuple[str, ...], options: Iterable[str]) -> Iterator[str]:
    names = tuple(options)
    for at, word in enumerate(args):
        name, equals, value = word.partition("=")
        if word in names and at + 1 < len(args):
            yield args[at + 1]
        elif equals and name in names:
            yield value


def _git(args: tuple[str, ...], operands: list[str]) -> Iterator[ChangedPath]:
    """Paths that git itself changes: checkout and restore rewrite files, rm and mv remove them."""
    verb = operands[0] if operands else ""
    rest = list(args[args.index("--") + 1 :]) if "--" in args else operands[1:]
    if verb == "restore":
        sources = set(_valued(args, ("--source", "-s")))
        if "--staged" not in args and "-S" not in args:
            yield from (ChangedPath(word) for word in rest if word not in sources)
    elif verb == "checkout" and "--" in args:
        yield from map(ChangedPath, rest)
    elif verb == "checkout":
        # Without -- a word can be a branch: only words that look like files count.
        yield from (ChangedPath(word) for word in rest if "." in word.rpartition("/")[2][1:] or word.endswith("/"))
    elif verb == "rm" and "--cached" not in args:
        yield from (ChangedPath(word, True) for word in rest)
    elif verb == "mv" and len(rest) > 1:
        yield from (ChangedPath(word, True) for word in rest[:-1])
        yield ChangedPath(rest[-1])
