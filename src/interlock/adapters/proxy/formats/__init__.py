"""The wire formats, one file each, behind one interface."""

from __future__ import annotations

from .anthropic import Anthropic
from .chat import Chat
from .form import Call, Flow, Format, Json, Reader, Result
from .gemini import Gemini
from .responses import Responses

__all__ = ["Call", "Flow", "Format", "Json", "Reader", "Result", "format_of"]

FORMATS: dict[str, Format] = {
    "messages": Anthropic(),
    "completions": Chat(),
    "responses": Responses(),
}
GEMINI: Format = Gemini()


def format_of(path: str) -> Format | None:
    """The format that is spoken at this path; None where it is no conversation."""
    path = path.partition("?")[0].rstrip("/")
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return GEMINI
    if path.endswith("completions") and not path.endswith("chat/completions"):
        return None
    return FORMATS.get(path.rpartition("/")[2])
