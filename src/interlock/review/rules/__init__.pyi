from .load import read_rules as read_rules
from .load import rule_set as rule_set
from .matching import Hit as Hit
from .matching import RuleSet as RuleSet
from .model import Match as Match
from .model import Rule as Rule
