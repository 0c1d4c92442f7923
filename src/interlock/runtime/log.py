"""The log: structured, for people or as JSON lines, redacted; on stderr or in a file, the same in every process."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from ..core import BadInput

LEVELS = ("debug", "info", "warning", "error")

JSON, LEVEL, FILE = "INTERLOCK_LOG_JSON", "INTERLOCK_LOG_LEVEL", "INTERLOCK_LOG_FILE"
"""Environment variables with the settings, so that the processes that we start log the same way."""

HANDLE = "INTERLOCK_LOG_HANDLE"
"""The descriptor of a log file, for a process whose stderr is redirected."""

NAME = "interlock"


def choose_log(*, json: bool, level: str | None, file: str | None) -> None:
    """Configure logging for this process and the processes that it starts."""
    if level is not None and level.lower() not in LEVELS:
        raise BadInput(f"there is no log level {level!r}", todo=f"Use one of {', '.join(LEVELS)}")
    chosen = {JSON: "1" if json else "", LEVEL: (level or "").lower(), FILE: str(Path(file).absolute()) if file else ""}
    os.environ.update({name: value for name, value in chosen.items() if value})
    if file:
        _handler(chosen).close()


def is_chosen() -> bool:
    """Whether logging was configured."""
    return any(os.environ.get(name) for name in (JSON, LEVEL, FILE))


def log_for_child() -> tuple[int | None, dict[str, str]]:
    """Duplicate stderr for a child with another stderr; returns the descriptor (caller closes it) and the variables."""
    if not is_chosen() or os.environ.get(FILE):
        return None, {}
    try:
        handle = os.dup(2)
    except OSError:
        return None, {}
    return handle, {HANDLE: str(handle)}


def configure_log(environment: Mapping[str, str] | None = None) -> None:
    """Configure logging from the environment; default: warnings for people on stderr."""
    import structlog

    chosen = os.environ if environment is None else environment
    level = chosen.get(LEVEL) or ("info" if chosen.get(JSON) or chosen.get(FILE) else "warning")
    handler = _handler(chosen)
    terminal = not chosen.get(FILE) and sys.stderr.isatty()
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if chosen.get(JSON)
        else structlog.dev.ConsoleRenderer(colors=terminal, exception_formatter=structlog.dev.plain_traceback)
    )
    shared: list[Any] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Format tracebacks before redaction: an error's message may contain anything.
    rest: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()], processors=[*rest, redact_event, renderer]
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    logger = logging.getLogger(NAME)
    for old in list(logger.handlers):
        logger.removeHandler(old)
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    logger.propagate = False


def redact_event(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Redact a log event."""
    from ..redact import redact_tree

    made = redact_tree({key: value if _is_plain(value) else str(value) for key, value in event.items()})
    return made if isinstance(made, dict) else {}


def _handler(chosen: Mapping[str, str]) -> logging.Handler:
    path, handle = chosen.get(FILE), chosen.get(HANDLE)
    if not path and handle:
        return logging.StreamHandler(os.fdopen(int(handle), "w", encoding="utf-8", errors="replace"))
    if not path:
        return logging.StreamHandler(sys.stderr)
    try:
        return logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        why = f"the log cannot be written ({error.strerror})"
        raise BadInput(why, where=path, todo="Choose another file.") from None


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict | tuple)
