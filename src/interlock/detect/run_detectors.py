"""Detectors: all detectors of one run, per agent: built in, from packages, and registered by code."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import cast

import msgspec
from msgspec import Struct, field

from ..config import Detect
from ..core import (
    DETECTORS,
    Context,
    Issue,
    Seen,
    Sign,
    Step,
    Stuck,
    from_msgpack,
    is_task_file,
    task_files,
    with_instructions,
)
from . import patterns
from .agent_detectors import AgentDetectors, SavedAgent
from .agent_history import AgentHistory, RunActivity
from .detector import Asked, DetectorFailed, Factory, Setting
from .tuning import Tuning

AGENTS = 32
"""Agents tracked at once; the longest silent one is dropped first."""

Guard = Callable[[Sequence[Asked], Seen], list[Issue]]
"""Runs the detectors on a step. The runtime adds its isolation here."""


class Detectors:
    """Observes every step and returns the alarms that it raises."""

    def __init__(
        self,
        config: Detect | None = None,
        context: Context | None = None,
        *,
        extra: Iterable[Factory] = (),
        only: Iterable[Factory] | None = None,
        muted: Collection[str] = (),
        tuning: Tuning | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.config = config or Detect()
        self.context = context or Context()
        self.muted = set(muted)
        self._tuning = tuning or Tuning.for_config(self.config)
        self._factories = tuple(only) if only is not None else (*factories(), *extra)
        self._ask = guard or _ask
        self._dropped: set[str] = set()
        self._agents: dict[str, AgentDetectors] = {}
        self._progress = True
        self._caller = ""
        self._newest: str | None = None
        self._standing: frozenset[str] = frozenset()
        self._standing_at = -1
        self._seen = ""
        self._ledger = RunActivity()
        self._task_files = task_files(self.context.original_prompt)

    def observe(self, seen: Seen) -> list[Issue]:
        """The alarms raised by this step; Interlock's own steps and repeated steps raise none."""
        step = seen.step
        if step.index != self._standing_at:
            # A refused call is observed twice: as a call, and again when it is refused.
            self._standing, self._standing_at = frozenset(), step.index
        if step.origin == "interlock":
            return []
        self._seen = self._owner(step)
        agent = self._agents[self._seen] if self._seen == self._newest else self._agent(self._seen)
        if agent.repeats(step):
            return []
        agent.history.record(step, refused=seen.refused)
        if self._task_files or not self.context.original_prompt:
            self._read_task(agent.history, step)
        self._progress = agent.history.past.progressed
        found = self._ask(agent.refusals if seen.refused else agent.asked[step.kind], seen)
        if not found:
            return []
        issues = [self._named(issue, step) for issue in found if self._counts(issue)]
        self._standing |= frozenset(standing_key(issue) for issue in issues)
        return agent.alarms.rise(issues)

    def learn_task(self, context: Context) -> None:
        """Update the task."""
        self.context = context
        self._task_files = task_files(context.original_prompt)
        for agent in self._agents.values():
            agent.learn_task(context)

    def follow(self, issue_type: str, stuck: Stuck, step: Step) -> tuple[Stuck, Sign | None]:
        """Whether the observed step shows again what its agent is stuck on, whether or not that raises an alarm."""
        standing = f"{issue_type}:{stuck.key}" in self._standing
        return self._agents[self._seen].follow(stuck, issue_type, step, standing)

    @property
    def instructed(self) -> bool:
        """Whether the observed step gave its agent a new instruction."""
        return self._agents[self._seen].history.instructed if self._seen in self._agents else False

    @property
    def seen(self) -> str:
        """The agent of the last observed step."""
        return self._seen

    def progress(self) -> bool:
        """Whether the run is making progress as of the last observed step."""
        return self._progress

    def restart(self, issue_type: str, agent: str | None = None) -> None:
        """Restart the counts of a type, as after an intervention; for one agent or all."""
        for name, watched in self._agents.items():
            if agent is None or agent == name:
                watched.restart(issue_type)

    def drop(self, detector: str) -> None:
        """Disable a detector for the rest of the run."""
        self._dropped.add(detector)
        for agent in self._agents.values():
            agent.drop(self._dropped)

    def mute(self, key: str) -> None:
        """Mute a finding by its `finding_key(issue)`, or all findings of a type."""
        self.muted.add(key)

    def save(self) -> bytes:
        """The state that later results depend on."""
        return msgspec.msgpack.encode(
            _Saved(
                {name: agent.save() for name, agent in self._agents.items()},
                sorted(self._dropped),
                self._progress,
                self._caller,
                self._ledger,
                self.context.instructions,
            )
        )

    def restore(self, state: bytes) -> None:
        """Continue from the result of `save`, after a restart or a rollback."""
        saved = from_msgpack(state, _Saved)
        self._ledger = saved.ledger
        self._dropped |= set(saved.dropped)
        self._agents = {name: self._new_agent() for name in saved.agents}
        for name, agent in saved.agents.items():
            self._agents[name].restore(agent)
        self._progress, self._caller, self._newest = saved.progress, saved.caller, None
        if saved.instructions and saved.instructions != self.context.instructions:
            self.learn_task(msgspec.structs.replace(self.context, instructions=saved.instructions))

    def go_back(self, state: bytes) -> None:
        """Go back to the result of `save`, but keep calls that are still running, and how often the agent polled."""
        under_way = {name: agent.history.past.pending for name, agent in self._agents.items()}
        polls = {name: agent.history.past.polls for name, agent in self._agents.items()}
        caller = self._caller
        self.restore(state)
        self._caller = caller
        for name, pending in under_way.items():
            if pending or name in self._agents:
                past = self._agent(name).history.past
                past.pending, past.polls = pending, polls[name]

    def _read_task(self, history: AgentHistory, step: Step) -> None:
        """If the task points to a file of instructions, its text joins the task once the agent has read it."""
        turn = history.turn
        if turn is None:
            if not self.context.original_prompt and history.instructed and not self._task_files:
                self._task_files = task_files(step.content)
        elif not (turn.failed or turn.wrote) and any(is_task_file(path, self._task_files) for path in turn.paths):
            known = with_instructions(self.context, step.content)
            if known is not self.context:
                self.learn_task(known)

    def _owner(self, step: Step) -> str:
        """The agent of a step; a result belongs to the caller, even if its source names the agent that answered."""
        name = step.agent or ""
        if step.kind == "tool_call":
            self._caller = name
        elif step.kind == "tool_result" and name != self._caller:
            own = self._agents.get(name)
            if own is None or not own.history.past.pending:
                return self._caller
        return name

    def _agent(self, name: str) -> AgentDetectors:
        if name == self._newest:
            return self._agents[name]
        agent = self._agents.pop(name, None) or self._new_agent()
        self._agents[name] = agent
        if len(self._agents) > AGENTS:
            del self._agents[next(iter(self._agents))]
        self._newest = name
        return agent

    def _new_agent(self) -> AgentDetectors:
        history = AgentHistory(self._ledger)
        return AgentDetectors(Setting(self.context, self._tuning, history), self._factories, self._dropped)

    def _counts(self, issue: Issue) -> bool:
        if finding_key(issue) in self.muted or issue.type in self.muted:
            return False
        exceptions = self.config.exceptions
        if not exceptions:
            return True
        tool = issue.details.get("tool")
        for name in (tool, "*"):
            spared = exceptions.get(name, ()) if isinstance(name, str) else ()
            if issue.type in spared or "*" in spared:
                return False
        return True

    def _named(self, issue: Issue, step: Step) -> Issue:
        return msgspec.structs.replace(issue, agent=step.agent) if step.agent and issue.agent is None else issue


def standing_key(issue: Issue) -> str:
    """The key of a finding within its run."""
    return f"{issue.type}:{issue.stuck.key if issue.stuck is not None else finding_key(issue)}"


def finding_key(issue: Issue) -> str:
    """The key of a finding across runs of a project; `mute` accepts it."""
    key = issue.details.get("key")
    return key if isinstance(key, str) else issue.type


def _ask(detectors: Sequence[Asked], seen: Seen) -> list[Issue]:
    """Run the detectors in turn, without isolation; an exception is raised with the detector's name."""
    found: list[Issue] = []
    for name, observe in detectors:
        try:
            issues = observe(seen)
            if issues:
                found += issues
        except Exception as error:
            raise DetectorFailed(name, error) from error
    return found


class _Saved(Struct):
    agents: dict[str, SavedAgent]
    dropped: list[str]
    progress: bool
    caller: str = ""
    ledger: RunActivity = field(default_factory=RunActivity)
    instructions: str = ""


def register(factory: Factory) -> Factory:
    """Add a detector to every run started from now on; usable as a decorator."""
    DETECTORS.register(factory)
    return factory


def unregister(factory: Factory) -> None:
    """Remove a registered detector."""
    DETECTORS.unregister(factory)


def factories() -> tuple[Factory, ...]:
    """Every available detector: built-in, installed, registered."""
    return (*built_in(), *(cast("Factory", factory) for _, factory in DETECTORS.found()))


def issue_types() -> frozenset[str]:
    """The issue types of these detectors; a factory function does not declare one."""
    return frozenset(kind for factory in factories() if isinstance(kind := getattr(factory, "type", None), str))


@cache
def built_in() -> tuple[Factory, ...]:
    """The detectors that ship with Interlock."""
    names = sorted(module.name for module in pkgutil.iter_modules(patterns.__path__))
    return tuple(importlib.import_module(f"{patterns.__name__}.{name}").detector for name in names)
