"""Judge a step before it runs: risk, rationality, rules, shell parsing."""

from .command import Judge, review_command
from .reviewer import Reviewer
from .rules import Rule, RuleSet, rule_set

__all__ = ["Judge", "Reviewer", "Rule", "RuleSet", "review_command", "rule_set"]
