"""The output of a run's command: forwarded, and kept with the run, redacted and bounded."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
