"""Start, freeze, thaw, limit and end a tree of processes."""
