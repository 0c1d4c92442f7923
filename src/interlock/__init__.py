"""Interlock keeps autonomous agents and unattended sessions on track.

from interlock import Supervisor

with Supervisor.open(task="fix the tests", workspace=".") as supervisor:
    decision = supervisor.ask(supervisor.call("bash", {"command": "pytest -q"}))
"""

from ._lazy import lazy
from ._version import __version__

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .adapters.inprocess import RunStopped, Session, Supervision
    from .config import Config
    from .core import (
        Adapter,
        Applied,
        CheckpointInfo,
        Clause,
        Context,
        Contract,
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
    from .decide import Situation, Strategy
    from .detect import Detector, Setting
    from .intervene import Continue, Custom, RecoveryNeeded, Stopped
    from .journal import JournalReader, Store
    from .review import review_command
    from .runtime import Plugins, Run, Supervisor

__all__ = [
    "Adapter", "Applied", "CheckpointInfo", "Clause", "Config", "Context", "Continue", "Contract", "Custom", "Decision",
    "Detector", "Directive", "Goal", "InterlockError", "Intervention", "Issue", "JournalReader", "Limits", "Message",
    "Plugins", "RecoveryNeeded", "Review", "Run", "RunSpec", "RunStopped", "Seen", "Session", "Setting", "Situation",
    "Step", "Stopped", "Store", "Strategy", "Supervision", "Supervisor", "Tool", "Usage", "__version__",
    "review_command",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "adapters.inprocess": ("RunStopped", "Session", "Supervision"),
        "config": ("Config",),
        "core": (
            "Adapter", "Applied", "CheckpointInfo", "Clause", "Context", "Contract", "Decision", "Directive", "Goal",
            "InterlockError", "Intervention", "Issue", "Limits", "Message", "Review", "RunSpec", "Seen", "Step", "Tool",
            "Usage",
        ),
        "decide": ("Situation", "Strategy"),
        "detect": ("Detector", "Setting"),
        "intervene": ("Continue", "Custom", "RecoveryNeeded", "Stopped"),
        "journal": ("JournalReader", "Store"),
        "review": ("review_command",),
        "runtime": ("Plugins", "Run", "Supervisor"),
    },
)  # fmt: skip


def __dir__() -> list[str]:
    return __all__
