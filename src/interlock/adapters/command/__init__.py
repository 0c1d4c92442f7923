"""Any process: `interlock run -- COMMAND`. A front that is the command's parent, and an owner that supervises it."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
