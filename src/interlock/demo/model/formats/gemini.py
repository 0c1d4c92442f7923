"""Gemini: generateContent and streamGenerateContent."""

from __future__ import annotations

from typing import Any

from .answer import Events, ModelReply, ReplyFormat, new_id, pieces, properties_of


def _tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    return [
        (one.get("name", ""), properties_of(one.get("parameters") or one.get("parametersJsonSchema")))
        for one in declared
    ]


def _whole(answer: ModelReply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"id": new_id("fc_"), "name": call.name, "args": call.input}} for call in answer.calls]
    tokens = answer.tokens
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "cachedContentTokenCount": tokens.cache_read,
            "candidatesTokenCount": tokens.output,
            "totalTokenCount": answer.input_tokens + tokens.output,
        },
        "modelVersion": answer.model,
        "responseId": new_id("r"),
    }


def _events(whole: dict[str, Any]) -> Events:
    candidate = whole["candidates"][0]
    parts = candidate["content"]["parts"]
    begun = {key: whole[key] for key in ("modelVersion", "responseId")}
    for part in [part for part in parts if "text" in part]:
        for piece in pieces(part["text"]):
            content = {"role": "model", "parts": [{"text": piece}]}
            yield "", {"candidates": [{"content": content, "index": 0}], **begun}
    calls = [part for part in parts if "text" not in part] or [{"text": ""}]
    last = {"content": {"role": "model", "parts": calls}, "finishReason": "STOP", "index": 0}
    yield "", {"candidates": [last], "usageMetadata": whole["usageMetadata"], **begun}


FORMAT = ReplyFormat("contents", lambda item: item.get("role") == "model", _tools, _whole, _events)
