"""The model proxy: before the model's API, for agents that have no hooks, and for tokens and models of those that do.

Needs the extra `proxy`; what is imported here does not.
"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
