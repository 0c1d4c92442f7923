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
    """What to do with a streamed event: forward it, hold it back with all that follow, or drop it."""

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
    """The field of the body with the conversation."""

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
        """Set another model; returns the path for it."""
        body["model"] = model
        return path

    def wants_usage(self, body: Json) -> bool:
        """Request usage in the answer if it would lack it; True if the body was changed."""
        return False

    @abstractmethod
    def system(self, body: Json) -> object:
        """The model's instructions, which with the tools' names identify the agents of a run."""

    @abstractmethod
    def is_model(self, item: Json) -> bool:
        """Whether this item is from the model."""

    @abstractmethod
    def results(self, item: Json) -> list[ToolResult]:
        """The results of calls in an item."""

    @abstractmethod
    def said(self, item: Json) -> str:
        """The user's text in an item."""

    @abstractmethod
    def parts(self, item: Json) -> list[Json]:
        """The parts of a model's item, as a reader returns them."""

    def calls(self, item: Json) -> list[ModelCall]:
        """The calls in an item of the model's."""
        reader = self.reader()
        reader.parts = self.parts(item)
        return reader.calls

    @abstractmethod
    def note(self, items: list[Json], at: int, text: str) -> None:
        """Insert a text after an item, where the provider accepts it."""

    @abstractmethod
    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        """The items of an answer that was not forwarded, with replacements for the results of its calls."""

    @abstractmethod
    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        """A new reader for one answer."""

    def item_key(self, item: Json) -> str:
        """A key for an item that stays the same in later requests, even if the client changes its marks."""
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
    """Reads one answer, whole or event by event, and can write a modified one."""

    def __init__(self) -> None:
        self.parts: list[Json] = []
        self.passed = 0
        """How many parts the client already has."""
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
        """The model's text, without thinking."""

    @property
    @abstractmethod
    def calls(self) -> list[ModelCall]:
        """The tool calls for the client."""

    @abstractmethod
    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        """The part of a call with other arguments."""

    @abstractmethod
    def words(self, text: str) -> Json:
        """A text as a part of an answer."""

    @abstractmethod
    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        """Events that continue the client's stream: these parts, then the end of `like`."""

    @abstractmethod
    def whole(self, parts: Sequence[Json]) -> bytes:
        """The whole answer with these parts."""


def event(data: object, name: str = "") -> bytes:
    """One server-sent event."""
    text = data.encode() if isinstance(data, str) else msgspec.json.encode(data)
    return (b"event: %b\n" % name.encode() if name else b"") + b"data: %b\n\n" % text


def arguments_of(text: object) -> dict[str, object]:
    """A call's arguments from JSON text or an object; anything else is put under `input`."""
    if isinstance(text, dict):
        return text
    try:
        found = from_json(str(text or "{}"))
    except msgspec.DecodeError:
        return {"input": text}
    return found if isinstance(found, dict) else {"input": found}


def text_of(content: object) -> str:
    """The text in a piece of content, whatever its form."""
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
    """A short hash of a value."""
    return hashlib.blake2b(msgspec.json.encode(value), digest_size=9).hexdigest()


def _unmarked(item: Json) -> Json:
    """An item without the cache marks that clients move around."""
    return {key: value for key, value in item.items() if key != "cache_control"}
