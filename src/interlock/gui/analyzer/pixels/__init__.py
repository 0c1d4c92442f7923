"""What can be told from the pixels alone."""
