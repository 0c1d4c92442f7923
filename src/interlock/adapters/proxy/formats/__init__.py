"""The wire formats, one file each, behind one interface."""

from __future__ import annotations

from .anthropic import AnthropicFormat
from .chat import ChatFormat
from .gemini import GeminiFormat
from .interface import Json, ModelCall, ReplyReader, StreamAction, ToolResult, WireFormat
from .responses import ResponsesFormat

__all__ = ["Json", "ModelCall", "ReplyReader", "StreamAction", "ToolResult", "WireFormat", "format_of"]

FORMATS: dict[str, WireFormat] = {
    "messages": AnthropicFormat(),
    "completions": ChatFormat(),
    "responses": ResponsesFormat(),
}
GEMINI: WireFormat = GeminiFormat()


def format_of(path: str) -> WireFormat | None:
    """The format of requests to this path; None if it is not a conversation."""
    path = path.partition("?")[0].rstrip("/")
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return GEMINI
    if path.endswith("completions") and not path.endswith("chat/completions"):
        return None
    return FORMATS.get(path.rpartition("/")[2])
