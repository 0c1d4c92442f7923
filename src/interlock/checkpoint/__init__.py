"""Snapshot, diff, restore and undo of a workspace."""
