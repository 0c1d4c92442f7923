"""A run's folder and its SQLite file; reading and following it."""
