"""ModelRequest: what a client asked the model, as tests look at it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SECRET = frozenset(("authorization", "x-api-key", "x-goog-api-key", "cookie", "api-key"))
"""Headers whose value is kept as its length only."""


@dataclass(frozen=True)
class ModelRequest:
    """One request. `api` is anthropic, responses, chat, gemini or other; `turn` how often the model has spoken."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes = b""
    body: dict[str, Any] = field(default_factory=dict)
    api: str = "other"
    turn: int = 0
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    has_tools: bool = False
    stream: bool = False

    @cached_property
    def text(self) -> str:
        """The whole body as text, for "the next request contains ..."."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def model(self) -> str:
        """The model that was asked for."""
        if self.api == "gemini":
            return self.path.split("/models/", 1)[-1].split(":", 1)[0]
        return str(self.body.get("model", ""))

    @property
    def history(self) -> list[dict[str, Any]]:
        """The conversation, as this format has it."""
        items = self.body.get({"responses": "input", "gemini": "contents"}.get(self.api, "messages"), [])
        return [{"role": "user", "content": items}] if isinstance(items, str) else items
