"""Claude Code transcripts: one JSON line per message, converted to steps; and placeholders for images in results."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...core import Step, Tool, Usage
from .common_format import epoch


class TranscriptUsage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class Block(Struct, kw_only=True):
    """One block of a message's content; only the fields of its type are set."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, object] = {}
    tool_use_id: str | None = None
    content: object = None
    is_error: bool | None = None


class TranscriptMessage(Struct, kw_only=True):
    role: str = ""
    id: str | None = None
    model: str | None = None
    content: str | list[Block] = ""
    usage: TranscriptUsage | None = None


class TranscriptLine(Struct, kw_only=True):
    type: str
    sessionId: str | None = None  # noqa: N815  the transcript's own name
    cwd: str | None = None
    message: TranscriptMessage | None = None
    timestamp: str | None = None
    isSidechain: bool = False  # noqa: N815
    agentId: str | None = None  # noqa: N815
    isMeta: bool = False  # noqa: N815


class Transcript:
    """One session; remembers which messages were charged, so that a split message counts once."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._index = 0
        self._charged: str | None = None

    def steps(self, line: TranscriptLine) -> Iterator[Step]:
        """The steps of one line; a line that is not a message has none."""
        message = line.message
        if message is None or line.type not in ("user", "assistant") or line.isMeta:
            return
        bare = Step(
            run_id=self.run_id,
            index=0,
            role="assistant" if line.type == "assistant" else "user",
            time=epoch(line.timestamp),
            agent=line.agentId or ("subagent" if line.isSidechain else None),
            model=message.model,
        )
        usage = self._charge(message)
        blocks = [Block(type="text", text=message.content)] if isinstance(message.content, str) else message.content
        for block in blocks:
            step = _fill(bare, block)
            if step is not None:
                yield replace(step, index=self._index, usage=usage)
                usage = None
                self._index += 1

    def _charge(self, message: TranscriptMessage) -> Usage | None:
        if message.usage is None or (message.id is not None and message.id == self._charged):
            return None
        self._charged = message.id
        return usage_of(message)


def usage_of(message: TranscriptMessage) -> Usage | None:
    """Token usage of the response this message belongs to."""
    used = message.usage
    if used is None:
        return None
    prompt = used.input_tokens + used.cache_read_input_tokens + used.cache_creation_input_tokens
    return Usage(
        input_tokens=prompt,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_input_tokens,
        cache_write_tokens=used.cache_creation_input_tokens,
    )


def _fill(bare: Step, block: Block) -> Step | None:
    match block.type:
        case "tool_use":
            return replace(bare, kind="tool_call", tool=Tool(block.name or "unknown", block.input, block.id))
        case "tool_result":
            tool = Tool("", {}, block.tool_use_id) if block.tool_use_id else None
            return replace(
                bare, role="tool", kind="tool_result", content=_text(block.content), tool=tool, error=block.is_error
            )
        case "text" | "thinking":
            return replace(bare, content=block.text or block.thinking or "")
        case _:
            return None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text", "")) or image_placeholder(part) for part in content if isinstance(part, dict)
        )
    return "" if content is None else msgspec.json.encode(content).decode()


TAIL = 65536
"""Characters of an image that are read; a PNG ends with its checksum."""
_PLACES = ("image", "image_url", "input_image")


def image_placeholder(block: Mapping[str, object]) -> str:
    """A short placeholder for an image, derived from its content; empty if the block is not an image.

    The letter before the number prevents it from being masked as an id or a time when results are compared.
    """
    if block.get("type") not in _PLACES:
        return ""
    data = _data(block)
    return f"[image x{zlib.crc32(data[-TAIL:].encode('utf-8', 'replace')) + len(data):08x}]"


def _data(block: Mapping[str, object]) -> str:
    """The image data or its address, wherever the provider puts it."""
    for key in ("source", "image_url", "data", "url", "file_id"):
        value = block.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            return _data(value)
    return ""
