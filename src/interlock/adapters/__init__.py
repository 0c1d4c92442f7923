"""Adapters: how Interlock reaches each kind of agent."""
