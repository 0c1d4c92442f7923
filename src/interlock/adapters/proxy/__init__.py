"""The model proxy: before the model's API, for agents that have no hooks, and for tokens and models of those that do.

Needs the extra `proxy`; what is imported here does not.
"""

from .adapter import PROXIED, ModelChoice, ProxyAdapter, Switched
from .environment import Proxied, find_upstreams, point

__all__ = ["PROXIED", "ModelChoice", "Proxied", "ProxyAdapter", "Switched", "find_upstreams", "point"]
