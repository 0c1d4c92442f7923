"""The wire formats, one file each: how to read a request of it, and how to write an answer whole or as events."""

from . import anthropic, chat, gemini, responses
from .answer import Answer, Events, Format

FORMATS: dict[str, Format] = {
    "anthropic": anthropic.FORMAT,
    "responses": responses.FORMAT,
    "chat": chat.FORMAT,
    "gemini": gemini.FORMAT,
}

__all__ = ["FORMATS", "Answer", "Events", "Format"]
