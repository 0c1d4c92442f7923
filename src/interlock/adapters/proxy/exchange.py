"""Exchange: one request to the model and its answer, under supervision."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from ...core import Decision, Message, NotFound, Step, Tool, from_json
from ...runtime import Guard, HungUp
from ..usage_limits import find_in_answer
from .body import (
    MOST_PLAIN,
    AnswerTooLong,
    EventParser,
    StreamCut,
    is_readable_stream,
    plain,
    read_bounded,
    read_whole,
    says_events,
)
from .call_review import CallReview, ReplyVerdict, last_of_model
from .client_connection import ClientConnection, ClientGone, ClientRequest
from .formats import Json, ReplyReader, StreamAction, WireFormat
from .server import begin, kept_headers, relay
from .upstream import UPSTREAM_ERRORS
from .upstream_connection import OpenRequest, UpstreamResponse

if TYPE_CHECKING:
    from .proxy import Proxy

ATTEMPTS = 4
"""How often the model is asked again because all its calls were blocked; then its turn is ended."""

SESSION = b"x-claude-code-session-id"
"""Claude Code's header with the session of a request, which its hooks name too."""

SILENCE_S = 10.0
STILL_HERE = b": still here\n\n"
"""A comment, which every reader of events skips, for a client that has waited SILENCE_S for events."""


class Exchange:
    """From the request to the end of its answer. If supervision fails, traffic is forwarded unchanged."""

    def __init__(
        self, proxy: Proxy, client: ClientConnection, asked: ClientRequest, url: str, form: WireFormat
    ) -> None:
        self._proxy, self._client, self._asked, self._url, self._form = proxy, client, asked, url, form
        self._supervisor, self._memory = proxy.supervisor, proxy.memory
        self._closed = self._supervisor.config.runtime.fail == "closed"
        self._guard = Guard(None, proxy.note_fault)
        self._agent: str | None = None
        self._body: Json = {}
        self._items: list[Json] = []
        self._client_items: list[Json] = []
        self._changed = False
        self._counts_for_us = False
        self._open = OpenRequest()

    def run(self) -> None:
        """Answer the client."""
        own = self._guard.part("proxy", self._read, None)
        if own is not None:
            session = self._asked.header(SESSION)
            self._agent = self._proxy.numbering.agent_of(session)
            if own:
                self._proxy.rewind.carries = True
                self._agent = self._memory.agent(self._form, self._body, session, self._agent)
            call_review = CallReview(self._proxy, self._form, self._agent, session)
            self._converse(call_review) if own else self._count(call_review)
        elif self._closed:
            words = "interlock: supervision failed and is configured to fail closed"
            body = {"type": "error", "error": {"type": "api_error", "message": words}}
            self._client.answer(503, "application/json", msgspec.json.encode(body))
        elif self._pass_gate(passage := self._new_passage()).action == "stop":
            self._client.answer(503, "application/json", b'{"error":{"message":"interlock: the run has ended"}}')
        else:
            try:
                relay(self._client, self._proxy.upstream, self._asked, self._url)
            finally:
                self._supervisor.run.gate.leave(passage)

    def _read(self) -> bool:
        """Read the request; returns whether it is the agent's own, not a side call for a title or a summary."""
        self._body = from_json(plain(self._asked.body, self._asked.header(b"content-encoding")), dict)
        self._items = self._form.items(self._body)
        self._client_items = list(self._items)
        if self._form.has_tools(self._body):
            self._memory.used_tools = True
            return True
        # An agent without tools works with text only; earlier turns of the model show that it is working.
        return not self._memory.used_tools and any(self._form.is_model(item) for item in self._items)

    def _count(self, call_review: CallReview) -> None:
        """Handle a side call, as for a title: held with the run and counted; its answer is forwarded."""
        passage = self._new_passage()
        decision = self._pass_gate(passage)
        if decision.action == "stop":
            self._end_turn(None, decision.reason)
            return
        if not self._memory.used_tools:
            # Not for an agent with tools: a smaller model may write its titles.
            self._guard.part("proxy", self._switch_model, None)
        reader = self._form.reader()
        try:
            with self._ask() as response:
                if response.status != 200:
                    self._refuse(response)
                else:
                    begin(self._client, response)
                    self._forward(call_review, response, reader, words=False)
        finally:
            self._supervisor.run.gate.leave(passage)

    def _converse(self, call_review: CallReview) -> None:
        """Handle the agent's own request: hold it, add to it, ask the model, judge the answer."""
        self._guard.part("proxy", lambda: call_review.hear(self._items), None)
        first: ReplyReader | None = None
        for _ in range(ATTEMPTS):
            passage = self._new_passage()
            decision = self._pass_gate(passage)
            if decision.action == "stop":
                self._end_turn(first, decision.reason)
                return
            if first is None:
                self._guard.part("proxy", self._prepare, None)
            try:
                reader = self._answer(call_review, first, passage)
            finally:
                self._supervisor.run.gate.leave(passage)
            if reader is None:
                return
            first = first or reader
        self._end_turn(first, "All your calls were blocked.")

    def _new_passage(self) -> Step:
        """A model request as the gate sees it, under its own name."""
        name = f"request {uuid.uuid4().hex}"
        run_id = self._supervisor.run.spec.run_id
        return Step(
            run_id=run_id, index=0, role="assistant", kind="tool_call", agent=name, tool=Tool("model", {}, name)
        )

    def _pass_gate(self, passage: Step) -> Decision:
        """Wait to pass the gate; a budget may shut it."""
        run = self._supervisor.run
        self._guard.part("proxy", self._supervisor.before_request, None)
        try:
            decision = run.gate.admit(lambda: run.gate.enter(passage), waits=self._client.waits)
        except HungUp:
            raise ClientGone from None
        return Decision("stop", reason=run.why_ended) if decision.action == "stop" else decision

    def _prepare(self) -> None:
        """Add to the request what the client does not know."""
        self._go_back()
        self._memory.mark(self._agent, self._supervisor.next_index, len(self._client_items))
        self._memory.put(self._form, self._client_items)
        self._changed = self._memory.apply(self._form, self._items)
        self._switch_model()
        if self._proxy.asks_usage and self._form.wants_usage(self._body):
            self._counts_for_us = self._changed = True

    def _switch_model(self) -> None:
        """Set the model that the run was switched to."""
        model = self._proxy.choice.model
        if model is not None and model != self._form.model(self._asked.target, self._body):
            self._url = self._form.set_model(self._url, self._body, model)
            self._changed = True

    def _go_back(self) -> None:
        """Roll back the conversation if the run was rolled back, keeping the last messages to the agent."""
        wanted, workspace = self._proxy.rewind.pop(self._agent), self._supervisor.executor.workspace
        if wanted is None or workspace is None:
            return
        try:
            checkpoint = workspace.checkpoints.get(wanted)
        except NotFound:
            return
        # An undo of files does not restore the conversation.
        undone = checkpoint.cause == "safety"
        keep = None if undone else self._memory.cut(self._form, self._client_items, self._agent, checkpoint)
        if keep is not None:
            newest = last_of_model(self._form, self._client_items) + 1
            words = [self._form.said(item) for item in self._client_items[max(newest, keep) :]]
            self._memory.keep([Message(text) for text in words if text])
            if not self._proxy.steps:
                # A hook told the agent why, but in the part that is now omitted.
                self._memory.keep(self._memory.why_back(wanted))
            del self._client_items[keep:]

    def _answer(self, call_review: CallReview, first: ReplyReader | None, passage: Step) -> ReplyReader | None:
        """Ask once, and forward what is allowed; returns the answer if the model has to be asked again, else None."""
        with self._ask() as response:
            if response.status == 200:
                self._proxy.on_answer()
                reader = self._form.reader(drop_usage=self._counts_for_us)
                if call_review.judges:
                    return self._judge(call_review, response, reader, first, passage)
                begin(self._client, response)
                self._forward(call_review, response, reader, words=True)
                return None
            if not (self._counts_for_us and response.status in (400, 422)):
                if self._client.begun:
                    raise ClientGone
                self._refuse(response)
                return None
        # The API does not support the option that we added: do without the usage.
        self._proxy.asks_usage = self._counts_for_us = False
        self._body.pop("stream_options", None)
        return self._answer(call_review, first, passage)

    def _judge(
        self,
        call_review: CallReview,
        response: UpstreamResponse,
        reader: ReplyReader,
        first: ReplyReader | None,
        passage: Step,
    ) -> ReplyReader | None:
        streams = first is None and is_readable_stream(response)
        if streams:
            begin(self._client, response)
            kept = self._stream(call_review, response, reader, keep_calls=True)
            # The client can read this while the rest is judged or waits.
            self._client.flush()
        else:
            kept = read_bounded(response)
            self._guard.part("proxy", lambda: read_whole(kept, response, reader), None)
        self._guard.part("proxy", lambda: call_review.count(reader, words=True), None)
        self._proxy.traffic.answered(empty=not reader.parts)
        self._supervisor.run.gate.leave(passage)
        broken = (
            ReplyVerdict(stop="Supervision failed and is configured to fail closed.")
            if self._closed
            else ReplyVerdict()
        )
        verdict = self._guard.part("proxy", lambda: call_review.decide(reader, self._client), broken)
        if verdict.gone:
            raise ClientGone
        if verdict.stop:
            self._end_turn(first or reader, verdict.stop)
            return None
        if verdict.again:
            exchange = self._form.exchange(reader, verdict.answers)
            self._memory.put_exchange(self._form, self._client_items, exchange)
            self._items += exchange
            self._changed = True
            return reader
        if first is None and verdict.parts is None:
            if not streams:
                begin(self._client, response)
            self._client.end(kept)
        else:
            self._write_anew(response, reader, first, verdict.parts or reader.parts)
            self._client.end()
        return None

    def _write_anew(
        self, response: UpstreamResponse, reader: ReplyReader, first: ReplyReader | None, parts: list[Json]
    ) -> None:
        """Write an answer with changed parts, or one that continues what the client already has."""
        if not self._client.begun and not says_events(response):
            body = reader.whole(parts)
            headers = kept_headers(response, body_changed=True)
            self._client.begin(response.status, [*headers, (b"content-length", b"%d" % len(body))])
            self._client.write(body)
            return
        if not self._client.begun:
            self._client.begin(response.status, kept_headers(response, body_changed=True))
        has = reader.passed if first is None else 0
        self._client.write((first or reader).tail(parts[has:], reader))

    def _forward(
        self, call_review: CallReview, response: UpstreamResponse, reader: ReplyReader, *, words: bool
    ) -> None:
        """Forward an answer at once, and count its usage."""
        if is_readable_stream(response):
            self._client.end(self._stream(call_review, response, reader, keep_calls=False))
        else:
            whole = self._hand_on(response)
            self._guard.part("proxy", lambda: read_whole(whole, response, reader), None)
        self._guard.part("proxy", lambda: call_review.count(reader, words=words), None)
        self._proxy.traffic.answered(empty=words and not reader.parts)

    def _stream(
        self, call_review: CallReview, response: UpstreamResponse, reader: ReplyReader, *, keep_calls: bool
    ) -> bytes:
        """Forward events as they arrive, up to the first call; returns what is held back or incomplete."""
        events, kept, flow, done = EventParser(), bytearray(), StreamAction.PASS, False
        spoken = time.monotonic()
        try:
            for data in response.stream:
                passed = bytearray()
                self._open.note(content=False)
                for event in events.feed(data):
                    if event.data is not None and event.data.get("type") != "ping":
                        self._open.note(content=True)
                    done = done or event.raw.rstrip().endswith(b"[DONE]")
                    goes = self._feed(reader, event.data, flow) if event.data is not None else flow
                    if goes is StreamAction.DROP:
                        continue
                    flow = goes if keep_calls else StreamAction.PASS
                    if flow is StreamAction.PASS:
                        passed += event.raw
                    else:
                        kept += event.raw
                if len(kept) + len(events.rest) > MOST_PLAIN:
                    raise AnswerTooLong
                now = time.monotonic()
                if not passed and now - spoken > SILENCE_S:
                    passed += STILL_HERE
                if passed:
                    self._client.write(bytes(passed))
                    spoken = now
            if kept and not (reader.complete or done):
                # With a clean end the client would believe that the model's calls are complete.
                raise StreamCut
        except (ClientGone, *UPSTREAM_ERRORS):
            # Count the usage so far.
            self._guard.part("proxy", lambda: call_review.count(reader, words=False), None)
            raise
        return bytes(kept) + events.rest

    def _feed(self, reader: ReplyReader, data: Json, flow: StreamAction) -> StreamAction:
        return self._guard.part("proxy", lambda: reader.feed(data), flow)

    def _hand_on(self, response: UpstreamResponse) -> bytes:
        """Forward the body of an answer, byte for byte."""
        whole = bytearray()
        for data in response.stream:
            self._client.write(data)
            if len(whole) <= MOST_PLAIN:
                # Longer answers are forwarded, but not read.
                whole += data
        self._client.end()
        return bytes(whole)

    def _refuse(self, response: UpstreamResponse) -> None:
        """Forward an error. A usage limit shuts the gate before the client learns of it and retries."""
        body = read_bounded(response)
        encoding = next((value for key, value in response.headers if key.lower() == b"content-encoding"), b"")

        def note() -> None:
            text = plain(body, encoding.decode("latin-1"))
            limit = find_in_answer(response.status, response.headers, text, datetime.now().astimezone())
            if limit is not None:
                self._proxy.on_limit(limit)

        self._guard.part("proxy", note, None)
        begin(self._client, response)
        self._client.write(body)
        self._client.end()

    def _end_turn(self, first: ReplyReader | None, why: str) -> None:
        """Answer instead of the model, to end the agent's turn."""
        words = f"Interlock ended the run: {why}"
        if first is not None and self._client.begun:
            self._client.end(first.tail([first.words(words)], first))
            return
        stream = self._form.is_stream(self._asked.target, self._body)
        kind, body = self._form.final(self._form.model(self._asked.target, self._body), words, stream=stream)
        self._client.answer(200, kind, body)

    @contextmanager
    def _ask(self) -> Iterator[UpstreamResponse]:
        """Send the request, unmodified if nothing was changed; asks for an uncompressed answer."""
        dropped = (b"accept-encoding", b"content-encoding") if self._changed else (b"accept-encoding",)
        headers = [(key, value) for key, value in self._asked.headers if key not in dropped]
        body = msgspec.json.encode(self._body) if self._changed else self._asked.body
        given = [*headers, (b"accept-encoding", b"identity")]
        traffic = self._proxy.traffic
        with traffic.request() as self._open:
            try:
                with self._proxy.upstream.ask(self._asked.method, self._url, given, body, self._client.flush) as answer:
                    traffic.arrived()
                    self._open.begin(answer)
                    yield answer
            except UPSTREAM_ERRORS as error:
                if self._open.begun is None:
                    traffic.failed(f"{type(error).__name__}: {error}")
                raise
