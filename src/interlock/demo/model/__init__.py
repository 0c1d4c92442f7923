"""A scripted model: speaks the wire formats of the big model APIs on loopback, says what its script says.

with ScriptedModel("loop") as model:            # or a list of turns, a dict of scripts, a function of the request
    run_agent(base_url=model.url)
    assert "different approach" in model.requests[-1].text
"""

from .request import ModelRequest
from .script import BUILT_IN, Script, ScriptedCall, ScriptedTurn, Scripts, Tokens, read, run, turns, write
from .server import ScriptedModel

__all__ = [
    "BUILT_IN",
    "ModelRequest",
    "Script",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedTurn",
    "Scripts",
    "Tokens",
    "read",
    "run",
    "turns",
    "write",
]
