"""Judge: asks a model if rules are unsure, and at sampled points. Off by default; nothing waits for it.

A finding that the model rejects is muted for the rest of the run. Only redacted text is sent, and only within the
budget. Without an answer, the rules decide alone.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, Full, Queue

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..config import Judge as Settings
from ..core import GOAL_DRIFT, HALLUCINATION, SCOPE_CREEP, Issue, Step, Usage
from ..detect import finding_key
from ..journal_records import Opinion
from .judge_question import MAX_TOKENS, JudgeQuestion, Verdict, ask_model, read_verdicts, write_prompt
from .usage_tracker import Prices

JUDGED_TYPES = frozenset((GOAL_DRIFT, HALLUCINATION, SCOPE_CREEP))
"""Issues that a model judges better than rules do."""
RAISED = frozenset((GOAL_DRIFT, HALLUCINATION))
"""Issues that the model may raise itself."""
SURE = 0.9
"""Findings with this confidence are not asked about."""
COUNTS = 0.7
"""The lowest confidence at which a verdict counts."""

RECENT = 24
"""The most recent steps shown to the model."""
EXCERPT = 600
"""Characters shown of each step."""
WAITING = 8
"""The most questions waiting for an answer; further ones are dropped."""
BATCH = 4
"""The most questions in one request."""
REMEMBERED = 256
"""Answers remembered, so that no question is paid for twice."""
CHARACTERS_PER_TOKEN = 3
"""A low estimate, so that a long question does not exceed the budget."""

AskModel = Callable[[Settings, str, str], tuple[str, Usage]]
"""Asks a model (settings, instructions, questions); returns its answer and usage."""


class PendingQuestion(Struct, frozen=True):
    """A pending question, and the opinion to record."""

    question: JudgeQuestion
    opinion: Opinion
    step: int


class Judge:
    """For one run. `consult` and `note` never wait; `drain` returns the opinions that have arrived."""

    def __init__(self, settings: Settings, prices: Prices, ask: AskModel | None = None) -> None:
        self.spent_usd = 0.0
        self.questions = 0
        self._settings, self._prices, self._ask = settings, prices, ask or ask_model
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._steps = 0
        self._asked: set[str] = set()
        self._queue: Queue[PendingQuestion | None] = Queue(WAITING)
        self._verdicts: dict[str, Verdict | None] = {}
        self._opinions: deque[Opinion] = deque()
        self._thread: threading.Thread | None = None

    def note(self, step: Step, task: str = "") -> None:
        """Remember a step as evidence; every `every` steps, ask whether the run is still on course."""
        self._recent.append(shown(step))
        self._steps += 1
        every = self._settings.every
        if every and self._steps % every == 0 and task:
            opinion = Opinion(issue_id=f"course:{step.index}", key=f"course:{step.index}", model=self._settings.model)
            asked = "Do the latest steps still serve the task?"
            self._enqueue(
                PendingQuestion(JudgeQuestion("course", opinion.key, asked, self._evidence(task)), opinion, step.index)
            )

    def consult(self, issue: Issue, task: str) -> None:
        """Ask about a finding, once."""
        key = finding_key(issue)
        if issue.type not in JUDGED_TYPES or key in self._asked or (issue.confidence or 1.0) >= SURE:
            return
        opinion = Opinion(issue_id=issue.id, key=key, model=self._settings.model)
        asked = f"A rule reports {issue.type}. Its words are the last line of the data. Is it right?"
        evidence = f"{self._evidence(task)}\nReport: {issue.description}"
        if self._enqueue(PendingQuestion(JudgeQuestion("finding", key, asked, evidence), opinion, issue.step)):
            self._asked.add(key)

    def drain(self) -> list[Opinion]:
        """The opinions that arrived since the last call."""
        arrived: list[Opinion] = []
        while self._opinions:
            arrived.append(self._opinions.popleft())
        return arrived

    def close(self) -> None:
        """Stop asking, without waiting for an open question."""
        try:
            while True:
                self._queue.get_nowait()
        except Empty:
            self._queue.put_nowait(None)

    def _evidence(self, task: str) -> str:
        return "\n".join((f"Task: {task}", "", "Latest steps:", *self._recent))

    def _enqueue(self, asked: PendingQuestion) -> bool:
        try:
            self._queue.put_nowait(asked)
        except Full:
            return False
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer, name="judge", daemon=True)
            self._thread.start()
        return True

    def _answer(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, ends = [first], False
            while len(batch) < BATCH and not ends:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                if more is None:
                    ends = True
                else:
                    batch.append(more)
            self._judge(batch)
            if ends:
                return

    def _judge(self, batch: list[PendingQuestion]) -> None:
        """Ask the new questions in one request, and record an opinion for each."""
        new = {_digest(asked.question): asked.question for asked in batch}
        new = {digest: question for digest, question in new.items() if digest not in self._verdicts}
        error, cost = self._request(new) if new else ("", 0.0)
        for asked in batch:
            digest = _digest(asked.question)
            opinion = asked.opinion
            if digest in self._verdicts:
                opinion = self._read(asked, self._verdicts[digest])
            self._opinions.append(replace(opinion, why=opinion.why or error, cost_usd=cost / len(batch)))

    def _request(self, new: dict[str, JudgeQuestion]) -> tuple[str, float]:
        """Ask for verdicts and store them; returns an error (empty if none) and the cost."""
        settings = self._settings
        prompt = write_prompt(list(new.values()))
        size = len(prompt.system + prompt.text) // CHARACTERS_PER_TOKEN
        expected = self._prices.cost(settings.model, Usage(input_tokens=size, output_tokens=MAX_TOKENS))
        if expected is None and settings.api == "anthropic":
            return f"not asked: the price of {settings.model} is not known", 0.0
        if self.spent_usd + (expected or 0.0) > settings.max_cost_usd or self.questions >= settings.max_questions:
            return "not asked: the judge's budget is used up", 0.0
        self.questions += len(new)
        try:
            answer, usage = self._ask(settings, prompt.system, prompt.text)
        except Exception as error:  # noqa: BLE001  (whatever a model or its server does wrong, the rules still decide)
            return f"no answer: {type(error).__name__}", 0.0
        cost = self._prices.cost(settings.model, usage) or 0.0
        self.spent_usd += cost
        verdicts = read_verdicts(answer, prompt, len(new))
        for number, digest in enumerate(new, 1):
            found = verdicts.get(number)
            # A verdict with too little confidence does not count.
            sure = found is not None and found.confidence >= COUNTS
            self._verdicts[digest] = found if sure else None
            while len(self._verdicts) > REMEMBERED:
                del self._verdicts[next(iter(self._verdicts))]
        return ("" if verdicts else "the answer was not understood"), cost

    def _read(self, asked: PendingQuestion, verdict: Verdict | None) -> Opinion:
        if verdict is None:
            return asked.opinion
        opinion = replace(asked.opinion, agrees=verdict.holds, why=verdict.why)
        if asked.question.about != "course":
            return opinion
        if not verdict.holds or verdict.pattern not in RAISED:
            return replace(opinion, agrees=None)
        raised = Issue(
            id=f"{verdict.pattern}:{asked.step}:judge",
            type=verdict.pattern,
            step=asked.step,
            description=f"The judge says: {verdict.why or 'the latest steps do not serve the task'}",
            severity="medium",
            confidence=verdict.confidence,
            details={"key": f"{verdict.pattern}:judge", "model": self._settings.model},
            evidence=(asked.step,),
        )
        return replace(opinion, issue=raised)


def shown(step: Step) -> str:
    """A step as the judge sees it."""
    call = f" {step.tool.name} {msgspec.json.encode(step.tool.arguments).decode()}" if step.tool is not None else ""
    return f"[{step.index}] {step.role}{call}: {step.content}"[:EXCERPT]


def _digest(question: JudgeQuestion) -> str:
    text = f"{question.about}\0{question.asked}\0{question.evidence}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
