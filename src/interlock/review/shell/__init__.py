"""Shell: what a script would run, read from its syntax tree."""

from .model import Command, Flow, Redirect, Script
from .reader import read_code, read_script

__all__ = ["Command", "Flow", "Redirect", "Script", "read_code", "read_script"]
