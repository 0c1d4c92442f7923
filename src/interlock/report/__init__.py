"""Reading for people: one run as a story, all runs as a fleet, and the report made of them."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
