"""Input: keyboard and mouse of a display."""

from .backend import InputBackend, InputError, create_input_backend

__all__ = ["InputBackend", "InputError", "create_input_backend"]
