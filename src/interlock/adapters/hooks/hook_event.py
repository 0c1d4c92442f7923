"""HookEvent: a hook's event in the same form for every client; and reading tool results."""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from msgspec import Struct

from ...core import Tool, Usage

Moment = Literal[
    "begin", "prompt", "before", "after", "batch", "model", "settings", "turn_end", "limited", "end", "other"
]  # fmt: skip
"""When a hook fires in a session; `batch` is the complete feed of a turn, `model` a request to the model, `limited` one
that the API rate-limits."""


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """The result of one call."""

    tool: Tool
    content: str = ""
    error: bool | None = None
    exit_code: int | None = None
    duration_ms: float | None = None


class HookEvent(Struct, frozen=True, kw_only=True):
    """One event of a hook. `name` is the client's own name for it, which its reply may have to repeat.

    `tool` is the call of `before`; `outcomes` are the calls of `after` (one) and `batch` (every one of the turn).
    `path` is the file of a `settings` event; `transcript` the file with the conversation; `compacted`
    says that a session restarts because its conversation was compacted; `final` is false if a turn ends but
    the agent continues. `resets_in` is after how many seconds the API may be asked again.
    """

    client: str
    name: str
    moment: Moment
    session: str = ""
    agent: str | None = None
    tool: Tool | None = None
    outcomes: tuple[ToolOutcome, ...] = ()
    content: str = ""
    model: str | None = None
    usage: Usage | None = None
    transcript: str = ""
    cwd: str = ""
    path: str = ""
    compacted: bool = False
    final: bool = True
    resets_in: float | None = None


class TranscriptEntry(Struct, frozen=True, kw_only=True):
    """One line of a transcript: the model's text and usage, and the calls that it has results of.

    Lines with the same `key` belong to one answer of the model; their usage is cumulative.
    """

    key: str = ""
    text: str = ""
    model: str | None = None
    usage: Usage | None = None
    agent: str | None = None
    results: tuple[str, ...] = ()


EXIT_CODE = re.compile(r"\A(?:Error: )?Exit code:? (\d+)")
EXIT_CODE_LINE = re.compile(r"^(?:Exit Code|exit_code|Process exited with code):? (\d+)", re.MULTILINE)
FAILURE = re.compile(r"\A(?:<tool_use_error>|Error: |Error\b|Exit code [1-9])")


def content_of(response: object) -> str:
    """The text of a result: a command's output and errors, a file's content, else everything as JSON."""
    if isinstance(response, str):
        return response
    if response is None:
        return ""
    if isinstance(response, dict):
        if "stdout" in response or "stderr" in response:
            return "\n".join(filter(None, (_string(response.get("stdout")), _string(response.get("stderr")))))
        file = response.get("file")
        if isinstance(file, dict) and isinstance(file.get("content"), str):
            return str(file["content"])
        for key in ("llmContent", "output", "text", "content", "message"):
            if isinstance(response.get(key), str):
                return str(response[key])
    if isinstance(response, list):
        parts = [part.get("text") for part in response if isinstance(part, dict)]
        if parts and all(isinstance(part, str) for part in parts):
            return "\n".join(str(part) for part in parts)
    return msgspec.json.encode(response).decode()


def without(added: re.Pattern[str], words: str) -> str:
    """A result without what its client adds to every one: it differs each time, and says nothing about the call."""
    head, middle, tail = words[:ADDED_WITHIN], words[ADDED_WITHIN:-ADDED_WITHIN], words[-ADDED_WITHIN:]
    if not middle:
        return added.sub("", words)
    return added.sub("", head) + middle + added.sub("", tail)


ADDED_WITHIN = 2000
"""Characters at either end of a result in which a client adds something."""


def exit_code_in(words: str) -> int | None:
    """The exit status that a command's result names."""
    found = EXIT_CODE.search(words) or EXIT_CODE_LINE.search(words)
    return int(found[1]) if found else None


def is_failure(words: str) -> bool:
    """Whether a result's text looks like a failure, if nothing else says so."""
    return FAILURE.search(words) is not None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
