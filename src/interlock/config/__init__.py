"""The one configuration model."""

from .model import Config

__all__ = ["Config"]
