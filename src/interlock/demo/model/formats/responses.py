"""OpenAI Responses."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

from .answer import Events, ModelReply, ReplyFormat, new_id, pieces, properties_of

OF_MODEL = frozenset(
    ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "reasoning")
)


def _is_model(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in OF_MODEL


def _tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (tool.get("name") or tool.get("type", ""), properties_of(tool.get("parameters")))
        for tool in body.get("tools") or []
    ]


def _whole(answer: ModelReply) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    for call in answer.calls:
        ids = {"id": new_id("fc_"), "call_id": new_id("call_"), "name": call.name, "status": "completed"}
        output.append({"type": "function_call", **ids, "arguments": json.dumps(call.input)})
    tokens = answer.tokens
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": tokens.cache_read},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + tokens.output,
        },
        "user": None,
        "metadata": {},
    }


def _events(whole: dict[str, Any]) -> Events:
    numbers = itertools.count()

    def event(kind: str, **data: Any) -> tuple[str, Any]:
        return kind, {"type": kind, "sequence_number": next(numbers), **data}

    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        at = {"item_id": item["id"], "output_index": index}
        open_item = {**item, "status": "in_progress"}
        if item["type"] == "message":
            part, place = item["content"][0], {**at, "content_index": 0}
            yield event("response.output_item.added", output_index=index, item={**open_item, "content": []})
            yield event("response.content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield event("response.output_text.done", **place, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **place, part=part)
        else:
            yield event("response.output_item.added", output_index=index, item={**open_item, "arguments": ""})
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            named = {"name": item["name"], "arguments": item["arguments"]}
            yield event("response.function_call_arguments.done", **at, **named)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


FORMAT = ReplyFormat("input", _is_model, _tools, _whole, _events)
