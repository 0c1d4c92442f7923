"""A small file for each command or family of commands; no logic."""
