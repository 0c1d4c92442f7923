"""Judge client: one request to a model, by the Anthropic API or any that speaks OpenAI's Chat Completions."""

from __future__ import annotations

import os
import urllib.request
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ..config import Judge as Settings
from ..core import Usage, from_json

MAX_TOKENS = 600
ANSWER = 256 * 1024
"""Bytes of an answer that are read."""


class _Block(Struct):
    type: str
    text: str = ""


class _AnthropicUsage(Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0


class _AnthropicAnswer(Struct):
    content: list[_Block]
    usage: _AnthropicUsage = _AnthropicUsage()


class _Message(Struct):
    content: str | None = None


class _Choice(Struct):
    message: _Message


class _ChatUsage(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _ChatAnswer(Struct):
    choices: list[_Choice]
    usage: _ChatUsage | None = None


def ask_model(settings: Settings, system: str, text: str) -> tuple[str, Usage]:
    """The model's answer, and what it used. Raises what the connection raises."""
    if settings.api == "anthropic":
        base = settings.url or os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        key = os.environ.get(settings.key_env or "ANTHROPIC_API_KEY", "")
        body: dict[str, object] = {
            "model": settings.model,
            "max_tokens": MAX_TOKENS,
            "system": system,
            "messages": [{"role": "user", "content": text}],
        }
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        answer = from_json(_post(f"{base.rstrip('/')}/v1/messages", body, headers, settings), _AnthropicAnswer)
        said = "".join(block.text for block in answer.content if block.type == "text")
        return said, Usage(input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens)
    base = settings.url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    key = os.environ.get(settings.key_env or "OPENAI_API_KEY", "")
    body = {
        "model": settings.model,
        "max_tokens": MAX_TOKENS,
        "response_format": {"type": "json_object"},
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
    }
    headers = {"authorization": f"Bearer {key}"} if key else {}
    chat = from_json(_post(f"{base.rstrip('/')}/chat/completions", body, headers, settings), _ChatAnswer)
    used = chat.usage or _ChatUsage()
    said = chat.choices[0].message.content or "" if chat.choices else ""
    return said, Usage(input_tokens=used.prompt_tokens, output_tokens=used.completion_tokens)


def _post(url: str, body: dict[str, object], headers: dict[str, str], settings: Settings) -> bytes:
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("detect.judge.url must begin with http:// or https://")
    request = urllib.request.Request(url, msgspec.json.encode(body), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=settings.timeout_seconds) as answer:
        read: bytes = answer.read(ANSWER)
        return read
