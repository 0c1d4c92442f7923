"""What a run's command printed: copied to where it belongs, kept with the run, redacted and bounded."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
