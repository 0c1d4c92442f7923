"""Scan: runs a recorded trace through the same decisions as a live run, and reports what they would have been."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from ...config import Config
from ...core import BadInput, Context, Intervention, Issue, Review, Step
from ...proof import ClaimVerdict, TestFact, TraceTests
from ...redact import StepRedactor
from ...runtime import DecisionPipeline, Plugins
from .lines import LineError
from .trace_events import TraceBegin, TraceEnd, TraceEvent, read_batches

TOGETHER = 3_000
"""Events that are processed together."""


class Finding(Struct, frozen=True):
    """An issue, as scan prints it."""

    id: str
    type: str
    step: int
    severity: str
    confidence: float
    description: str
    details: dict[str, object]
    evidence: tuple[int, ...]

    @classmethod
    def of(cls, issue: Issue) -> Finding:
        confidence = 1.0 if issue.confidence is None else issue.confidence
        severity = issue.severity or "medium"
        return cls(
            issue.id, issue.type, issue.step, severity, confidence, issue.description, issue.details, issue.evidence
        )


class WouldDo(Struct, frozen=True, omit_defaults=True):
    """An intervention that would have been made: at which step, which one, and for which type of issue."""

    step: int
    type: str
    issue: str
    held_back: str = ""

    @classmethod
    def of(cls, made: Intervention) -> WouldDo:
        return cls(made.step, made.type, made.issue_type)


class Scanned(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One trace: its length, the findings, the interventions, its claims, and what it did to its tests.

    `notes` rest on words alone: they are no findings.

    `ending` is what is unusual about its end; not every harness allows a last message, so it is not a finding.
    """

    trace_id: str
    steps: int
    issues: list[Finding]
    notes: tuple[Finding, ...] = ()
    interventions: list[WouldDo]
    assumed_times: int = 0
    claims: tuple[ClaimVerdict, ...] = ()
    tests: tuple[TestFact, ...] = ()
    ending: str = ""

    @property
    def went_wrong(self) -> bool:
        """Whether there is an issue above low severity, a contradicted claim, or a weakened test."""
        alarmed = any(issue.severity != "low" for issue in self.issues)
        return alarmed or bool(self.tests) or any(each.verdict == "contradicted" for each in self.claims)


class TraceScanner:
    """Reads traces and returns one result for each, in the order in which they end. Assumes every capability."""

    def __init__(self, config: Config, plugins: Plugins | None = None) -> None:
        self.config = config
        self.plugins = plugins
        self.steps = 0
        self._redactor = StepRedactor()
        self._open: dict[str, _Trace] = {}

    def scan(self, files: list[str]) -> Iterator[tuple[str, Scanned | LineError | BadInput]]:
        """Each result with its file; BadInput for a file that cannot be opened."""
        for name in files:
            try:
                # A program that pipes in traces may wait for a result before it sends the next one.
                for events in read_batches(name, 1 if name == "-" else TOGETHER):
                    for result in self.process(events):
                        yield name, result
            except BadInput as error:
                yield name, error

    def process(self, events: Sequence[TraceEvent]) -> list[Scanned | LineError]:
        """A result for each trace that ends and each invalid line, in order."""
        # One phase after another instead of step by step: their tables stay cached, which saves a seventh of a scan.
        admitted = [self._redactor.redact(event) if isinstance(event, Step) else event for event in events]
        begun = iter([_Trace(event, self.config, self.plugins) for event in admitted if isinstance(event, TraceBegin)])
        told: list[_Trace | LineError] = []
        touched: dict[_Trace, None] = {}
        for run_id, together in groupby(admitted, _run_of):
            if run_id is not None:
                steps = [event for event in together if isinstance(event, Step)]
                self._open[run_id].review(steps)
                touched[self._open[run_id]] = None
                self.steps += len(steps)
                continue
            for event in together:
                if isinstance(event, TraceBegin):
                    self._open[event.trace_id] = next(begun)
                elif isinstance(event, TraceEnd):
                    told.append(self._open.pop(event.trace_id))
                elif isinstance(event, LineError):
                    told.append(event)
        for trace in touched:
            trace.prove()
        for trace in touched:
            trace.observe()
        return [each.result() if isinstance(each, _Trace) else each for each in told]


class _Trace:
    def __init__(self, begin: TraceBegin, config: Config, plugins: Plugins | None) -> None:
        context = Context(original_prompt=begin.task, workspace=begin.workspace)
        self._id = begin.trace_id
        self._pipeline = DecisionPipeline(begin.trace_id, config, context, plugins=plugins, assume_checkpoint=True)
        self._reviewed: list[tuple[Step, Review | None]] = []
        self._steps = 0
        self._assumed = 0
        self._issues: list[Finding] = []
        self._notes: list[Finding] = []
        self._interventions: list[WouldDo] = []
        self._tests = TraceTests()

    def review(self, steps: list[Step]) -> None:
        self._reviewed += zip(steps, self._pipeline.review_recorded(steps), strict=True)

    def prove(self) -> None:
        """Search the steps reviewed since the last call for claims, checks and tests."""
        for step, _ in self._reviewed:
            self._tests.observe(step)
            self._pipeline.prove(step)

    def observe(self) -> None:
        """Observe the steps reviewed since the last call."""
        reviewed, self._reviewed = self._reviewed, []
        self._steps += len(reviewed)
        for step, review in reviewed:
            self._pipeline.count(step)
            judgement = self._pipeline.observe(step, review, learnt=True)
            self._assumed += judgement.assumed_time
            if judgement.issues:
                self._issues += [Finding.of(issue) for issue in judgement.issues if not issue.is_note]
                self._notes += [Finding.of(issue) for issue in judgement.issues if issue.is_note]
                self._interventions += [WouldDo.of(made.intervention) for made in judgement.rulings if _acts(made)]

    def result(self) -> Scanned:
        return Scanned(
            trace_id=self._id,
            steps=self._steps,
            issues=self._issues,
            notes=tuple(self._notes),
            interventions=self._interventions,
            assumed_times=self._assumed,
            claims=self._pipeline.proof.verdicts(),
            tests=self._tests.facts(),
            ending=self._pipeline.proof.ending,
        )


def _run_of(event: TraceEvent) -> str | None:
    return event.run_id if isinstance(event, Step) else None


def _acts(ruling: object) -> bool:
    return bool(getattr(ruling, "directives", ()) or getattr(ruling, "would", ()))
