"""JudgingParts: the reviewer, the detectors, the controller and the proof of one run."""

from __future__ import annotations

from msgspec.structs import replace

from ..calls import kind_of
from ..config import Config, named_files
from ..contract import ContractCheck
from ..core import Capability, Context, Issue, Review, RunState, Step
from ..decide import Controller, ControllerState, Observed, Rulings, Sighting, count_anew, strongest
from ..detect import Detectors
from ..intervene import BUILT_IN, ChangedSince
from ..proof import ProofTracker
from ..review import Level, Reviewer, rough_review
from . import clean_room  # noqa: F401  whoever judges has it before an upgrade can replace it
from .fail_open import Guard
from .pipeline_values import Plugins
from .write_check import WriteCheck


class JudgingParts:
    """Judges the steps of a run, and holds the state for it. A run without steps does not need it."""

    def __init__(
        self,
        config: Config,
        context: Context,
        *,
        capabilities: frozenset[Capability],
        plugins: Plugins,
        guard: Guard,
        restorable: bool | None,
        contained: bool,
        level: Level,
        assume_checkpoint: bool,
        attended: bool,
        changed: ChangedSince | None,
    ) -> None:
        self._guard, self._attended = guard, attended
        self.reviewer = Reviewer(
            config.review,
            context,
            context.workspace,
            restorable=bool(restorable),
            contained=contained,
            level=level,
            private=named_files(config),
        )
        self.detectors = Detectors(
            config.detect, context, extra=plugins.detectors, muted=plugins.muted, guard=guard.detectors
        )
        self.controller = Controller(
            config.interventions,
            capabilities,
            strategies=plugins.strategies,
            custom=plugins.interventions,
            templates=plugins.templates or BUILT_IN,
            restorable=True if assume_checkpoint else restorable,
            changed=changed,
        )
        self.write_check = WriteCheck(config, context.workspace)
        self.proof = ProofTracker()
        self.state = self.controller.start()
        self.fresh = self.detectors.save()

    def hold_to(self, context: Context) -> None:
        """Review calls under this context's contract."""
        contract = context.contract
        self.reviewer.check = (
            ContractCheck(contract, context.workspace, attended=self._attended) if contract.enforced else None
        )

    def review(self, step: Step) -> Review:
        """The verdict on a call before it runs."""
        found = self._guard.part("reviewer", self.reviewer.review, None, step)
        # A failing reviewer must not let an unreviewed call through.
        return self.write_check(step, found if found is not None else rough_review(step))

    def count_files(self, step: Step, review: Review | None) -> int:
        """How many files a call touches that it does not name."""
        return count_files(step, review)

    def count_anew(self) -> None:
        """Start counting anew after a person has resumed the run."""
        self.state = count_anew(self.state)

    def sightings(self, step: Step) -> tuple[Sighting, ...]:
        """What the step shows about each episode of its agent; about ended ones as well, to find relapses."""
        found = []
        agent = self.detectors.seen
        for episode in self.state.episodes:
            if episode.agent == agent:
                followed = [self.detectors.follow(episode.issue.type, stuck, step) for stuck in episode.stuck]
                sign = strongest([sign for _, sign in followed if sign is not None])
                stuck = tuple(stuck for stuck, _ in followed)
                if sign is not None:
                    found.append(Sighting(episode.id, stuck, sign))
                elif stuck != episode.stuck:
                    # There was no opportunity yet: nothing to decide, only the state to store.
                    self.state = self.state.with_episode(replace(episode, stuck=stuck))
        return tuple(found)

    def decide(
        self,
        run: RunState,
        now: float,
        issues: list[Issue],
        sightings: tuple[Sighting, ...],
        *,
        instructed: bool,
        progressed: bool,
    ) -> tuple[ControllerState, Rulings] | None:
        """The controller's decision; None if it fails."""
        seen = Observed(
            step=run.step,
            agent=self.detectors.seen,
            issues=tuple(issues),
            sightings=sightings,
            instructed=instructed,
            progressed=progressed,
        )
        return self._guard.part("controller", self.controller.advance, None, self.state, seen, run, now)


CHANGES = ("create", "modify", "delete")


def count_files(step: Step, review: Review | None) -> int:
    """1 for a tool that reads or changes a file, and for a command that changes any; more is not visible."""
    if step.kind != "tool_call" or step.tool is None or step.paths is not None:
        return 0
    if kind_of(step.tool.name)[0] in ("read", "edit"):
        return 1
    return 1 if review is not None and review.action in CHANGES else 0
