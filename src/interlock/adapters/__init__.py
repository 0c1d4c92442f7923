"""How Interlock reaches each kind of agent."""
