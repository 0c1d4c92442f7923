"""The model proxy: before the model's API, for agents that have no hooks, and for tokens and models of those that do.

Needs the extra `proxy`; what is imported here does not.
"""

from .adapter import PROXIED, ModelChoice, ProxyAdapter, Switched
from .back import WayBack
from .environment import OPENAI, Proxied, address, find_upstreams, point
from .lost import relay_without_owner

__all__ = [
    "OPENAI",
    "PROXIED",
    "ModelChoice",
    "Proxied",
    "ProxyAdapter",
    "Switched",
    "WayBack",
    "address",
    "find_upstreams",
    "point",
    "relay_without_owner",
]
