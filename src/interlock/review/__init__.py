"""Judge a step before it runs: risk, rationality, rules, shell parsing."""
