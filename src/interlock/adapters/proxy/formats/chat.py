"""OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....core import Usage
from .interface import Json, ModelCall, ReplyReader, StreamAction, ToolResult, WireFormat, arguments_of, event, text_of


class ChatFormat(WireFormat):
    name = "chat"
    key = "messages"

    def has_tools(self, body: Json) -> bool:
        return bool(body.get("tools") or body.get("functions"))

    def tool_names(self, body: Json) -> list[str]:
        return [str((tool.get("function") or tool).get("name", "")) for tool in body.get("tools") or []]

    def wants_usage(self, body: Json) -> bool:
        if not body.get("stream") or (body.get("stream_options") or {}).get("include_usage") is not None:
            return False
        body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
        return True

    def system(self, body: Json) -> object:
        first = next(iter(self.items(body)), {})
        return text_of(first.get("content"))[-4000:] if first.get("role") in ("system", "developer") else ""

    def is_model(self, item: Json) -> bool:
        return item.get("role") == "assistant"

    def results(self, item: Json) -> list[ToolResult]:
        if item.get("role") not in ("tool", "function"):
            return []
        return [ToolResult(str(item.get("tool_call_id", "")), str(item.get("name", "")), text_of(item.get("content")))]

    def said(self, item: Json) -> str:
        return text_of(item.get("content")) if item.get("role") == "user" else ""

    def parts(self, item: Json) -> list[Json]:
        return [{"call": call} for call in item.get("tool_calls") or []]

    def note(self, items: list[Json], at: int, text: str) -> None:
        items.insert(at + 1, {"role": "user", "content": text})

    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        said = {"role": "assistant", "content": reader.text or None}
        calls = [reader.parts[call.at]["call"] for call in reader.calls]
        results = [{"role": "tool", "tool_call_id": call.id, "content": answers[call.id]} for call in reader.calls]
        return [{**said, "tool_calls": calls}, *results]

    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        return ChatReader(drop_usage)

    def empty(self, model: str) -> Json:
        choice = {"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        head = {"id": "chatcmpl-interlock", "object": "chat.completion", "created": 0, "model": model}
        return {**head, "choices": [choice], "usage": usage}


class ChatReader(ReplyReader):
    """Its parts are {"text": ...} and {"call": a tool call}."""

    def __init__(self, drop_usage: bool = False) -> None:
        super().__init__()
        self._drop_usage = drop_usage
        self._head: Json = {}
        self._finish: str | None = None
        self._text: list[str] = []
        self._calls: dict[int, Json] = {}
        self._role: str | None = None

    def feed(self, event: Json) -> StreamAction:
        self._head = self._head or {key: event[key] for key in HEAD if key in event}
        self.model = self.model or str(event.get("model", ""))
        self._count(event.get("usage"))
        choices = event.get("choices") or []
        for choice in choices:
            if choice.get("index", 0) == 0:
                self._add(choice.get("delta") or {})
                self._finish = choice.get("finish_reason") or self._finish
        self.complete = self.complete or self._finish is not None
        self.parts = [{"text": "".join(self._text)}] if self._text else []
        self.passed = len(self.parts)
        self.parts += [{"call": call} for call in self._calls.values()]
        if self._drop_usage and not choices and event.get("usage"):
            return StreamAction.DROP
        return StreamAction.HOLD if self._calls else StreamAction.PASS

    def feed_whole(self, body: Any) -> None:
        self._head = body
        self.model = str(body.get("model", ""))
        self._count(body.get("usage"))
        choice: Json = next(iter(body.get("choices") or []), {})
        message = choice.get("message") or {}
        self._finish = choice.get("finish_reason")
        self.parts = [{"text": message["content"]}] if message.get("content") else []
        self.parts += [{"call": call} for call in message.get("tool_calls") or []]
        self.complete = True

    @property
    def text(self) -> str:
        return "".join(text_of(part["text"]) for part in self.parts if "text" in part)

    @property
    def calls(self) -> list[ModelCall]:
        found = []
        for at, part in enumerate(self.parts):
            if "call" in part:
                call = part["call"]
                function = call.get("function") or call.get("custom") or {}
                arguments = arguments_of(function.get("arguments") or function.get("input"))
                found.append(ModelCall(str(call.get("id", "")), str(function.get("name", "")), arguments, at))
        return found

    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        old = self.parts[call.at]["call"]
        written = msgspec.json.encode(arguments).decode()
        return {"call": {**old, "function": {**old.get("function", {}), "arguments": written}}}

    def words(self, text: str) -> Json:
        return {"text": text}

    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        head = {**{key: self._head[key] for key in HEAD if key in self._head}, "object": "chat.completion.chunk"}

        def chunk(delta: Json, finish: str | None = None) -> bytes:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        text = "".join(text_of(part["text"]) for part in parts if "text" in part)
        calls = [part["call"] for part in parts if "call" in part]
        written = [chunk({"role": "assistant", "content": text})] if text else []
        written += [chunk({"tool_calls": [{**call, "index": at}]}) for at, call in enumerate(calls)]
        written += [chunk({}, "tool_calls" if calls else "stop"), event("[DONE]")]
        return b"".join(written)

    def whole(self, parts: Sequence[Json]) -> bytes:
        text = "".join(text_of(part["text"]) for part in parts if "text" in part)
        calls = [part["call"] for part in parts if "call" in part]
        choice: Json = next(iter(self._head.get("choices") or []), {"index": 0})
        message = {**(choice.get("message") or {"role": "assistant"}), "content": text or None}
        message.pop("tool_calls", None)
        if calls:
            message["tool_calls"] = calls
        finish = "tool_calls" if calls else "stop"
        return msgspec.json.encode({**self._head, "choices": [{**choice, "message": message, "finish_reason": finish}]})

    def _add(self, delta: Json) -> None:
        if delta.get("content"):
            self._text.append(text_of(delta["content"]))
        for piece in delta.get("tool_calls") or []:
            call = self._calls.setdefault(piece.get("index", 0), {"id": "", "type": "function", "function": {}})
            call["id"] = piece.get("id") or call["id"]
            function, more = call["function"], piece.get("function") or {}
            function["name"] = function.get("name", "") + (more.get("name") or "")
            function["arguments"] = function.get("arguments", "") + (more.get("arguments") or "")

    def _count(self, usage: Json | None) -> None:
        if usage:
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            self.usage = Usage(
                input_tokens=int(usage.get("prompt_tokens") or 0),
                output_tokens=int(usage.get("completion_tokens") or 0),
                cache_read_tokens=int(cached),
            )


HEAD = ("id", "created", "model", "system_fingerprint", "service_tier")
