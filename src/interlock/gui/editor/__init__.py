"""The editor: VS Code as code-server in a browser, with a profile that makes typing exact."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
