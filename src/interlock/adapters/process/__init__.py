"""Any process: `interlock run -- COMMAND`. A front that is the command's parent, and an owner that supervises it."""

from ..steps.adapter import SILENT, SPEAKING, ProcessAdapter
from ..steps.client import Steps
from .front import run_command
from .launch import Launch
from .owner_messages import Finished

__all__ = ["SILENT", "SPEAKING", "Finished", "Launch", "ProcessAdapter", "Steps", "run_command"]
