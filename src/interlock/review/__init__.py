"""Judge a step before it runs: risk, rationality, rules, shell parsing."""

from .command import Judge, review_command
from .reviewer import Reviewer
from .rough import rough_review
from .rules import Rule, RuleSet, rule_set

__all__ = ["Judge", "Reviewer", "Rule", "RuleSet", "review_command", "rough_review", "rule_set"]
