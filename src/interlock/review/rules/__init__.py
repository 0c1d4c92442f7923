"""Rules as data: one YAML file per family, with the cases that prove each rule beside it."""

from .compiled import RuleSet
from .load import read_rules, rule_set
from .model import Match, Rule, RuleFamily

__all__ = ["Match", "Rule", "RuleFamily", "RuleSet", "read_rules", "rule_set"]
