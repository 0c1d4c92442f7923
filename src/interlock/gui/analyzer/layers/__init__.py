"""Layers of evidence, one file each."""
