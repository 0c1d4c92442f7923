"""Pydantic AI, the real one."""

from interlock.adapters.inprocess.abilities import PYDANTIC_AI

from .contract import Contract, program, pytestmark
from .frameworks import Framework

__all__ = ["program", "pytestmark"]


class TestPydanticAI(Contract):
    framework = Framework("pydantic-ai", PYDANTIC_AI)
