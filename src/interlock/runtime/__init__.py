"""The run and its supervisor."""

TYPE_CHECKING = False
"""Type checkers take this for true."""

if TYPE_CHECKING:
    from .incidents import Incidents, StoredIncident
    from .judgement import Judgement
    from .opening import Options, open_store
    from .plugins import Plugins
    from .run import Run
    from .supervisor import Supervisor
    from .watch import Watch

_HOME = {
    "Incidents": "incidents", "Judgement": "watch", "Options": "opening", "Plugins": "watch", "Run": "run",
    "StoredIncident": "incidents", "Supervisor": "supervisor", "Watch": "watch", "open_store": "opening",
}  # fmt: skip

__all__ = [
    "Incidents", "Judgement", "Options", "Plugins", "Run", "StoredIncident", "Supervisor", "Watch", "open_store",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: who only replays a trace needs no journal and no checkpoints."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'interlock.runtime' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
