"""The run and its supervisor."""

from .._lazy import lazy

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .assembly import Options, open_store
    from .decision_pipeline import DecisionPipeline
    from .incidents import Incidents, StoredIncident
    from .plugins import Plugins
    from .run import Run
    from .step_outcome import StepOutcome
    from .supervisor import Supervisor

__all__ = [
    "DecisionPipeline", "Incidents", "Options", "Plugins", "Run", "StepOutcome", "StoredIncident", "Supervisor",
    "open_store",
]  # fmt: skip

# Who only replays a trace needs no journal and no checkpoints.
__getattr__ = lazy(
    __name__,
    {
        "incidents": ("Incidents", "StoredIncident"),
        "step_outcome": ("StepOutcome",),
        "assembly": ("Options", "open_store"),
        "plugins": ("Plugins",),
        "run": ("Run",),
        "supervisor": ("Supervisor",),
        "decision_pipeline": ("DecisionPipeline",),
    },
)
