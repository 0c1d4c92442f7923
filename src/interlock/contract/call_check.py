"""Call check: whether a call's commands would break a clause; the result is a review rule."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from ..core import Clause, Contract, Forbidden, relative
from ..review import CLIENTS, ToolCall, name_set, request_of
from ..review.rules import Rule
from ..review.shell import Command
from .changes import changed_by
from .file_rules import broken_by

PREFIX = "contract."
"""Prefix of the id of every rule that stands for a clause."""

BUILTINS = name_set("cd echo printf true false : test [ [[ export set pwd exit return wait local read = < > >>")
"""Shell builtins and operators: they are allowed without being listed in `may_run`."""

INSTALLERS = name_set(
    """pip pip3 npm pnpm yarn bun apt apt-get brew dnf yum apk cargo gem go conda mamba poetry uv pipx composer snap
    pacman"""
)
INSTALLS = name_set("install i add get in")
DEPLOYERS = {"kubectl": ("apply", "rollout", "create", "set"), "helm": ("install", "upgrade"), "terraform": ("apply",),
             "tofu": ("apply",), "pulumi": ("up",), "docker": ("push",), "vercel": ("",), "netlify": ("deploy",),
             "ansible-playbook": ("",), "cdk": ("deploy",), "flyctl": ("deploy",), "fly": ("deploy",)}  # fmt: skip


class ContractCheck:
    """Checks calls against one contract. With `attended`, a change outside `may_change` needs approval."""

    def __init__(self, contract: Contract, workspace: str | None, *, attended: bool = False) -> None:
        self._contract, self._workspace, self._attended = contract, workspace, attended
        self._may_run = tuple((tuple(shlex.split(command)), command) for command in contract.may_run)

    def __call__(self, call: ToolCall) -> Rule | None:
        """The rule that a call breaks; None if it complies with the contract."""
        commands = call.script.commands
        if self._contract.guards_files:
            for changed in changed_by(call, self._workspace):
                path = relative(changed.path, self._workspace)
                clause = broken_by(self._contract, path, whole=changed.whole)
                if clause is not None:
                    return file_rule(clause, path, ask=self._attended and clause.key == "may_change")
        if self._may_run:
            for command in commands:
                if command.program not in BUILTINS and not self._is_allowed(command):
                    return self._run_rule(command)
        for act in self._contract.may_not:
            if any(does(act, command) for command in commands):
                return act_rule(act, self._clause("may_not", act))
        if self._contract.hosts:
            return self._host_rule(commands)
        return None

    def _is_allowed(self, command: Command) -> bool:
        words = (command.program, *command.args)
        if command.program in ("python", "python3") and command.args[:1] == ("-m",):
            words = command.args[1:]
        return any(words[: len(allowed)] == allowed for allowed, _ in self._may_run)

    def _run_rule(self, command: Command) -> Rule:
        allowed = ", ".join(self._contract.may_run)
        clause = self._clause("may_run", self._contract.may_run[0])
        return _rule(
            "may-run", f"{command.program} is not among the commands that this run may use ({_source(clause)}).",
            f"Use only: {allowed}.",
        )  # fmt: skip

    def _host_rule(self, commands: Iterable[Command]) -> Rule | None:
        allowed = self._contract.hosts
        for command in commands:
            request = request_of(command) if command.program in CLIENTS else None
            host = urlsplit(request.url if "://" in request.url else f"//{request.url}").hostname if request else None
            if host and not any(fnmatchcase(host, glob) for glob in allowed):
                clause = self._clause("hosts", allowed[0])
                return _rule(
                    "hosts", f"{host} is not among the hosts that this run may use ({_source(clause)}).",
                    f"Use only: {', '.join(allowed)}.",
                )  # fmt: skip
        return None

    def _clause(self, key: str, value: str) -> Clause:
        return next(clause for clause in self._contract.clauses if clause.key == key and clause.value == value)


def file_rule(clause: Clause, path: str, *, ask: bool = False) -> Rule:
    """The rule for a clause about files."""
    if clause.key == "protect":
        why = f"{path} is protected: {clause.value} must not change ({_source(clause)})."
        instead = "Solve the task without changing it; if that is impossible, say so and stop."
    else:
        why = f"{path} is not among the files that this run may change: {clause.value} ({_source(clause)})."
        instead = f"Change only {clause.value}; scratch files belong outside the workspace."
    return _rule("protect" if clause.key == "protect" else "may-change", why, instead, ask=ask)


def act_rule(act: Forbidden, clause: Clause) -> Rule:
    """The rule for a forbidden action."""
    return _rule("may-not", f"This run must not {act} ({_source(clause)}).", f"Continue without it: do not {act}.")


def does(act: Forbidden, command: Command) -> bool:
    """Whether a command installs, commits, pushes or deploys."""
    program, args = command.program, command.args
    words = [word for word in args if not word.startswith("-")]
    verb = words[0] if words else ""
    match act:
        case "install":
            return _installs(program, args, words)
        case "commit":
            return program == "git" and "commit" in _git_verb(args)
        case "push":
            return (program == "git" and _git_verb(args) in ("push", "send-pack")) or (
                program == "gh" and words[:2] in (["pr", "create"], ["pr", "merge"], ["repo", "sync"])
            )
        case "deploy":
            known = DEPLOYERS.get(program)
            if known is not None and (verb in known or "" in known):
                return True
            return "deploy" in program or any(word == "deploy" or word.startswith("deploy:") for word in words[:3])


def _git_verb(args: tuple[str, ...]) -> str:
    """The git subcommand, after options that take a value."""
    skip = False
    for word in args:
        if skip:
            skip = False
        elif word in ("-C", "-c", "--git-dir", "--work-tree"):
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def _installs(program: str, args: tuple[str, ...], words: list[str]) -> bool:
    """Whether a command installs a package by name; packages that the project itself declares do not count."""
    if program in ("python", "python3") and args[:2] == ("-m", "pip"):
        program, args, words = "pip", args[2:], words[1:]
    if program == "uv" and words[:1] == ["pip"]:
        words = words[1:]
    if program not in INSTALLERS or not words or words[0] not in INSTALLS:
        return False
    values = {
        args[at + 1] for at, word in enumerate(args[:-1]) if word in ("-r", "--requirement", "-c", "-e", "--editable")
    }
    return any(word not in values and not word.startswith(".") for word in words[1:])


def _source(clause: Clause) -> str:
    return f'{clause.source}: "{clause.phrase}"' if clause.phrase else clause.source or "the contract"


def _rule(name: str, why: str, instead: str, *, ask: bool = False) -> Rule:
    return Rule(id=f"{PREFIX}{name}", why=why, instead=instead, verdict="block", match=(), risk=0.8, ask=ask)
