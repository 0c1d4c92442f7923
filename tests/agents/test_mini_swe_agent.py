"""mini-swe-agent, the real one."""

from interlock.adapters.inprocess.abilities import MINI_SWE_AGENT

from .contract import Contract, program, pytestmark
from .frameworks import Framework

__all__ = ["program", "pytestmark"]


class TestMiniSweAgent(Contract):
    framework = Framework("mini-swe-agent", MINI_SWE_AGENT)
