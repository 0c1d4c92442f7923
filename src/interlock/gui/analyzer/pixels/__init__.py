"""What can be recognised from the pixels alone."""
