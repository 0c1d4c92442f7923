"""Any process: `interlock run -- COMMAND`. A front that is the command's parent, and an owner that supervises it."""

from .adapter import SILENT, SPEAKING, ProcessAdapter
from .client import Steps
from .front import Launch, run_command
from .talk import Finished

__all__ = ["SILENT", "SPEAKING", "Finished", "Launch", "ProcessAdapter", "Steps", "run_command"]
