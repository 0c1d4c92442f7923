"""Meanwhile: what comes from other threads between two steps: statuses, judgements that were late, second opinions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..core import Status, Step
from ..decide import Episode
from ..records import EpisodeRecord, StatusRecord, StepRecord
from .glance import Glance
from .guard import Late
from .judgement import Judgement
from .opinion import SecondOpinion
from .run import Run
from .watch import Watch

Take = Callable[[StepRecord, Judgement], None]
Describe = Callable[[Sequence[Episode]], list[EpisodeRecord]]


class Meanwhile:
    """Collected without waiting; taken in by whoever holds the supervisor, at its next step."""

    def __init__(
        self, run: Run, watch: Watch, take: Take, describe: Describe, opinion: SecondOpinion | None = None
    ) -> None:
        self._run, self._watch, self._take, self._describe, self._opinion = run, watch, take, describe, opinion
        self._statuses: deque[Status] = deque()
        self._late: list[tuple[StepRecord, Late]] = []

    def note_status(self, status: Status) -> None:
        """The run was paused, or goes on."""
        self._statuses.append(status)

    def wait_for(self, record: StepRecord, late: Late) -> None:
        """A step went on before supervision had judged it."""
        self._late.append((record, late))

    def consult(self, step: Step, judgement: Judgement) -> None:
        """Have what was found looked at by a model, where that is configured."""
        if self._opinion is None:
            return
        self._opinion.note(step)
        for issue in judgement.issues:
            self._opinion.consult(issue, self._run.spec.task)

    def catch_up(self) -> None:
        """Take in everything that has come."""
        while self._statuses:
            status = self._statuses.popleft()
            over = self._watch.be(status)
            self._run.record(StatusRecord(status))
            if over:
                self._run.append(self._describe(over), changes={"stuck": self._watch.stuck()})
        for opinion in self._opinion.take() if self._opinion is not None else ():
            self._watch.heed(opinion)
            self._run.record(opinion)
        while self._late:
            record, late = self._late[0]
            answer = late.take()
            if isinstance(answer, Glance) and answer.judgement is not None:
                self._take(replace(record, review=answer.review), answer.judgement)
            elif isinstance(answer, Judgement):
                self._take(record, answer)
            elif answer is not None or late.given_up:
                self._run.record(replace(record, unobserved=True))
            else:
                return
            self._late.pop(0)

    def close(self) -> None:
        """Nothing is waited for any more."""
        if self._opinion is not None:
            self._opinion.close()
