"""OpenAI Chat Completions."""

from __future__ import annotations

import json
import time
from typing import Any

from .answer import Events, ModelReply, ReplyFormat, new_id, pieces, properties_of


def _tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    functions = [tool.get("function", {}) for tool in body.get("tools") or []]
    return [(function.get("name", ""), properties_of(function.get("parameters"))) for function in functions]


def _whole(answer: ModelReply) -> dict[str, Any]:
    calls = [
        {
            "id": new_id("call_"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.input)},
        }
        for call in answer.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.tokens.output,
            "total_tokens": answer.input_tokens + answer.tokens.output,
            "prompt_tokens_details": {"cached_tokens": answer.tokens.cache_read},
        },
    }


def _events(whole: dict[str, Any]) -> Events:
    choice = whole["choices"][0]
    head = {"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
        return "", {**head, "choices": choices}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(choice["message"]["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        begin = {"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [begin]})
        for piece in pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    yield "", {**head, "choices": [], "usage": whole["usage"]}
    yield "", "[DONE]"


FORMAT = ReplyFormat("messages", lambda item: item.get("role") == "assistant", _tools, _whole, _events)
