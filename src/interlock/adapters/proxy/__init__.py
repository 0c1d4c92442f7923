"""The model proxy: supervises agents without hooks, and counts tokens and switches models of those with hooks.

Needs the extra `proxy`, except for what is imported here.
"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
