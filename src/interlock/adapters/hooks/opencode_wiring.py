"""opencode for one run: our plugin beside the user's, by its inline configuration."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ...core import BadInput, from_json
from .opencode import OpencodeDialect
from .wiring import RunAddress, Wired

PLUGIN = Path(__file__).with_name("opencode_plugin.js")
INLINE = "OPENCODE_CONFIG_CONTENT"
"""Configuration as the value of a variable; opencode merges it over its files."""

NOT_A_SESSION = frozenset(
    ("-v", "--version", "-h", "--help", "acp", "agent", "auth", "completion", "debug", "export", "github", "import",
     "mcp", "models", "plugin", "pr", "session", "stats", "uninstall", "upgrade", "attach", "db", "providers")
)  # fmt: skip
VALUES = frozenset(
    ("-m", "--model", "-s", "--session", "--agent", "--format", "-f", "--file", "--title", "--attach", "--port",
     "--variant", "--dir", "--command", "--log-level", "--hostname", "--prompt")
)  # fmt: skip
"""Options that take a value."""


class OpencodeWiring:
    """`arguments` are the words after the client's own."""

    client = OpencodeDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = _message(arguments)

    def wire(self, place: RunAddress) -> Wired:
        plugin = place.folder / "interlock.js"
        plugin.write_bytes(PLUGIN.read_bytes())
        plugin.chmod(0o400)
        given = _given()
        present = given.get("plugin")
        given["plugin"] = [*(present if isinstance(present, list) else []), plugin.as_uri()]
        environment = {INLINE: msgspec.json.encode(given).decode()}
        argv, headless = (*self._command, *self._arguments), self._arguments[:1] == ("run",)
        return Wired(argv=argv, environment=environment, files=(plugin,), headless=headless)


def _given() -> dict[str, object]:
    """What the user has in that variable."""
    try:
        return from_json(os.environ.get(INLINE) or "{}", dict[str, object])
    except msgspec.DecodeError as error:
        raise BadInput(f"it is not JSON ({error})", where=INLINE, todo="Fix or unset it.") from None


def _message(arguments: tuple[str, ...]) -> str:
    """The message of `opencode run MESSAGE...`."""
    if not arguments or arguments[0] != "run":
        return ""
    words, previous = [], ""
    for word in arguments[1:]:
        if not word.startswith("-") and previous not in VALUES:
            words.append(word)
        previous = word
    return " ".join(words)
