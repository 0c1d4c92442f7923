"""The model proxy: before the model's API, for agents that have no hooks, and for tokens and models of those that do.

Needs the extra `proxy`; what is imported here does not.
"""

from .adapter import PROXIED, ModelChoice, ProxyAdapter, SwitchingAdapter
from .environment import OPENAI, Proxied, address, find_upstreams, redirect_environment, replace_keys, stand_ins
from .fallback import relay_without_owner
from .rewind import Rewind

__all__ = [
    "OPENAI",
    "PROXIED",
    "ModelChoice",
    "Proxied",
    "ProxyAdapter",
    "Rewind",
    "SwitchingAdapter",
    "address",
    "find_upstreams",
    "redirect_environment",
    "relay_without_owner",
    "replace_keys",
    "stand_ins",
]
