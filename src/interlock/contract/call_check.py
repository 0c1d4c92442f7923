"""Call check: whether a call's commands would break a clause; the result is a review rule."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from ..calls import Effect, Program, ReadFile, read_call, word_set
from ..core import Clause, Contract, Forbidden, Tool
from ..review.rules import Rule
from .changes import changed_by
from .file_rules import broken_by

PREFIX = "contract."
"""Prefix of the id of every rule that stands for a clause."""

BUILTINS = word_set("cd echo printf true false : test [ [[ export set pwd exit return wait local read =")
"""Shell builtins: they are allowed without being listed in `may_run`."""


class ContractCheck:
    """Checks calls against one contract. With `attended`, a change outside `may_change` needs approval."""

    def __init__(self, contract: Contract, workspace: str | None, *, attended: bool = False) -> None:
        self._contract, self._workspace, self._attended = contract, workspace, attended
        self._may_run = tuple((tuple(shlex.split(command)), command) for command in contract.may_run)

    def __call__(self, tool: Tool, read_file: ReadFile | None = None) -> Rule | None:
        """The rule that a call breaks; None if it complies with the contract."""
        reading = read_call(tool.name, tool.arguments, read_file=read_file)
        if self._contract.guards_files:
            for changed in changed_by(reading, self._workspace):
                clause = broken_by(self._contract, changed.path, whole=changed.whole)
                if clause is not None:
                    return file_rule(clause, changed.path, ask=self._attended and clause.key == "may_change")
        if self._may_run:
            for program in reading.programs:
                if program.name not in BUILTINS and not self._is_allowed(program):
                    return self._run_rule(program)
        acts = {program.act for program in reading.programs} | {check.kind for check in reading.checks}
        for act in self._contract.may_not:
            if act in acts:
                return act_rule(act, self._clause("may_not", act))
        if self._contract.hosts:
            return self._host_rule(reading.effects)
        return None

    def _is_allowed(self, program: Program) -> bool:
        return any(program.words[: len(allowed)] == allowed for allowed, _ in self._may_run)

    def _run_rule(self, program: Program) -> Rule:
        allowed = ", ".join(self._contract.may_run)
        clause = self._clause("may_run", self._contract.may_run[0])
        return _rule(
            "may-run", f"{program.name} is not among the commands that this run may use ({_source(clause)}).",
            f"Use only: {allowed}.",
        )  # fmt: skip

    def _host_rule(self, effects: Iterable[Effect]) -> Rule | None:
        allowed = self._contract.hosts
        for effect in effects:
            host = host_of(effect)
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


def host_of(effect: Effect) -> str:
    """The host that an effect reaches; empty if it names none."""
    if effect.zone not in ("host", "service") or effect.verb not in ("fetch", "send", "delete"):
        return ""
    return (urlsplit(effect.target).hostname if "://" in effect.target else None) or effect.server


def _source(clause: Clause) -> str:
    return f'{clause.source}: "{clause.phrase}"' if clause.phrase else clause.source or "the contract"


def _rule(name: str, why: str, instead: str, *, ask: bool = False) -> Rule:
    return Rule(id=f"{PREFIX}{name}", why=why, instead=instead, verdict="block", match=(), risk=0.8, ask=ask)
