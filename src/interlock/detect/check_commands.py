"""Checks: the program and targets of a call, for recognizing two runs of the same check."""

from __future__ import annotations

import re

from ..proof import INTERPRETERS, RUNNERS, unwrapped

TARGETS = 4
"""Targets kept per call."""
READ = 600
"""Characters of a command that are parsed."""

_OPERATOR = re.compile(r"\|\||&&|[;|&\n]")
_TRIVIAL = frozenset((
    "cd", "export", "source", ".", "echo", "set", "sleep", "mkdir", "true", ":", "pushd", "popd", "unset", "printf",
    "ulimit", "alias", "clear", "test", "[",
))  # fmt: skip
"""Commands that only prepare for the main command of a line."""
_WITH_VERB = frozenset((
    "npm", "yarn", "pnpm", "bun", "cargo", "go", "git", "make", "kubectl", "oc", "docker", "podman", "gh", "glab",
    "aws", "gcloud", "az", "helm", "terraform", "systemctl", "pip", "pip3", "apt", "apt-get", "dotnet", "mvn", "gradle",
    "gradlew", "bazel", "rake", "mix", "swift", "deno", "conda", "brew", "just", "cmake", "pm2", "supervisorctl",
    *RUNNERS,
))  # fmt: skip
"""Programs whose first argument is a subcommand."""


def read_command(command: str) -> tuple[str, tuple[str, ...]]:
    """The program and targets of a shell command; in a line of several, of the first that does real work."""
    first: tuple[str, tuple[str, ...]] | None = None
    rest = [command[:READ]]
    while rest:
        segment, *rest = _OPERATOR.split(rest[0], 1)
        words = unwrapped(segment.split())
        if not words:
            continue
        found = _read_words(words)
        if words[0] not in _TRIVIAL:
            return found
        first = first or found
    return first or ("", ())


def same_check(program: str, targets: tuple[str, ...], other: str, others: tuple[str, ...]) -> bool:
    """Whether two calls run the same check; a call without targets covers every target."""
    return program == other and (not targets or not others or not set(targets).isdisjoint(others))


def _read_words(words: list[str]) -> tuple[str, tuple[str, ...]]:
    program = words[0].rpartition("/")[2] or words[0]
    rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if program in INTERPRETERS:
        program = "python" if program == "python3" else program
        if rest and not any(word in ("-c", "-e") for word in words[1:]):
            program, rest = f"{program} {rest[0]}", rest[1:]
    elif program in _WITH_VERB and rest:
        verb, rest = rest[0], rest[1:]
        program = f"{program} {verb}"
        if verb in ("run", "compose", "get", "describe", "rollout") and rest:
            program, rest = f"{program} {rest[0]}", rest[1:]
    targets: dict[str, None] = {}
    for word in rest:
        if ("/" in word or "." in word or "::" in word) and not word.startswith((">", "<", "2>")):
            name = word.strip("\"'").partition("::")[0].rstrip("/")
            if name and name != ".":
                targets[name] = None
                if len(targets) == TARGETS:
                    break
    return program, tuple(targets)
