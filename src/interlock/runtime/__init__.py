"""The run and its supervisor."""

from .._lazy import lazy

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .incidents import Incidents, StoredIncident
    from .judgement import Judgement
    from .opening import Options, open_store
    from .plugins import Plugins
    from .run import Run
    from .supervisor import Supervisor
    from .watch import Watch

__all__ = [
    "Incidents", "Judgement", "Options", "Plugins", "Run", "StoredIncident", "Supervisor", "Watch", "open_store",
]  # fmt: skip

# Who only replays a trace needs no journal and no checkpoints.
__getattr__ = lazy(
    __name__,
    {
        "incidents": ("Incidents", "StoredIncident"),
        "judgement": ("Judgement",),
        "opening": ("Options", "open_store"),
        "plugins": ("Plugins",),
        "run": ("Run",),
        "supervisor": ("Supervisor",),
        "watch": ("Watch",),
    },
)
