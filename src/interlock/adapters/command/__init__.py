"""Runs any command: `interlock run -- COMMAND`. The front is the command's parent; the owner supervises the run."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
