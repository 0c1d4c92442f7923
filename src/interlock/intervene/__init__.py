"""The five interventions as pure functions, and their message templates."""
