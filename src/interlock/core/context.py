"""Context: what a run is for."""

from __future__ import annotations

from msgspec import Struct

from .contract import NO_CONTRACT, Contract


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
        """Where the run works: what was said, else what its contract lets it change."""
        return self.expected_paths or self.contract.narrowed or self.contract.may_change

    @property
    def task(self) -> str:
        """The whole task: the request, and the words of the files that it points to."""
        return f"{self.original_prompt}\n\n{self.instructions}" if self.instructions else self.original_prompt
