"""Chaos: real faults thrown into a real editor, to see whether they are noticed and recovered from."""
