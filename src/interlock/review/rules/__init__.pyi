from .compiled import RuleSet as RuleSet
from .load import read_rules as read_rules
from .load import rule_set as rule_set
from .model import Match as Match
from .model import Rule as Rule
from .model import RuleFamily as RuleFamily
