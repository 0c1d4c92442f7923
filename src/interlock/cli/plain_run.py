"""A fast parser for plain `interlock run` command lines: the full parser takes longer than everything else.

What is not plain is left to the full parser: abbreviations, values that begin with a dash, mistakes, --help.
"""

from __future__ import annotations

import os

TEXTS = frozenset(("--task", "--name", "--issue", "--hub"))
PATHS = frozenset(("--config", "--workspace", "--contract", "--summary"))
LISTS = frozenset(("--label", "--may-change", "--protect", "--done-when", "--constraint", "--goal"))
NUMBERS = {"--max-steps": int, "--max-cost": float, "--max-minutes": float}
MOST_DIGITS = 15
CHOICES = {"--steps": ("auto", "stdout", "off"), "--contain": ("off", "auto", "guard", "fence")}
FLAGS = {
    "--observe": ("observe", True),
    "--attended": ("attended", True),
    "--leave-running": ("leave_running", True),
    "--checkpoints": ("checkpoints", True),
    "--no-checkpoints": ("checkpoints", False),
    "--proxy": ("proxy", True),
    "--no-proxy": ("proxy", False),
}

COMPLETION = "_INTERLOCK_COMPLETE"
"""The variable with which a shell asks for completions."""


def read_plain(arguments: list[str]) -> dict[str, object] | None:
    """The RunOptions of an `interlock run` command line; None if it is another command or not plain."""
    if arguments[:1] != ["run"] or "--" not in arguments or COMPLETION in os.environ:
        return None
    dashes = arguments.index("--")
    words, command = iter(arguments[1:dashes]), arguments[dashes + 1 :]
    found: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for word in words:
        name, value = FLAGS[word] if word in FLAGS else _read_option(word, next(words, "-"))
        if value is None or name in found:
            return None
        if word in LISTS:
            lists.setdefault(name, []).append(str(value))
        else:
            found[name] = value
    if not command:
        return None
    return {"command": tuple(command), **found, **{name: tuple(values) for name, values in lists.items()}}


def run_plain(options: dict[str, object]) -> None:
    """Start a run with these options; its owner is forked once everything is imported."""
    import gc

    # Imported modules stay: garbage collection takes a tenth of the time.
    gc.disable()
    from ..adapters.command import fork_owner
    from ..contain import try_early
    from ..core import share_heap

    share_heap()

    if options.get("contain") != "off":
        try_early(fenced=options.get("contain") == "fence")
    from .exit_status import exit_with
    from .run_start import RunOptions, start_run

    if fork_owner():
        return
    gc.enable()
    exit_with(lambda: start_run(RunOptions(**options)))  # type: ignore[arg-type]


def _read_option(option: str, value: str) -> tuple[str, object]:
    """The name and value of an option; the value is None if it is not plain."""
    read: object = None
    if value.startswith("-"):
        pass
    elif option in TEXTS or option in LISTS or value in CHOICES.get(option, ()):
        read = value
    elif option in PATHS:
        from pathlib import Path

        read = Path(value)
    elif option in NUMBERS and value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS:
        read = NUMBERS[option](value)
    return option[2:].replace("-", "_"), read
