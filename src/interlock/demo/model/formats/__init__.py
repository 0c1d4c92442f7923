"""The wire formats, one file each: how to read a request of it, and how to write an answer whole or as events."""

from . import anthropic, chat, gemini, responses
from .answer import Events, ModelReply, ReplyFormat

FORMATS: dict[str, ReplyFormat] = {
    "anthropic": anthropic.FORMAT,
    "responses": responses.FORMAT,
    "chat": chat.FORMAT,
    "gemini": gemini.FORMAT,
}

__all__ = ["FORMATS", "Events", "ModelReply", "ReplyFormat"]
