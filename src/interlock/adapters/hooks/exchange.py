"""HookExchange: answers the hooks of a run's client, one line for each.

In: {"hook": {"client": "claude-code", "payload": {...}}}. Out: the reply for the client, ready to print. While
a step is held, empty lines say that the supervisor is still there."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...core import PROCEED, Applied, Capability, Decision, Directive, Inject, Message, Stop, SwitchModel, from_json
from ...journal import JournalReading
from ...journal_records import AppliedRecord, TranscriptRecord
from ...runtime import OURS
from ..steps.step_numbering import REFUSED, StepNumbering, WaitingClient
from ..steps.step_protocol import StepMessage, StepRefusal
from .client_format import Dialect, Payload, Tail
from .hook_event import HookEvent, ToolOutcome, TranscriptEntry
from .hook_guardian import Reaction
from .wiring import DEADLINE_S

T = TypeVar("T")


class HookWatcher(Protocol):
    """Watches the hooks themselves."""

    def note_event(self, event: HookEvent) -> None:
        """A hook has fired."""

    def note_rewritten(self, call_id: str) -> None:
        """A call was changed before it runs."""

    def note_said(self, said: TranscriptEntry) -> None:
        """The transcript has grown."""

    def judge_settings(self, event: HookEvent) -> Decision:
        """Whether the client may load changed settings."""

    def notice(self, what: str, path: str = "", answer: Reaction | None = None) -> None:
        """Report a finding, and react."""


PATIENCE_S = 1.0
"""How long a decision waits for a transcript to be read."""


class HookMessage(Struct, frozen=True):
    client: str
    payload: dict[str, object]


class HookLine(Struct, frozen=True):
    hook: HookMessage


class HookExchange:
    """For one run. Thread-safe, as every connection has its own thread."""

    def __init__(
        self, numbering: StepNumbering, dialects: Iterable[Dialect], guardian: HookWatcher | None = None
    ) -> None:
        self._numbering = numbering
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._guardian = guardian
        self._tails: dict[str, Tail] = {}
        self._offsets: dict[str, int] = {}
        self._kept: list[Message] = []
        self._lock = threading.RLock()
        self.asked_to_stop = False
        self.on_limit: Callable[[str, float | None], None] = lambda words, seconds: None
        self.on_answer: Callable[[], None] = lambda: None

    def recall(self, journal: JournalReading) -> None:
        """Restore how far a predecessor had read."""
        for record in journal.read(kinds=frozenset(("transcript",))):
            followed = from_json(record.body, TranscriptRecord)
            self._offsets[followed.path] = followed.offset

    def answer(self, line: bytes, client: WaitingClient) -> bytes | None:
        """The reply to a hook; None if the client is gone."""
        try:
            message = from_json(line, HookLine).hook
        except msgspec.DecodeError as error:
            return msgspec.json.encode(StepRefusal(f"not a hook line: {error}"))
        return self.answer_message(message, client)

    def answer_message(self, message: HookMessage, client: WaitingClient) -> bytes | None:
        """The same for a decoded line."""
        dialect = self._dialects.get(message.client)
        if dialect is None:
            return msgspec.json.encode(StepRefusal(f"there is no client {message.client!r}"))
        reply = self.handle(dialect, message.payload, client)
        return None if reply is None else msgspec.json.encode(reply)

    def handle(self, dialect: Dialect, payload: Payload, client: WaitingClient) -> Payload | None:
        """Handle a client's payload; returns the reply, None if the client is gone."""
        event, begun = dialect.read(payload), time.monotonic()
        self._numbering.spoken = True
        if self._guardian is not None:
            self._guardian.note_event(event)
        heard = self._listen(dialect, event)
        decision = self._decide(event, client)
        if decision is None:
            return None
        decision = self._with_kept(_merge((decision, *heard)), dialect.carries(event))
        if decision.action == "rewrite" and self._guardian is not None and event.tool is not None:
            self._guardian.note_rewritten(event.tool.call_id or "")
        late = time.monotonic() - begun > DEADLINE_S and decision.action in REFUSED and not client.waits()
        if late and self._guardian is not None and self._numbering.supervisor.config.runtime.fail == "open":
            # Its client took silence for leave to run the call.
            self._guardian.notice("a refused call may have run: its client no longer waited", answer="pause")
        return dialect.reply(event, decision)

    def read_transcripts(self) -> None:
        """Read what was added to transcripts since the last hook."""
        with self._lock:
            tails = list(self._tails.values())
        for tail in tails:
            self._keep(self._hear_soon(tail, None))

    def _decide(self, event: HookEvent, client: WaitingClient) -> Decision | None:
        agent = self._agent_of(event)
        match event.moment:
            case "before" if event.tool is not None:
                message = StepMessage(tool=event.tool, agent=agent, model=event.model)
                answered = self._numbering.before(message, _PatientClient(client))
                return None if answered is None else answered[1]
            case "after" | "batch":
                return _merge(
                    [self._outcome(outcome, agent) for outcome in event.outcomes] or [self._proceed_or_stop()]
                )
            case "prompt":
                if event.content.lstrip('"').startswith(OURS):
                    # A message of the stop gate, which some clients report as a prompt, one of them quoted.
                    return self._proceed_or_stop()
                self._numbering.supervisor.stop_gate.note_prompt()
                message = StepMessage(role="user", content=event.content, agent=agent)
                return self._numbering.after(message)[1] if event.content else self._proceed_or_stop()
            case "begin" if event.compacted:
                return self._remind()
            case "limited":
                self.on_limit(event.content, event.resets_in)
                return self._proceed_or_stop()
            case "turn_end":
                return self._at_turn_end(event, _PatientClient(client))
            case "model":
                return _merge((self._proceed_or_stop(), Decision(model=self._model())))
            case "settings":
                return PROCEED if self._guardian is None else self._guardian.judge_settings(event)
            case _:
                return self._proceed_or_stop()

    def _outcome(self, outcome: ToolOutcome, agent: str | None) -> Decision:
        """Handle the result of a call. The complete feed repeats known calls, and has those without a hook."""
        call_id = outcome.tool.call_id or ""
        if call_id and self._numbering.has_refused(agent, call_id):
            return self._proceed_or_stop()
        decisions = []
        if call_id and not self._numbering.knows("before", agent, call_id):
            decisions.append(self._numbering.note_call(StepMessage(tool=outcome.tool, role="assistant", agent=agent)))
        message = StepMessage(
            tool=outcome.tool,
            content=outcome.content,
            agent=agent,
            error=outcome.error,
            exit_code=outcome.exit_code,
            duration_ms=outcome.duration_ms,
        )
        return _merge([*decisions, self._numbering.after(message)[1], self._proceed_or_stop()])

    def _remind(self) -> Decision:
        """Repeat the task to an agent whose conversation was compacted."""
        supervisor = self._numbering.supervisor
        now = supervisor.run.steady.time()
        from ...intervene import restore_after_compaction

        _, message = restore_after_compaction(supervisor.pipeline.state(now), now)
        if message is None or supervisor.config.interventions.observe:
            return self._proceed_or_stop()
        supervisor.run.record(AppliedRecord(Inject(message), Applied(True, "sent with the reply to its hook")))
        return _merge((self._proceed_or_stop(), Decision(messages=(message,))))

    def _at_turn_end(self, event: HookEvent, client: WaitingClient) -> Decision | None:
        """Whether the agent may stop. Checks can take minutes, so the waiting client gets keep-alive lines."""
        decision = self._proceed_or_stop()
        if decision.action == "stop" or not event.final:
            return decision
        gate = self._numbering.supervisor.stop_gate
        if event.agent is not None:
            return decision
        self.asked_to_stop = True
        answer = wait_patiently(lambda: gate.at_turn_end(event.content), client)
        if answer is None:
            return None
        return Decision("deny", reason=answer.words) if answer.action == "return" else decision

    def _proceed_or_stop(self) -> Decision:
        """Stop if the run has ended, else proceed."""
        run = self._numbering.supervisor.run
        return Decision("stop", reason=run.why_ended) if run.ended else PROCEED

    def _model(self) -> str | None:
        """The model that a person requested."""
        adapter = self._numbering.supervisor.executor.adapter
        return adapter.model if isinstance(adapter, HookAdapter) else None

    def _listen(self, dialect: Dialect, event: HookEvent) -> list[Decision]:
        """Observe the model's messages and usage from the transcript."""
        if not event.transcript:
            if event.usage is None:
                return []
            self.on_answer()
            said = TranscriptEntry(text=event.content, model=event.model, usage=event.usage)
            return [self._report(said, self._agent_of(event))]
        with self._lock:
            tail = self._tails.get(event.transcript)
            if tail is None:
                # The transcript of a resumed session has messages from before this run.
                known = None if event.moment == "begin" else 0
                offset = self._offsets.get(event.transcript, known)
                tail = self._tails[event.transcript] = Tail(event.transcript, dialect.hear, offset)
        return self._hear_soon(tail, self._agent_of(event))

    def _hear_soon(self, tail: Tail, agent: str | None) -> list[Decision]:
        """Read a transcript in a thread of its own: where the agent's file system holds it up, no decision waits."""
        if tail.held_up:
            return []
        found: list[list[Decision]] = []
        left = False

        def read() -> None:
            heard: list[Decision] = []
            try:
                with tail.lock:
                    heard = self._hear(tail, agent)
            finally:
                with self._lock:
                    found.append(heard)
                    tail.held_up = False
                    self._keep(heard if left else ())

        thread = threading.Thread(target=read, name="interlock-transcript", daemon=True)
        thread.start()
        thread.join(PATIENCE_S)
        with self._lock:
            tail.held_up = left = not found
            return found[0] if found else []

    def _hear(self, tail: Tail, agent: str | None) -> list[Decision]:
        heard = tail.read()
        if not heard:
            return []
        decisions: list[Decision] = []
        for said in heard:
            if self._guardian is not None:
                self._guardian.note_said(said)
            if said.text or said.usage is not None:
                decisions.append(self._report(said, agent))
        self._numbering.supervisor.run.record(TranscriptRecord(tail.path, tail.offset))
        return decisions

    def _report(self, said: TranscriptEntry, agent: str | None) -> Decision:
        """Report what the model said, or only what it used."""
        message = StepMessage(
            role="assistant", kind="message" if said.text else "usage", content=said.text, model=said.model,
            usage=said.usage, agent=said.agent or agent,
        )  # fmt: skip
        return self._numbering.after(message)[1]

    def _with_kept(self, decision: Decision, carries: bool) -> Decision:
        """The decision with messages that earlier replies could not contain; without any if this one cannot either."""
        if not carries:
            self._keep([decision])
            return replace(decision, messages=())
        with self._lock:
            kept, self._kept = self._kept, []
        return _merge((Decision(messages=tuple(kept)), decision)) if kept else decision

    def _keep(self, decisions: Iterable[Decision]) -> None:
        with self._lock:
            self._kept += [message for decision in decisions for message in decision.messages]

    def _agent_of(self, event: HookEvent) -> str | None:
        """The agent of an event: a subagent's id; a second session of the same run is an agent of its own."""
        agent = self._numbering.agent_of(event.session, hooked=True)
        return event.agent if event.agent is not None else agent


def wait_patiently(work: Callable[[], T], client: WaitingClient) -> T | None:
    """The result of long work; None if the client is gone."""
    done: queue.SimpleQueue[T | BaseException] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            done.put(work())
        except BaseException as error:  # noqa: BLE001  raised again in the thread that asked
            done.put(error)

    threading.Thread(target=attempt, name="interlock-stop-gate", daemon=True).start()
    while True:
        try:
            found = done.get(timeout=SIGN_S)
        except queue.Empty:
            if not client.waits():
                return None
            continue
        if isinstance(found, BaseException):
            raise found
        return found


SIGN_S = 1.0
"""How often a client that waits for checks gets a keep-alive line."""


class _PatientClient:
    """A waiting client that gets keep-alive lines."""

    def __init__(self, client: WaitingClient) -> None:
        self._client, self._asked = client, False

    def waits(self) -> bool:
        if self._asked:
            self._client.say_wait()
        self._asked = True
        return self._client.waits()

    def say_wait(self) -> None:
        self._client.say_wait()


def _merge(decisions: Iterable[Decision]) -> Decision:
    """All decisions as one: the strongest action, and every message once."""
    result = PROCEED
    for decision in decisions:
        messages = (*result.messages, *(m for m in decision.messages if m not in result.messages))
        stronger = decision if STRENGTH[decision.action] > STRENGTH[result.action] else result
        result = replace(
            stronger,
            messages=messages,
            delay_s=max(result.delay_s, decision.delay_s),
            model=decision.model or result.model,
            reason=stronger.reason or result.reason,
        )
    return result


STRENGTH = {"proceed": 0, "rewrite": 1, "hold": 2, "defer": 3, "deny": 4, "stop": 5}


class HookAdapter:
    """Has the dialect's capabilities; a model switch takes effect with the client's next request, if supported."""

    def __init__(self, name: str, capabilities: frozenset[Capability]) -> None:
        self.name = name
        self.capabilities = capabilities
        self.model: str | None = None

    def apply(self, directive: Directive) -> Applied:
        match directive:
            case SwitchModel(model) if "switch_model" in self.capabilities:
                self.model = model
                return Applied(True, f"{model} from the next request on")
            case SwitchModel():
                return Applied(False, f"{self.name} cannot switch models through its hooks")
            case Stop():
                return Applied(True, "sent with the reply to its next hook")
            case _:
                return Applied(True, "sent with the reply to its hook")
