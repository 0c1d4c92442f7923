"""Shell: what a script would run, read from its syntax tree."""

from .model import Command, KnownFile, PipeContent, Redirect, Script
from .reader import read_code, read_script

__all__ = ["Command", "KnownFile", "PipeContent", "Redirect", "Script", "read_code", "read_script"]
