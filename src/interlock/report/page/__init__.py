"""One self-contained HTML page: no script, nothing from elsewhere, everything escaped."""
