"""The one configuration model."""

from .load import Examined, examine, find, load, load_anyway, user_file
from .model import Config
from .problem import ConfigProblem

__all__ = ["Config", "ConfigProblem", "Examined", "examine", "find", "load", "load_anyway", "user_file"]
