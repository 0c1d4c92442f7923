"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....core import Usage
from .interface import Json, ModelCall, ReplyReader, StreamAction, ToolResult, WireFormat, arguments_of, event, text_of

CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"))
"""Calls for the client; others run at the provider."""

ARGUMENTS = ("arguments", "input", "action", "operation")
"""The field with the arguments, by kind of call."""

OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}


class ResponsesFormat(WireFormat):
    name = "responses"
    key = "input"

    def items(self, body: Json) -> list[Json]:
        items = body.setdefault("input", [])
        if isinstance(items, str):
            items = body["input"] = [{"role": "user", "content": items}]
        return items  # type: ignore[no-any-return]

    def system(self, body: Json) -> object:
        return text_of(body.get("instructions"))[-4000:]

    def is_model(self, item: Json) -> bool:
        return item.get("role") == "assistant" or item.get("type") in CALLS or item.get("type") == "reasoning"

    def results(self, item: Json) -> list[ToolResult]:
        if not str(item.get("type", "")).endswith("_call_output"):
            return []
        return [ToolResult(str(item.get("call_id", "")), "", text_of(item.get("output")))]

    def said(self, item: Json) -> str:
        return text_of(item.get("content")) if item.get("role") == "user" else ""

    def parts(self, item: Json) -> list[Json]:
        return [item]

    def note(self, items: list[Json], at: int, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        items.insert(at + 1, {"type": "message", "role": "user", "content": content})

    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        results = [
            {"type": OUTPUTS[reader.parts[call.at]["type"]], "call_id": call.id, "output": answers[call.id]}
            for call in reader.calls
        ]
        return [*reader.parts, *results]

    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        return ResponsesReader()

    def empty(self, model: str) -> Json:
        return {**EMPTY, "model": model}

    def stream_head(self, reader: ReplyReader, model: str) -> bytes:
        assert isinstance(reader, ResponsesReader)
        begun = {**self.empty(model), "status": "in_progress", "usage": None}
        return reader.number({"type": "response.created", "response": begun})


class ResponsesReader(ReplyReader):
    def __init__(self) -> None:
        super().__init__()
        self._response: Json = {}
        self._number = 0
        self._holding = False

    def feed(self, event: Json) -> StreamAction:
        kind = str(event.get("type", ""))
        if kind == "response.output_item.added":
            self._holding = self._holding or event["item"].get("type") in CALLS
        elif kind == "response.output_item.done":
            self.parts.append(event["item"])
            if not self._holding:
                self.passed = len(self.parts)
        elif "response" in event:
            self._response = event["response"]
            self.model = str(self._response.get("model", ""))
            self._count(self._response.get("usage"))
            self.complete = kind in ("response.completed", "response.incomplete")
        if not self._holding:
            self._number = int(event.get("sequence_number", self._number)) + 1
        return StreamAction.HOLD if self._holding else StreamAction.PASS

    def feed_whole(self, body: Any) -> None:
        self._response = body
        self.parts = list(body.get("output") or [])
        self.model = str(body.get("model", ""))
        self._count(body.get("usage"))
        self.complete = True

    @property
    def text(self) -> str:
        return "".join(text_of(part.get("content")) for part in self.parts if part.get("type") == "message")

    @property
    def calls(self) -> list[ModelCall]:
        found = []
        for at, part in enumerate(self.parts):
            if part.get("type") in CALLS:
                given = next((part[key] for key in ARGUMENTS if key in part), None)
                name = str(part.get("name") or part["type"].removesuffix("_call"))
                found.append(ModelCall(str(part.get("call_id", "")), name, arguments_of(given), at))
        return found

    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        part = self.parts[call.at]
        key = next((key for key in ARGUMENTS if key in part), "arguments")
        if key == "arguments":
            return {**part, key: msgspec.json.encode(arguments).decode()}
        return {**part, key: arguments.get("input", "") if key == "input" else arguments}

    def words(self, text: str) -> Json:
        content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
        message = {"type": "message", "id": "msg_interlock", "role": "assistant", "status": "completed"}
        return {**message, "content": content}

    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        assert isinstance(like, ResponsesReader)
        written = [one for index, part in enumerate(parts, self.passed) for one in self._write(index, part)]
        whole = [*self.parts[: self.passed], *parts]
        ended = {**like._response, "id": self._response.get("id"), "status": "completed", "output": whole}
        written.append(self.number({"type": "response.completed", "response": ended}))
        return b"".join(written)

    def whole(self, parts: Sequence[Json]) -> bytes:
        return msgspec.json.encode({**self._response, "output": list(parts)})

    def number(self, data: Json) -> bytes:
        """An event with the next sequence number."""
        written = event({**data, "sequence_number": self._number}, str(data["type"]))
        self._number += 1
        return written

    def _write(self, index: int, part: Json) -> list[bytes]:
        kind, begun, between = part.get("type"), {**part, "status": "in_progress"}, []
        at = {"item_id": part.get("id"), "output_index": index}
        if kind == "message":
            begun["content"] = []
            for number, piece in enumerate(part.get("content") or []):
                position, text = {**at, "content_index": number}, piece.get("text", "")
                between += [
                    {"type": "response.content_part.added", **position, "part": {**piece, "text": ""}},
                    {"type": "response.output_text.delta", **position, "delta": text, "logprobs": []},
                    {"type": "response.output_text.done", **position, "text": text, "logprobs": []},
                    {"type": "response.content_part.done", **position, "part": piece},
                ]
        elif kind == "function_call":
            begun["arguments"] = ""
            given = {"arguments": part.get("arguments", "")}
            between = [
                {"type": "response.function_call_arguments.delta", **at, "delta": given["arguments"]},
                {"type": "response.function_call_arguments.done", **at, "name": part.get("name"), **given},
            ]
        added = {"type": "response.output_item.added", "output_index": index, "item": begun}
        done = {"type": "response.output_item.done", "output_index": index, "item": part}
        return [self.number(data) for data in (added, *between, done)]

    def _count(self, usage: Json | None) -> None:
        if usage:
            cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
            self.usage = Usage(
                input_tokens=int(usage.get("input_tokens") or 0),
                output_tokens=int(usage.get("output_tokens") or 0),
                cache_read_tokens=int(cached),
            )


EMPTY: Json = {
    "id": "resp_interlock",
    "object": "response",
    "created_at": 0,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    },
}
