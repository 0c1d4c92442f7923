"""LateResults: results that other threads deliver between steps: statuses, late outcomes, the judge's opinions."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core import Status, Step
from ..journal_records import EpisodeRecord, StatusRecord, StepRecord
from .call_permission import Observation
from .decision_pipeline import DecisionPipeline
from .fail_open import PendingResult
from .pipeline_values import StepOutcome
from .run import Run

if TYPE_CHECKING:
    from ..decide import Episode
    from .model_judge import Judge

RecordAndAct = Callable[[StepRecord, StepOutcome], None]
Describe = Callable[[Sequence["Episode"]], list[EpisodeRecord]]

LAST_WAIT_S = 2.0
"""How long the end of a run waits for late outcomes."""


class LateResults:
    """Results are collected without waiting, and applied at the next step by the holder of the supervisor's lock."""

    def __init__(
        self,
        run: Run,
        pipeline: DecisionPipeline,
        record_and_act: RecordAndAct,
        describe: Describe,
        judge: Judge | None = None,
    ) -> None:
        self._run, self._pipeline, self._judge = run, pipeline, judge
        self._record_and_act, self._describe = record_and_act, describe
        self._statuses: deque[Status] = deque()
        self._late: list[tuple[StepRecord, PendingResult]] = []

    def note_status(self, status: Status) -> None:
        """Note that the run was paused or resumed."""
        self._statuses.append(status)

    def wait_for(self, record: StepRecord, late: PendingResult) -> None:
        """Note a step that continued before it was judged."""
        self._late.append((record, late))

    def consult(self, step: Step, judgement: StepOutcome) -> None:
        """Have the model judge, if one is configured, check the findings."""
        if self._judge is None:
            return
        self._judge.note(step, self._run.spec.task)
        for issue in judgement.issues:
            self._judge.consult(issue, self._run.spec.task)

    def catch_up(self) -> None:
        """Apply everything that has arrived."""
        while self._statuses:
            status = self._statuses.popleft()
            over = self._pipeline.set_status(status)
            self._run.record(StatusRecord(status))
            if over:
                self._run.append(self._describe(over), changes={"stuck": self._pipeline.stuck()})
        for opinion in self._judge.drain() if self._judge is not None else ():
            self._pipeline.heed(opinion)
            self._run.record(opinion)
        self.record_late()

    def record_late(self, wait_s: float = 0.0) -> bool:
        """Record the steps whose outcome has arrived, waiting `wait_s` for all together; False if one is missing."""
        until = time.monotonic() + wait_s
        while self._late:
            record, late = self._late[0]
            answer = late.poll(until - time.monotonic() if wait_s else 0.0)
            if answer is None and not late.given_up:
                return False
            del self._late[0]
            if isinstance(answer, Observation) and answer.judgement is not None:
                self._record_and_act(replace(record, review=answer.review), answer.judgement)
            elif isinstance(answer, StepOutcome):
                self._record_and_act(record, answer)
            else:
                self._run.record(replace(record, unobserved=True))
        return True

    def settle(self) -> None:
        """Before the run ends, record every step; a step whose outcome does not arrive soon is recorded without it."""
        if not self.record_late(LAST_WAIT_S):
            for record, _ in self._late:
                self._run.record(replace(record, unobserved=True))
            self._late.clear()

    def close(self) -> None:
        """Stop waiting for results."""
        if self._judge is not None:
            self._judge.close()
