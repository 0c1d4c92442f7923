"""What all commands share: how they are created, common options, and placeholders in their help."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer
from typer import Option

HubOption = Annotated[str | None, Option("--hub", metavar="URL", help="Runs on other machines: nats://host:port")]


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
    """Reject nan and inf; for float options."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number")
    return value


NAMED = {
    "a": "CHECKPOINT",
    "b": "CHECKPOINT",
    "config": "FILE",
    "cwd": "FOLDER",
    "files": "FILE",
    "host": "ADDRESS",
    "images": "IMAGE",
    "kind": "KIND",
    "kinds": "KIND",
    "label": "LABEL",
    "model": "MODEL",
    "older_than": "DAYS",
    "output": "FILE",
    "path": "PATH",
    "port": "PORT",
    "public": "KEY",
    "role": "ROLE",
    "rules": "PATH",
    "run": "RUN",
    "sensitivity": "LEVEL",
    "session": "FILE",
    "summary": "FILE",
    "timeout": "SECONDS",
    "wanted": "CHECKPOINT",
    "workspace": "FOLDER",
}
"""Placeholders by parameter name, where the type says too little."""

BY_TYPE = {"int": "N", "int range": "N", "float": "N", "float range": "N", "path": "PATH"}


def unify(command: Any) -> None:
    """Give every parameter of a command and its subcommands a placeholder of the same style."""
    for each in getattr(command, "commands", {}).values():
        unify(each)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            _unify_argument(parameter)
        elif parameter.metavar is None and not parameter.is_flag:
            choices = getattr(parameter.type, "choices", None)
            known = NAMED.get(parameter.name) or BY_TYPE.get(parameter.type.name, "TEXT")
            parameter.metavar = "|".join(str(getattr(each, "value", each)) for each in choices) if choices else known


def _unify_argument(argument: Any) -> None:
    name = (argument.metavar or NAMED.get(argument.name) or argument.name.upper()).strip("[].")
    name += "..." if argument.nargs != 1 else ""
    optional = not argument.required

    def shown(ctx: Any, *, usage: bool = False) -> str:
        return f"[{name}]" if usage and optional else name

    argument.make_metavar = shown
