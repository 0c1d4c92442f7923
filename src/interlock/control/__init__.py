"""The control protocol: messages, the state machine of a run's endpoint, and a controller's side of it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
