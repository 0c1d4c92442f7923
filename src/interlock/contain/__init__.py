"""Containment: the agent works as before, but its supervisor is out of its reach."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
