"""One style for the placeholders in help: capitals that say what belongs there."""

from __future__ import annotations

from typing import Any

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
"""Parameters by name, where their type says too little."""

BY_TYPE = {"int": "N", "int range": "N", "float": "N", "float range": "N", "path": "PATH"}


def unify(command: Any) -> None:
    """Give every parameter of a command, and of the commands below it, a placeholder of the same style."""
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
