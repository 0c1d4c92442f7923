"""How many files a call names at once, for the limit `batch_size`."""

from __future__ import annotations

from ..calls import read_call
from ..core import Step


def named_files(step: Step) -> int:
    """The files that a call names: those that it lists, those that its commands work on, or what the agent declares."""
    if step.paths is not None:
        return max(len(step.paths.read), len(step.paths.written), len(step.paths.deleted))
    if step.tool is None:
        return 0
    reading = read_call(step.tool.name, step.tool.arguments)
    if reading.kind == "shell":
        files = [effect for effect in reading.effects if effect.file]
        # A copy names each file twice.
        copying = {effect.by for effect in files if effect.verb in ("read", "move")}
        return len({effect.target for effect in files if effect.verb != "write" or effect.by not in copying})
    lists = [value for value in step.tool.arguments.values() if isinstance(value, list)]
    return max((len(value) for value in lists), default=0)
