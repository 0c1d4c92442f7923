"""The interface of every wire format: its requests and its answers."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct

from ....core import Usage, from_json
from ...traces.transcript import image_placeholder

Json = dict[str, Any]
"""A JSON object from outside."""


class StreamAction(Enum):
    """What becomes of a streamed event: handed on, kept back with all that follow, or left out."""

    PASS = "pass"
    HOLD = "hold"
    DROP = "drop"


class ModelCall(Struct, frozen=True):
    """A tool call in an answer; `at` is its index among the answer's parts."""

    id: str
    name: str
    arguments: dict[str, object]
    at: int


class ToolResult(Struct, frozen=True):
    """The result of a call, as the next request reports it."""

    call_id: str
    name: str
    text: str
    error: bool | None = None


class WireFormat(ABC):
    """One wire format's requests."""

    name: str
    key: str
    """Where the conversation is in the body."""

    def items(self, body: Json) -> list[Json]:
        """The conversation, to be changed in place."""
        items: list[Json] = body.setdefault(self.key, [])
        return items

    def has_tools(self, body: Json) -> bool:
        return bool(body.get("tools"))

    def tool_names(self, body: Json) -> list[str]:
        """The agent's tools, in its own order."""
        return [str(tool.get("name") or tool.get("type") or "") for tool in body.get("tools") or []]

    def is_stream(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def model(self, path: str, body: Json) -> str:
        return str(body.get("model", ""))

    def set_model(self, path: str, body: Json, model: str) -> str:
        """Ask another model; returns the path to ask at."""
        body["model"] = model
        return path

    def wants_usage(self, body: Json) -> bool:
        """Make the answer tell its tokens, where it would not; True if the body was changed."""
        return False

    @abstractmethod
    def system(self, body: Json) -> object:
        """The model's instructions: with the tools' names they distinguish the agents of one run."""

    @abstractmethod
    def is_model(self, item: Json) -> bool:
        """Whether the model said this."""

    @abstractmethod
    def results(self, item: Json) -> list[ToolResult]:
        """The results of calls in an item."""

    @abstractmethod
    def said(self, item: Json) -> str:
        """What a person, or the client in a person's name, says in an item."""

    @abstractmethod
    def parts(self, item: Json) -> list[Json]:
        """What the model said in an item, in the parts that a reader gives."""

    def calls(self, item: Json) -> list[ModelCall]:
        """The calls in an item of the model's."""
        reader = self.reader()
        reader.parts = self.parts(item)
        return reader.calls

    @abstractmethod
    def note(self, items: list[Json], at: int, text: str) -> None:
        """Put words after an item, where the provider accepts them."""

    @abstractmethod
    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        """An answer that was not handed on, with what replaces the results of its calls."""

    @abstractmethod
    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        """Something that reads one answer."""

    def item_key(self, item: Json) -> str:
        """A name for an item that stays the same in later requests, whatever the client marks in it."""
        ids = [result.call_id for result in self.results(item) if result.call_id]
        if ids:
            return "result " + " ".join(ids)
        return "text " + digest(self.said(item) or _unmarked(item))

    @abstractmethod
    def empty(self, model: str) -> Json:
        """A whole answer that ends the agent's turn and has no parts."""

    def stream_head(self, reader: ReplyReader, model: str) -> bytes:
        """The events before the first part of an answer of our own."""
        return b""

    def final(self, model: str, text: str, *, stream: bool) -> tuple[str, bytes]:
        """An answer of our own that ends the agent's turn: its content type and its body."""
        reader = self.reader()
        reader.feed_whole(self.empty(model))
        parts = [reader.words(text)]
        if not stream:
            return "application/json", reader.whole(parts)
        return "text/event-stream", self.stream_head(reader, model) + reader.tail(parts, reader)


class ReplyReader(ABC):
    """Reads one answer, whole or event by event, and can write it anew."""

    def __init__(self) -> None:
        self.parts: list[Json] = []
        self.passed = 0
        """How many parts the client has already."""
        self.usage: Usage | None = None
        self.model = ""
        self.complete = False

    @abstractmethod
    def feed(self, event: Json) -> StreamAction:
        """One event of a stream."""

    @abstractmethod
    def feed_whole(self, body: Any) -> None:
        """The whole answer."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What the model says, without its thoughts."""

    @property
    @abstractmethod
    def calls(self) -> list[ModelCall]:
        """What the model wants done by the client."""

    @abstractmethod
    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        """The part of a call with other arguments."""

    @abstractmethod
    def words(self, text: str) -> Json:
        """A text as a part of an answer."""

    @abstractmethod
    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        """Events that continue the stream that the client already has: these parts, then the end of `like`."""

    @abstractmethod
    def whole(self, parts: Sequence[Json]) -> bytes:
        """The whole answer with these parts."""


def event(data: object, name: str = "") -> bytes:
    """One server-sent event."""
    text = data.encode() if isinstance(data, str) else msgspec.json.encode(data)
    return (b"event: %b\n" % name.encode() if name else b"") + b"data: %b\n\n" % text


def arguments_of(text: object) -> dict[str, object]:
    """A call's arguments, given as JSON text or as an object; what is neither is kept under `input`."""
    if isinstance(text, dict):
        return text
    try:
        found = from_json(str(text or "{}"))
    except msgspec.DecodeError:
        return {"input": text}
    return found if isinstance(found, dict) else {"input": found}


def text_of(content: object) -> str:
    """The words in a piece of content, whatever it is made of."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(one) for one in content)))
    if isinstance(content, dict):
        for key in ("text", "content", "output", "refusal"):
            if isinstance(content.get(key), (str, list)):
                return text_of(content[key])
        return image_placeholder(content)
    return ""


def digest(value: object) -> str:
    """A short name for a value."""
    return hashlib.blake2b(msgspec.json.encode(value), digest_size=9).hexdigest()


def _unmarked(item: Json) -> Json:
    """An item without the marks that clients move about."""
    return {key: value for key, value in item.items() if key != "cache_control"}
