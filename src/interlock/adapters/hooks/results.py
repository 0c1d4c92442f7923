"""What a tool's result says, in whatever shape a client hands it over."""

from __future__ import annotations

import re

import msgspec

EXIT_CODE = re.compile(r"\A(?:Error: )?Exit code:? (\d+)")
EXIT_CODE_LINE = re.compile(r"^(?:Exit Code|exit_code|Process exited with code):? (\d+)", re.MULTILINE)
FAILURE = re.compile(r"\A(?:<tool_use_error>|Error: |Error\b|Exit code [1-9])")


def content_of(response: object) -> str:
    """The text of a result: output and errors of a command, the content of a file, else everything as JSON."""
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


def exit_code_in(words: str) -> int | None:
    """The exit status that a command's result names."""
    found = EXIT_CODE.search(words) or EXIT_CODE_LINE.search(words)
    return int(found[1]) if found else None


def is_failure(words: str) -> bool:
    """Whether a result reads like that of a call that failed, where nothing else says so."""
    return FAILURE.search(words) is not None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
