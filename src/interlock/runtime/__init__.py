"""The run and its supervisor."""
