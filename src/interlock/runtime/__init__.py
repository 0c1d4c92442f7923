"""The run and its supervisor."""

from .incidents import Incidents, StoredIncident
from .opening import Options, open_store
from .run import Run
from .supervisor import Supervisor
from .watch import Judgement, Plugins, Watch

__all__ = [
    "Incidents", "Judgement", "Options", "Plugins", "Run", "StoredIncident", "Supervisor", "Watch", "open_store",
]  # fmt: skip
