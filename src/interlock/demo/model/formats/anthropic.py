"""Anthropic Messages."""

from __future__ import annotations

import json
from typing import Any

from .answer import Events, ModelReply, ReplyFormat, new_id, pieces, properties_of


def _tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(tool.get("name", ""), properties_of(tool.get("input_schema"))) for tool in body.get("tools") or []]


def _whole(answer: ModelReply) -> dict[str, Any]:
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
            # Here the cached part of the prompt is counted apart.
            "input_tokens": max(0, answer.input_tokens - tokens.cache_read - tokens.cache_write),
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output,
        },
    }


def _events(whole: dict[str, Any]) -> Events:
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


FORMAT = ReplyFormat("messages", lambda item: item.get("role") == "assistant", _tools, _whole, _events)
