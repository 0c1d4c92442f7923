"""Communication between processes: unix sockets and the NATS hub."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
