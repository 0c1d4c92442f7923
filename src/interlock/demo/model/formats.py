"""The wire formats: reads requests, and writes replies whole or as events."""

from __future__ import annotations

import itertools
import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .script import ScriptedCall, Tokens

Events = Iterator[tuple[str, Any]]
"""Name and data of server-sent events; an unnamed event has an empty name."""

PIECE = 24
"""Characters per piece of a streamed text: few, so that clients have to join pieces."""


@dataclass(frozen=True)
class ModelReply:
    """A turn, ready to be written in any format."""

    text: str
    calls: tuple[ScriptedCall, ...]
    tokens: Tokens
    input_tokens: int
    model: str


@dataclass(frozen=True)
class ReplyFormat:
    """One format: where its conversation is, which items are the model's, its tools, and its replies."""

    items: str
    is_model: Callable[[dict[str, Any]], bool]
    tools: Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]]
    whole: Callable[[ModelReply], dict[str, Any]]
    events: Callable[[dict[str, Any]], Events]


def new_id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:24]


def pieces(text: str) -> list[str]:
    """A text as it is streamed."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def properties_of(schema: Any) -> dict[str, Any]:
    """The arguments that a tool's JSON schema declares."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _anthropic_tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(tool.get("name", ""), properties_of(tool.get("input_schema"))) for tool in body.get("tools") or []]


def _anthropic_whole(answer: ModelReply) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    blocks += [
        {"type": "tool_use", "id": new_id("toolu_"), "name": call.name, "input": call.input} for call in answer.calls
    ]
    tokens = answer.tokens
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            # This API counts the cached part of the prompt separately.
            "input_tokens": max(0, answer.input_tokens - tokens.cache_read - tokens.cache_write),
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output,
        },
    }


def _anthropic_events(whole: dict[str, Any]) -> Events:
    begin = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begin}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            empty = {**block, "input": {}}
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": whole["usage"],
        },
    )
    yield "message_stop", {"type": "message_stop"}


ANTHROPIC = ReplyFormat(
    "messages", lambda item: item.get("role") == "assistant", _anthropic_tools, _anthropic_whole, _anthropic_events
)


OF_MODEL = frozenset(
    ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "reasoning")
)


def _is_model(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in OF_MODEL


def _responses_tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (tool.get("name") or tool.get("type", ""), properties_of(tool.get("parameters")))
        for tool in body.get("tools") or []
    ]


def _responses_whole(answer: ModelReply) -> dict[str, Any]:
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


def _responses_events(whole: dict[str, Any]) -> Events:
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
            part, position = item["content"][0], {**at, "content_index": 0}
            yield event("response.output_item.added", output_index=index, item={**open_item, "content": []})
            yield event("response.content_part.added", **position, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield event("response.output_text.delta", **position, delta=piece, logprobs=[])
            yield event("response.output_text.done", **position, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **position, part=part)
        else:
            yield event("response.output_item.added", output_index=index, item={**open_item, "arguments": ""})
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            named = {"name": item["name"], "arguments": item["arguments"]}
            yield event("response.function_call_arguments.done", **at, **named)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


RESPONSES = ReplyFormat("input", _is_model, _responses_tools, _responses_whole, _responses_events)


def _chat_tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    functions = [tool.get("function", {}) for tool in body.get("tools") or []]
    return [(function.get("name", ""), properties_of(function.get("parameters"))) for function in functions]


def _chat_whole(answer: ModelReply) -> dict[str, Any]:
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


def _chat_events(whole: dict[str, Any]) -> Events:
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


CHAT = ReplyFormat("messages", lambda item: item.get("role") == "assistant", _chat_tools, _chat_whole, _chat_events)


def _gemini_tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    return [
        (one.get("name", ""), properties_of(one.get("parameters") or one.get("parametersJsonSchema")))
        for one in declared
    ]


def _gemini_whole(answer: ModelReply) -> dict[str, Any]:
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


def _gemini_events(whole: dict[str, Any]) -> Events:
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


GEMINI = ReplyFormat("contents", lambda item: item.get("role") == "model", _gemini_tools, _gemini_whole, _gemini_events)


FORMATS: dict[str, ReplyFormat] = {"anthropic": ANTHROPIC, "responses": RESPONSES, "chat": CHAT, "gemini": GEMINI}
