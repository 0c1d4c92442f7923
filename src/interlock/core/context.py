"""Context: what a run is for. Contract: what it may change and run, and what must hold before it counts as done."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

ClauseKey = Literal["may_change", "protect", "may_run", "may_not", "hosts", "done_when", "constraints", "goals"]
Forbidden = Literal["install", "commit", "push", "deploy"]

CLAUSE_KEYS: tuple[ClauseKey, ...] = get_args(ClauseKey)
FORBIDDEN: tuple[Forbidden, ...] = get_args(Forbidden)


class Clause(Struct, frozen=True, omit_defaults=True):
    """One line of a contract, with its source: an option, a file and line, or the task with its `phrase`."""

    key: ClauseKey
    value: str
    source: str = ""
    phrase: str = ""

    def __str__(self) -> str:
        said = f'{self.source}: "{self.phrase}"' if self.phrase else self.source
        return f"{self.key} {self.value}" + (f" ({said})" if said else "")


class Contract(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run may and must do. An empty field demands nothing.

    `may_change` and `protect` are globs below the workspace; `narrowed` are those to which the task's own words narrow
    `may_change`. `may_run` are the only commands allowed, `may_not` what no command may do, `hosts` the only hosts.
    `done_when` are commands that must pass on the final files. `constraints` and `goals` are words for the agent.
    `origins` says where a clause comes from, where that is known.
    """

    may_change: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    may_run: tuple[str, ...] = ()
    may_not: tuple[Forbidden, ...] = ()
    hosts: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    origins: tuple[Clause, ...] = ()

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses with their origins, in the order of the keys."""
        known = {(clause.key, clause.value): clause for clause in self.origins}
        found = []
        for key in CLAUSE_KEYS:
            values: tuple[str, ...] = getattr(self, key)
            if key == "may_change":
                values = tuple(dict.fromkeys((*values, *self.narrowed)))
            found += [known.get((key, value), Clause(key, value)) for value in values]
        return tuple(found)

    @property
    def guards_files(self) -> bool:
        """Whether it restricts files."""
        return bool(self.may_change or self.protect or self.narrowed)

    @property
    def enforced(self) -> bool:
        """Whether it contains a clause that a call can violate."""
        return self.guards_files or bool(self.may_run or self.may_not or self.hosts)

    def __bool__(self) -> bool:
        return bool(self.clauses)


NO_CONTRACT = Contract()


class Goal(Struct, frozen=True, omit_defaults=True):
    """One goal; priority 1 comes first; progress 0..1 where it is known."""

    text: str
    priority: int = 1
    progress: float | None = None


class Context(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the run was for, in the words of the person who started it. Everything may be missing.

    `instructions` are the words of the files that the task points to (`task_files`), once they are known.
    """

    original_prompt: str = ""
    instructions: str = ""
    primary_goal: str = ""
    goals: tuple[Goal, ...] = ()
    completed_subtasks: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    boundaries: tuple[str, ...] = ()
    expected_paths: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    workspace: str | None = None
    contract: Contract = NO_CONTRACT

    @property
    def places(self) -> tuple[str, ...]:
        """Where the run works: the expected paths, otherwise the paths that its contract allows it to change."""
        return self.expected_paths or self.contract.narrowed or self.contract.may_change

    @property
    def task(self) -> str:
        """The whole task: the request, and the text of the files that it points to."""
        return f"{self.original_prompt}\n\n{self.instructions}" if self.instructions else self.original_prompt
