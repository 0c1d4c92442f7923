"""The version, apart so that `interlock --version` imports nothing else."""

__version__ = "0.1.0"
