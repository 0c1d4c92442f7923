"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....core import Usage, from_json
from .interface import Json, ModelCall, ReplyReader, StreamAction, ToolResult, WireFormat, arguments_of, event, text_of


class AnthropicFormat(WireFormat):
    name = "anthropic"
    key = "messages"

    def system(self, body: Json) -> object:
        # Without the parts that change from request to request.
        return text_of(body.get("system"))[-4000:]

    def is_model(self, item: Json) -> bool:
        return item.get("role") == "assistant"

    def results(self, item: Json) -> list[ToolResult]:
        return [
            ToolResult(str(block.get("tool_use_id", "")), "", text_of(block.get("content")), block.get("is_error"))
            for block in _blocks(item)
            if block.get("type") == "tool_result"
        ]

    def said(self, item: Json) -> str:
        if item.get("role") != "user":
            return ""
        return "\n".join(str(block.get("text", "")) for block in _blocks(item) if block.get("type") == "text")

    def parts(self, item: Json) -> list[Json]:
        return _blocks(item)

    def note(self, items: list[Json], at: int, text: str) -> None:
        if items[at].get("role") == "user":
            # Inside the turn, after its results, because turns have to alternate.
            items[at] = {**items[at], "content": [*_blocks(items[at]), {"type": "text", "text": text}]}
        else:
            items.insert(at + 1, {"role": "user", "content": [{"type": "text", "text": text}]})

    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "is_error": True, "content": answers[call.id]}
            for call in reader.calls
        ]
        return [{"role": "assistant", "content": list(reader.parts)}, {"role": "user", "content": results}]

    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        return AnthropicReader()

    def empty(self, model: str) -> Json:
        message = {"id": "msg_interlock", "type": "message", "role": "assistant", "model": model, "content": []}
        usage = {"input_tokens": 0, "output_tokens": 0}
        return {**message, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}

    def stream_head(self, reader: ReplyReader, model: str) -> bytes:
        message = {**self.empty(model), "stop_reason": None}
        return event({"type": "message_start", "message": message}, "message_start")


class AnthropicReader(ReplyReader):
    def __init__(self) -> None:
        super().__init__()
        self._message: Json = {}
        self._counted: Json = {}
        self._json: dict[int, list[str]] = {}
        self._holding = False

    def feed(self, event: Json) -> StreamAction:
        kind = event.get("type")
        if kind == "message_start":
            self._message = event["message"]
            self.model = str(self._message.get("model", ""))
            self._count(self._message.get("usage"))
        elif kind == "content_block_start":
            block = dict(event["content_block"])
            self.parts.append(block)
            self._holding = self._holding or block.get("type") == "tool_use"
        elif kind == "content_block_delta":
            self._add(event["index"], event["delta"])
        elif kind == "content_block_stop":
            pieces = self._json.pop(event["index"], None)
            if pieces:
                self.parts[event["index"]]["input"] = from_json("".join(pieces))
            if not self._holding:
                self.passed = len(self.parts)
        elif kind == "message_delta":
            self._message = {**self._message, **event.get("delta", {})}
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.complete = True
        return StreamAction.HOLD if self._holding else StreamAction.PASS

    def feed_whole(self, body: Any) -> None:
        self._message = body
        self.parts = list(body.get("content", []))
        self.model = str(body.get("model", ""))
        self._count(body.get("usage"))
        self.complete = True

    @property
    def text(self) -> str:
        return "".join(str(part.get("text", "")) for part in self.parts if part.get("type") == "text")

    @property
    def calls(self) -> list[ModelCall]:
        return [
            ModelCall(str(part.get("id", "")), str(part.get("name", "")), arguments_of(part.get("input")), at)
            for at, part in enumerate(self.parts)
            if part.get("type") == "tool_use"
        ]

    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        return {**self.parts[call.at], "input": arguments}

    def words(self, text: str) -> Json:
        return {"type": "text", "text": text}

    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        assert isinstance(like, AnthropicReader)
        written = [_write_block(index, part) for index, part in enumerate(parts, self.passed)]
        end = {"stop_reason": _stop_reason(parts, like), "stop_sequence": None}
        counted = like._counted or {"output_tokens": 0}
        written.append(event({"type": "message_delta", "delta": end, "usage": counted}, "message_delta"))
        written.append(event({"type": "message_stop"}, "message_stop"))
        return b"".join(written)

    def whole(self, parts: Sequence[Json]) -> bytes:
        return msgspec.json.encode(
            {**self._message, "content": list(parts), "stop_reason": _stop_reason(parts, self), "stop_sequence": None}
        )

    def _add(self, index: int, delta: Json) -> None:
        part = self.parts[index]
        match delta.get("type"):
            case "text_delta":
                part["text"] = part.get("text", "") + delta["text"]
            case "input_json_delta":
                self._json.setdefault(index, []).append(delta["partial_json"])
            case "thinking_delta":
                part["thinking"] = part.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                part["signature"] = delta["signature"]
            case "citations_delta":
                part.setdefault("citations", []).append(delta["citation"])

    def _count(self, usage: Json | None) -> None:
        self._counted = {**self._counted, **{key: value for key, value in (usage or {}).items() if value is not None}}
        read, written = (int(self._counted.get(key) or 0) for key in CACHED)
        self.usage = Usage(
            # This API counts the cached part of the prompt separately.
            input_tokens=int(self._counted.get("input_tokens") or 0) + read + written,
            output_tokens=int(self._counted.get("output_tokens") or 0),
            cache_read_tokens=read,
            cache_write_tokens=written,
        )


CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")


def _stop_reason(parts: Sequence[Json], like: AnthropicReader) -> object:
    if any(part.get("type") == "tool_use" for part in parts):
        return "tool_use"
    reason = like._message.get("stop_reason")
    return "end_turn" if reason in (None, "tool_use") else reason


def _write_block(index: int, part: Json) -> bytes:
    """One block as its start, its deltas and its end."""
    kind = part.get("type")
    empty, deltas = part, []
    if kind == "text":
        empty, deltas = {**part, "text": ""}, [{"type": "text_delta", "text": part["text"]}]
    elif kind in ("tool_use", "server_tool_use"):
        text = msgspec.json.encode(part.get("input", {})).decode()
        empty, deltas = {**part, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    elif kind == "thinking":
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": part.get("thinking", "")},
            {"type": "signature_delta", "signature": part.get("signature", "")},
        ]
    at = {"index": index}
    return b"".join(
        (
            event({"type": "content_block_start", **at, "content_block": empty}, "content_block_start"),
            *(event({"type": "content_block_delta", **at, "delta": delta}, "content_block_delta") for delta in deltas),
            event({"type": "content_block_stop", **at}, "content_block_stop"),
        )
    )


def _blocks(item: Json) -> list[Json]:
    content = item.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []
