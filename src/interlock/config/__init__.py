"""The one configuration model."""

from .load import Examined, examine, find, load, load_anyway, user_file
from .model import Config
from .problem import Problem

__all__ = ["Config", "Examined", "Problem", "examine", "find", "load", "load_anyway", "user_file"]
