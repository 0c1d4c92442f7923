"""Interlock keeps autonomous agents and unattended sessions on track.

from interlock import Supervisor

with Supervisor.open(task="fix the tests", workspace=".") as supervisor:
    decision = supervisor.ask(supervisor.call("bash", {"command": "pytest -q"}))
"""

from ._version import __version__

TYPE_CHECKING = False
"""Type checkers take this for true; importing `typing` for it would double the time of an import."""

if TYPE_CHECKING:
    from .config import Config
    from .core import (
        Adapter,
        Applied,
        CheckpointInfo,
        Context,
        Decision,
        Directive,
        Goal,
        InterlockError,
        Intervention,
        Issue,
        Limits,
        Message,
        Review,
        RunSpec,
        Seen,
        Step,
        Tool,
        Usage,
    )
    from .detect import Detector, Setting
    from .intervene import Continue, Custom, RecoveryNeeded, Stopped
    from .journal import JournalReader, Store
    from .review import review_command
    from .runtime import Plugins, Run, Supervisor

_HOMES = {
    "config": ("Config",),
    "core": (
        "Adapter", "Applied", "CheckpointInfo", "Context", "Decision", "Directive", "Goal", "InterlockError",
        "Intervention", "Issue", "Limits", "Message", "Review", "RunSpec", "Seen", "Step", "Tool", "Usage",
    ),
    "detect": ("Detector", "Setting"),
    "intervene": ("Continue", "Custom", "RecoveryNeeded", "Stopped"),
    "journal": ("JournalReader", "Store"),
    "review": ("review_command",),
    "runtime": ("Plugins", "Run", "Supervisor"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Adapter", "Applied", "CheckpointInfo", "Config", "Context", "Continue", "Custom", "Decision", "Detector",
    "Directive", "Goal", "InterlockError", "Intervention", "Issue", "JournalReader", "Limits", "Message", "Plugins",
    "RecoveryNeeded", "Review", "Run", "RunSpec", "Seen", "Setting", "Step", "Stopped", "Store", "Supervisor", "Tool",
    "Usage", "__version__", "review_command",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import interlock` itself costs nothing."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'interlock' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
