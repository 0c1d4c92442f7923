"""RunProof: the verdicts on a run's claims for the workspace's current state, recorded when the run ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from msgspec.structs import replace

from ..core import CheckpointInfo, InterlockError, Step
from ..journal_records import BreachRecord, ProofRecord, StopGateRecord, read_body
from ..proof import ClaimVerdict, Source, TestFact, Verdict, covers
from .decision_pipeline import DecisionPipeline
from .fail_open import Guard
from .pipeline_values import MEANWHILE
from .run import Run
from .workspace import RunWorkspace

CAUSE = "proof"
"""The cause of a checkpoint made for a claim."""


class RunProof:
    """For one run; the caller holds the supervisor's lock."""

    def __init__(self, run: Run, pipeline: DecisionPipeline, workspace: RunWorkspace | None, guard: Guard) -> None:
        self._pipeline = pipeline
        self._run, self._workspace, self._guard = run, workspace, guard
        self._recorded: tuple[object, ...] = ()

    def now(self) -> ProofRecord:
        """Each claim with its verdict for the current tree, and what changed about the tests."""
        newest = self._workspace.newest if self._workspace is not None else None
        if self._workspace is None or newest is None:
            return self._at(None)
        # Changes made by a process without steps are its own; those after a visible call may be someone else's.
        return self._at(self._workspace.create("", newest.step, MEANWHILE if newest.cause == MEANWHILE else CAUSE))

    def note(self, step: Step) -> None:
        """Record the verdicts on a message's claims immediately, using the newest checkpoint instead of a new one."""
        if step.kind == "message" and self._pipeline.proof.claimed_at == step.index:
            self._record_if_new(self._at(self._workspace.newest if self._workspace is not None else None))

    def record(self, *, settled: bool, by_itself: bool) -> None:
        """Record the proof when the run ends, if there is anything to record.

        `settled`: scan everything first; `by_itself`: the agent was not ended from outside.
        """
        tracker = self._pipeline.proof if self._pipeline.has_judged else None
        ending = tracker.ending if tracker is not None and by_itself else ""
        if not settled and not (tracker is not None and tracker.claims) and not ending:
            return
        found = self._guard.part("proof", self._settled if settled else self.now, None)
        if found is not None:
            nothing: tuple[Verdict | Literal[""], tuple[str, ...]] = ("", ())
            run, kept = self._guard.part("journal", self.contract, nothing, found.tree)
            found = replace(found, contract=kept, ending=ending, run=run)
            self._guard.part("journal", self._record_if_new, None, found)

    def contract(self, tree: str = "") -> tuple[Verdict | Literal[""], tuple[str, ...]]:
        """The verdict of `done_when` on a tree, and the contract's results in the journal: checks, and every breach."""
        self._run.journal.flush()
        checks: tuple[str, ...] = ()
        run: Verdict | Literal[""] = ""
        breaches: dict[str, None] = {}
        with self._run.journal.reader() as journal:
            for record in journal.read(kinds=frozenset(("breach", "stop_gate"))):
                body = read_body(record)
                if isinstance(body, StopGateRecord) and body.results:
                    checks = tuple(result.words for result in body.results)
                    passed = all(result.passed for result in body.results)
                    proven = all(result.proves for result in body.results)
                    run = "proven" if proven else "own_check" if passed else "contradicted"
                    later = self._changed(body.tree, tree) if passed else ()
                    if later:
                        run = "stale"
                        checks = (*checks, f"{', '.join(later[:3])} changed after these checks")
                elif isinstance(body, BreachRecord):
                    breaches[f"{body.words} ({body.clause})"] = None
        return run, (*checks, *breaches)

    def _changed(self, before: str, tree: str) -> tuple[str, ...]:
        """The files that checks depend on and that differ between two trees."""
        if self._workspace is None or not before or not tree:
            return ()
        with suppress(InterlockError):
            found = self._workspace.checkpoints.diff(before, tree)
            return tuple(each.path for each in found if each.kind != "touched" and covers("tests", each.path))
        return ()

    def _record_if_new(self, found: ProofRecord) -> None:
        said = (found.claims, found.tests, found.contract, found.ending)
        if said != self._recorded and any(said):
            self._recorded = said
            self._run.record(found)

    def _settled(self) -> ProofRecord:
        return self._at(self._workspace.settle() if self._workspace is not None else None)

    def _at(self, newest: CheckpointInfo | None) -> ProofRecord:
        """The proof for the tree of a checkpoint; without one, by the steps alone."""
        workspace, steps = self._workspace, self._run.summary.steps

        def changed(before: str) -> Sequence[str] | None:
            assert workspace is not None and newest is not None
            try:
                differing = workspace.checkpoints.diff(before, newest.id)
            except InterlockError:
                return None
            return [change.path for change in differing if change.kind not in ("touched", "attributes")]

        known = workspace is not None and newest is not None
        judged = self._pipeline.has_judged
        if judged and workspace is not None and any(claim.kind == "tests" for claim in self._pipeline.proof.claims):
            self._pipeline.proof.note_tests(workspace.checkpoints.tracked())
        source, by = _reporter(self._run.spec.adapter)
        verdicts = self._pipeline.proof.verdicts(changed if known else None, source=source, by=by) if judged else ()
        if self._run.summary.tampering:
            verdicts = tuple(map(_distrusted, verdicts))
        if workspace is None or newest is None:
            return ProofRecord(verdicts, step=steps)
        return ProofRecord(verdicts, self._tests(workspace, newest.id), newest.id, steps)

    def _tests(self, workspace: RunWorkspace, tree: str) -> tuple[TestFact, ...]:
        try:
            start = workspace.checkpoints.default_target(self._run.spec.run_id).id
            if start == tree:
                return ()
            from ..proof import is_checked_by

            changed = workspace.checkpoints.texts(start, tree, is_checked_by)
        except InterlockError:
            # The first checkpoint is gone, so nothing is known.
            return ()
        if not changed:
            return ()
        from ..proof import compare_tests  # grammars of three languages, for the end of a run

        return compare_tests(changed)


def _reporter(adapter: str) -> tuple[Source, str]:
    """How the results of the agent's calls reach us, and from whom."""
    if adapter in ("direct", "proxy"):
        return ("stream" if adapter == "proxy" else ""), ""
    return "reported", "the agent" if adapter == "process" else adapter.replace("-", " ").title()


def _distrusted(found: ClaimVerdict) -> ClaimVerdict:
    """A verdict that does not believe what the client's hooks report, since supervision was tampered with."""
    if found.source != "reported" or found.verdict == "contradicted":
        return found
    return replace(found, verdict="unproven", why=f"supervision was tampered with, so this proves nothing: {found.why}")


def missing(found: Sequence[ClaimVerdict]) -> tuple[ClaimVerdict, ...]:
    """The claims that are not proven."""
    return tuple(each for each in found if each.verdict != "proven")
