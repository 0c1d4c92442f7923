"""How every command is made, so that all look the same."""

from __future__ import annotations

import math

import typer


def new_app(help_text: str | None = None) -> typer.Typer:
    """An empty command (one function) or group of commands (several)."""
    return typer.Typer(
        help=help_text,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=help_text is not None,
    )


def finite(value: float | None) -> float | None:
    """Refuse what only Python takes for a number; for options that are floats."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number")
    return value
