"""Agents with hooks: Claude Code, Codex, Gemini CLI, opencode. Wired in for one run, or installed for good."""
