"""A scripted model: speaks the wire formats of the big model APIs on loopback, says what its script says.

with ScriptedModel("loop") as model:            # or a list of turns, a dict of scripts, a function of the request
    run_agent(base_url=model.url)
    assert "different approach" in model.requests[-1].text
"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
