"""LangChain and LangGraph, the real ones."""

from interlock.adapters.inprocess.abilities import LANGCHAIN

from .contract import Contract, program, pytestmark
from .frameworks import Framework

__all__ = ["program", "pytestmark"]


class TestLangChain(Contract):
    framework = Framework("langchain", LANGCHAIN)
