"""The dashboard: pages for people in a browser. Reads journals and sends control messages, nothing else."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
