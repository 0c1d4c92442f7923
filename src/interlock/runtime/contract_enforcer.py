"""ContractEnforcer: reverts changes that violate the contract, and reports commits and pushes that do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext, suppress

from ..checkpoint import Restored
from ..contract import broken_by
from ..core import (
    CheckpointInfo,
    Clause,
    Inject,
    InterlockError,
    Message,
    MessageMeta,
    Review,
    Step,
    matches,
)
from ..journal_records import BreachRecord, ContractRecord
from .checkpointing import Checkpointing
from .decision_pipeline import DecisionPipeline
from .directive_executor import DirectiveExecutor
from .fail_open import Guard
from .git_monitor import Breaches, GitMonitor, Refs
from .pipeline_values import AFTER_STEP
from .run import Run

SHOWN = 8
"""The most paths that one message names."""


class ContractEnforcer:
    """For one run; the caller holds the supervisor's lock. With `observe` it only records violations."""

    def __init__(
        self, run: Run, pipeline: DecisionPipeline, executor: DirectiveExecutor, checkpointing: Checkpointing,
        guard: Guard, *, observe: bool,
    ) -> None:  # fmt: skip
        self._run, self._pipeline, self._executor = run, pipeline, executor
        self._checkpointing, self._guard, self._observe = checkpointing, guard, observe
        self._recorded = None if not pipeline.context.contract else object()
        self.git = GitMonitor(run.spec.workspace or run.spec.cwd)
        self._approved: set[str] = set()
        self._open: set[str] = set()

    def record_contract(self) -> None:
        """Record the contract at the start and whenever it changes."""
        contract = self._pipeline.context.contract
        if contract is not self._recorded and (contract or self._recorded is not None):
            self._recorded = contract
            none: Refs = {}
            refs = self._guard.part("contract", self.git.begin, none, contract)
            self._run.record(ContractRecord(contract, refs=refs))

    def approve(self, step: Step, review: Review | None) -> None:
        """Note that a person allowed a call to change files that the contract does not list."""
        from ..contract import PREFIX

        if review is not None and f"{PREFIX}may-change" in review.rules and step.tool is not None:
            self._open.add(step.tool.call_id or str(step.index))

    def after(self, step: Step, before: CheckpointInfo | None, now: CheckpointInfo | None) -> None:
        """After a call: revert changes that violate the contract."""
        self.record_contract()
        if before is None or now is None or before.id == now.id or not self._pipeline.context.contract.guards_files:
            return
        if not self._guard.part("contract", self._may_be_broken, True, before.id):
            return
        broken = self._between(before.id, now.id)
        call = step.tool.call_id or "" if step.tool is not None else ""
        if call in self._open or (not call and self._open):
            self._open.discard(call)
            self._approved |= {path for path, clause in broken.items() if clause.key == "may_change"}
            broken = {path: clause for path, clause in broken.items() if clause.key != "may_change"}
        if broken:
            self._guard.part("contract", self._undo, None, step.index, before.id, broken)

    def settle(self, start: str | None, now: CheckpointInfo | None, step: int) -> tuple[str, ...]:
        """At the end of the run: revert all changes that violate the contract; returns those that remain."""
        if start is None or now is None or not self._pipeline.context.contract.guards_files:
            return ()
        found = self._between(start, now.id)
        broken = {path: clause for path, clause in found.items() if path not in self._approved}
        if not broken:
            return ()
        left = self._guard.part("contract", self._undo, tuple(broken), step, start, broken)
        return tuple(left or ())

    def settle_git(self, step: int) -> tuple[str, ...]:
        """Record commits and pushes that violate the contract; they are not reverted."""
        nothing: Breaches = {}
        found = self._guard.part("contract", self.git.breaches, nothing, self._pipeline.context.contract)
        for clause, words in found.items():
            self._run.record(BreachRecord(step=step, clause=str(clause), git=words))
        unknown = self._guard.part("contract", self.git.unknown, "", self._pipeline.context.contract)
        if unknown:
            self._run.record(BreachRecord(step=step, clause="may_not push", git=(unknown,), doubtful=True))
        return tuple(one for words in found.values() for one in words)

    def _may_be_broken(self, before: str) -> bool:
        """Whether a path that the last call changed violates a clause; fast if few paths changed."""
        workspace, contract = self._executor.workspace, self._pipeline.context.contract
        if workspace is None:
            return False
        return any(broken_by(contract, path) for path in workspace.checkpoints.own_changes(before).states)

    def _between(self, before: str, now: str) -> dict[str, Clause]:
        nothing: dict[str, Clause] = {}
        return self._guard.part("contract", self._broken, nothing, before, now)

    def _broken(self, before: str, now: str) -> dict[str, Clause]:
        """The paths whose changes between two checkpoints violate a clause."""
        workspace, contract = self._executor.workspace, self._pipeline.context.contract
        if workspace is None:
            return {}
        found: dict[str, Clause] = {}
        for change in workspace.checkpoints.diff(before, now):
            if change.kind == "touched" or (change.kind in ("attributes", "mode") and _is_folder(change.was)):
                continue
            clause = broken_by(contract, change.key)
            if clause is not None and not self._is_folder_of_allowed(change.key):
                found[change.key] = clause
        return found

    def _is_folder_of_allowed(self, path: str) -> bool:
        """Whether a folder contains files that may change, and may therefore be created."""
        contract = self._pipeline.context.contract
        return any(matches(glob, f"{path}/x") for glob in (*contract.may_change, *contract.narrowed)) and not any(
            matches(glob, path) for glob in contract.protect
        )

    def _undo(self, step: int, before: str, broken: dict[str, Clause]) -> tuple[str, ...]:
        """Restore the paths, clause by clause; returns those that were left as they are."""
        restored: tuple[str, ...] = ()
        left, safety = tuple(broken), ""
        if not self._observe:
            done = self._restore(before, broken)
            left = tuple(one.path for one in done.left_alone if one.path in broken)
            restored = tuple(path for path in broken if path not in left)
            safety = done.safety_id
        for clause in dict.fromkeys(broken.values()):
            mine = [path for path, why in broken.items() if why == clause]
            self._run.record(
                BreachRecord(
                    step=step,
                    clause=str(clause),
                    restored=tuple(path for path in mine if path in restored),
                    left=tuple(path for path in mine if path in left),
                    safety_id=safety,
                )
            )
        if restored:
            self._checkpointing.make(cause=AFTER_STEP, step=step + 1)
            self._inform_agent(step, restored, broken)
        return left

    def _restore(self, before: str, paths: Iterable[str]) -> Restored:
        workspace = self._executor.workspace
        assert workspace is not None
        processes = self._executor.processes
        with processes.frozen() if processes is not None else nullcontext():
            return workspace.restore(before, tuple(paths))

    def _inform_agent(self, step: int, restored: tuple[str, ...], broken: dict[str, Clause]) -> None:
        clauses = "; ".join(str(clause) for clause in dict.fromkeys(broken[path] for path in restored))
        more = f" and {len(restored) - SHOWN} more" if len(restored) > SHOWN else ""
        text = (
            f"Interlock restored {', '.join(restored[:SHOWN])}{more}: the last call changed what this run must not"
            f" change ({clauses}). Solve the task without it; if that is impossible, say so and stop."
        )
        meta = MessageMeta(
            intervention="contract", issue="scope_creep", time=self._run.steady.time(), run_id=self._run.spec.run_id,
            step=step,
        )  # fmt: skip
        with suppress(InterlockError):
            self._executor.carry_out(Inject(Message(text, meta=meta)))


def _is_folder(state: str) -> bool:
    return state.startswith("folder")
