"""GeminiFormat: generateContent and streamGenerateContent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....core import Usage
from .interface import (
    Json,
    ModelCall,
    ReplyReader,
    StreamAction,
    ToolResult,
    WireFormat,
    arguments_of,
    digest,
    event,
    text_of,
)

MODEL = re.compile(r"(?<=/models/)[^/:?]+")


class GeminiFormat(WireFormat):
    name = "gemini"
    key = "contents"

    def tool_names(self, body: Json) -> list[str]:
        declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        return [str(one.get("name", "")) for one in declared]

    def is_stream(self, path: str, body: Json) -> bool:
        # Without alt=sse a stream is a JSON list, which is read as a whole.
        return ":streamGenerateContent" in path and "alt=sse" in path

    def model(self, path: str, body: Json) -> str:
        found = MODEL.search(path)
        return found[0] if found else ""

    def set_model(self, path: str, body: Json, model: str) -> str:
        return MODEL.sub(lambda _: model, path, count=1)

    def system(self, body: Json) -> object:
        return text_of((body.get("systemInstruction") or {}).get("parts"))[-4000:]

    def is_model(self, item: Json) -> bool:
        return item.get("role") == "model"

    def results(self, item: Json) -> list[ToolResult]:
        found = []
        for part in item.get("parts") or []:
            answer = part.get("functionResponse")
            if answer is not None:
                response = answer.get("response") or {}
                text = text_of(response.get("output")) or text_of(response.get("result"))
                error = response.get("error")
                words = text_of(error) or text or msgspec.json.encode(response).decode()
                found.append(
                    ToolResult(str(answer.get("id", "")), str(answer.get("name", "")), words, bool(error) or None)
                )
        return found

    def said(self, item: Json) -> str:
        if item.get("role", "user") != "user":
            return ""
        return "\n".join(str(part["text"]) for part in item.get("parts") or [] if "text" in part)

    def parts(self, item: Json) -> list[Json]:
        return list(item.get("parts") or [])

    def note(self, items: list[Json], at: int, text: str) -> None:
        if items[at].get("role", "user") == "user":
            items[at] = {**items[at], "parts": [*(items[at].get("parts") or []), {"text": text}]}
        else:
            items.insert(at + 1, {"role": "user", "parts": [{"text": text}]})

    def exchange(self, reader: ReplyReader, answers: Mapping[str, str]) -> list[Json]:
        results = []
        for call in reader.calls:
            asked = reader.parts[call.at]["functionCall"]
            ids = {"id": asked["id"]} if "id" in asked else {}
            results.append({"functionResponse": {**ids, "name": call.name, "response": {"error": answers[call.id]}}})
        return [{"role": "model", "parts": list(reader.parts)}, {"role": "user", "parts": results}]

    def reader(self, *, drop_usage: bool = False) -> ReplyReader:
        return GeminiReader()

    def empty(self, model: str) -> Json:
        return {"candidates": [], "modelVersion": model}


class GeminiReader(ReplyReader):
    def __init__(self) -> None:
        super().__init__()
        self._last: Json = {}
        self._holding = False
        self._listed = False

    def feed(self, event: Json) -> StreamAction:
        self._add_parts(event)
        self._holding = self._holding or any("functionCall" in part for part in self.parts)
        if not self._holding:
            self.passed = len(self.parts)
        return StreamAction.HOLD if self._holding else StreamAction.PASS

    def feed_whole(self, body: Any) -> None:
        self._listed = isinstance(body, list)
        for one in body if self._listed else [body]:
            self._add_parts(one)
        self.complete = True

    @property
    def text(self) -> str:
        return "".join(str(part["text"]) for part in self.parts if "text" in part and not part.get("thought"))

    @property
    def calls(self) -> list[ModelCall]:
        found = []
        for at, part in enumerate(self.parts):
            call = part.get("functionCall")
            if call is not None:
                # Ids are optional: a call without one gets a generated id, and its result is matched by tool.
                given = str(call.get("id") or f"gemini {digest([self._last.get('responseId'), at, call])}")
                found.append(ModelCall(given, str(call.get("name", "")), arguments_of(call.get("args")), at))
        return found

    def with_arguments(self, call: ModelCall, arguments: dict[str, object]) -> Json:
        part = self.parts[call.at]
        return {**part, "functionCall": {**part["functionCall"], "args": arguments}}

    def words(self, text: str) -> Json:
        return {"text": text}

    def tail(self, parts: Sequence[Json], like: ReplyReader) -> bytes:
        assert isinstance(like, GeminiReader)
        return event(like._answer(parts))

    def whole(self, parts: Sequence[Json]) -> bytes:
        answer = self._answer(parts)
        return msgspec.json.encode([answer] if self._listed else answer)

    def _add_parts(self, answer: Json) -> None:
        self._last = {**self._last, **answer}
        self.model = str(answer.get("modelVersion") or self.model)
        candidate: Json = next(iter(answer.get("candidates") or []), {})
        self.parts += (candidate.get("content") or {}).get("parts") or []
        self.complete = self.complete or candidate.get("finishReason") is not None
        usage = answer.get("usageMetadata")
        if usage:
            written = int(usage.get("candidatesTokenCount") or 0) + int(usage.get("thoughtsTokenCount") or 0)
            self.usage = Usage(
                input_tokens=int(usage.get("promptTokenCount") or 0),
                output_tokens=written,
                cache_read_tokens=int(usage.get("cachedContentTokenCount") or 0),
            )

    def _answer(self, parts: Sequence[Json]) -> Json:
        content = {"role": "model", "parts": list(parts)}
        return {**self._last, "candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
