"""ConversationMemory: the state of a run's conversations that is not in the requests themselves."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from msgspec.structs import replace

from ...core import CheckpointInfo, Inject, Message, Restore, Step, from_json
from ...journal import JournalReading
from ...journal_records import InterventionRecord, ProxiedRecord, StepRecord, read_body
from ...runtime import AFTER_STEP, CONVERSATION_BACK, Run
from ..inprocess.call_decision import Marks
from ..steps.step_numbering import RECALLED
from .formats import Json, ToolResult, WireFormat
from .formats.interface import digest

MOST = 512


class ConversationMemory:
    """For one run. Thread-safe."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._notes: list[ProxiedRecord] = []
        self._waiting: list[Message] = []
        self._open: OrderedDict[str, Step] = OrderedDict()
        self._heard: OrderedDict[str, None] = OrderedDict()
        self._agents: dict[str, dict[str, str | None]] = {}
        self._marks: dict[str | None, Marks] = {}
        self.used_tools = False

    def recall(self, journal: JournalReading) -> None:
        """Restore a predecessor's state: where messages belong, and which calls have no result yet."""
        for record in journal.read(kinds=frozenset(("proxied",))):
            if isinstance(note := read_body(record), ProxiedRecord):
                self._notes.append(note)
        newest = journal.last("step")
        # Calls without a result are recent, however long the run is.
        after = max(0, newest.seq - RECALLED) if newest is not None else 0
        for record in journal.read(after, kinds=frozenset(("step",))):
            recorded = read_body(record)
            if not isinstance(recorded, StepRecord):
                continue
            step, decision = recorded.step, recorded.decision
            if step.tool is None or step.tool.call_id is None:
                continue
            if step.kind == "tool_result":
                self._open.pop(step.tool.call_id, None)
            elif decision is None or decision.action in ("proceed", "rewrite"):
                self._open[step.tool.call_id] = step
                self.used_tools = True

    def agent(self, form: WireFormat, body: Json, session: str = "", main: str | None = None) -> str | None:
        """The agent of a request: `main` for a session's first, else a name from its instructions and tools."""
        key = digest([*filter(None, (session,)), form.system(body), form.tool_names(body)])
        with self._lock:
            known = self._agents.setdefault(session, {})
            if key not in known:
                known[key] = f"sub-{key[:6]}" if known else main
            return known[key]

    def is_new(self, words: str) -> bool:
        """Whether this text is new: a repeated request has it again."""
        key = digest(words)
        with self._lock:
            known = key in self._heard
            self._heard[key] = None
            while len(self._heard) > MOST:
                self._heard.popitem(last=False)
            return not known

    def begin_call(self, step: Step) -> None:
        """Note a call that was forwarded to the client."""
        assert step.tool is not None and step.tool.call_id is not None
        with self._lock:
            self._open[step.tool.call_id] = step

    def end_call(self, result: ToolResult, agent: str | None) -> Step | None:
        """The call of a result, returned once; by its id, else the oldest one of that tool."""
        with self._lock:
            key = result.call_id if result.call_id in self._open else None
            if key is None and not result.call_id:
                key = next((k for k, step in self._open.items() if _is_of(step, result.name, agent)), None)
            return self._open.pop(key) if key is not None else None

    def abandon(self, agent: str | None) -> list[Step]:
        """Remove and return the calls of an agent that continued without their results."""
        with self._lock:
            left = [key for key, step in self._open.items() if step.agent == agent]
            return [self._open.pop(key) for key in left]

    def keep(self, messages: Sequence[Message]) -> None:
        """Keep messages for the agent's next request."""
        with self._lock:
            self._waiting += messages

    def put(self, form: WireFormat, items: list[Json]) -> None:
        """Add waiting messages to this conversation: after its newest item, now and in every later request."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if waiting and items:
            text = "\n\n".join(message.content for message in waiting)
            note = ProxiedRecord(form.item_key(items[-1]), len(items) - 1, text)
            self._run.record(note)
            self._add(note)

    def mark(self, agent: str | None, step: int, length: int) -> None:
        """Note the length of an agent's conversation at a request."""
        with self._lock:
            self._marks.setdefault(agent, Marks()).note(step, length)

    def cut(self, form: WireFormat, items: list[Json], agent: str | None, checkpoint: CheckpointInfo) -> int | None:
        """Omit what was added to an agent's conversation since a checkpoint; returns how much stays, None for all."""
        with self._lock:
            marks = self._marks.get(agent)
            if marks is None:
                return None
            after = checkpoint.cause == AFTER_STEP
            keep = marks.since(checkpoint.step) if after else marks.at(checkpoint.step)
        if keep is None or keep >= len(items):
            return None
        last = len(items) - 1
        gap = ProxiedRecord(
            form.item_key(items[keep - 1]), keep - 1, until=form.item_key(items[last]), until_index=last
        )
        self._run.record(gap)
        self._add(gap)
        return keep

    def why_back(self, checkpoint_id: str) -> tuple[Message, ...]:
        """The messages of the newest intervention that rolled the agent back to this checkpoint."""
        messages: tuple[Message, ...] = ()
        with self._run.journal.reader() as journal:
            for record in journal.read(kinds=frozenset(("intervention",))):
                done = from_json(record.body, InterventionRecord).directives
                if any(isinstance(one, Restore) and one.checkpoint_id == checkpoint_id for one in done):
                    messages = tuple(one.message for one in done if isinstance(one, Inject))
        return tuple(replace(one, content=f"{one.content}\n{CONVERSATION_BACK}") for one in messages)

    def put_exchange(self, form: WireFormat, items: list[Json], exchange: list[Json]) -> None:
        """Add an exchange that the client does not know, after the newest item."""
        self._add(ProxiedRecord(form.item_key(items[-1]), len(items) - 1, items=tuple(exchange)))

    def apply(self, form: WireFormat, items: list[Json]) -> bool:
        """Apply all additions and omissions; False if there are none."""
        with self._lock:
            notes = list(self._notes)
        if not notes:
            return False
        keys = [form.item_key(item) for item in items]
        gone = _gone(notes, keys)
        for left_out in gone:
            items[left_out] = GONE
        found = [
            (at, order, note)
            for order, note in enumerate(notes)
            if not note.until and (at := _find(note.place, note.index, keys)) is not None and at not in gone
        ]
        # From the end, so that earlier positions stay valid.
        for at, _, note in sorted(found, key=lambda one: one[:2], reverse=True):
            if note.items:
                items[at + 1 : at + 1] = note.items
            else:
                form.note(items, at, note.text)
        if gone:
            items[:] = [item for item in items if item is not GONE]
        return bool(found or gone)

    def _add(self, note: ProxiedRecord) -> None:
        with self._lock:
            self._notes.append(note)
            del self._notes[:-MOST]


GONE: Json = {}
"""Marks an omitted item until everything else is applied."""


def _gone(notes: list[ProxiedRecord], keys: list[str]) -> set[int]:
    """The indexes of the items that are omitted from this request."""
    gone: set[int] = set()
    for note in notes:
        if note.until:
            begin, end = _find(note.place, note.index, keys), _find(note.until, note.until_index, keys)
            if begin is not None and end is not None:
                gone.update(range(begin + 1, end + 1))
    return gone


def _find(key: str, index: int, keys: list[str]) -> int | None:
    """The index of an item in this request; None if it is gone, or in another conversation."""
    if index < len(keys) and keys[index] == key:
        return index
    if key.startswith("result "):
        return next((at for at in range(len(keys) - 1, -1, -1) if keys[at] == key), None)
    # The same text may occur several times: only its position identifies it.
    return None


def _is_of(step: Step, tool: str, agent: str | None) -> bool:
    return step.tool is not None and step.tool.name == tool and step.agent == agent
