"""The controller: score, strategies, effectiveness."""
