"""The commands: a small module for each command or family of commands, without logic."""
