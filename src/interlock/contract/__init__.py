"""Contract: what a run may and must do, from configuration, task and options; and which calls break it."""

from .call_check import PREFIX, ContractCheck, file_rule
from .file_rules import broken_by
from .progress import advance, work_items
from .sources import agree, common_hosts, given, protect_itself
from .task_words import clauses_in

__all__ = [
    "PREFIX", "ContractCheck", "advance", "agree", "broken_by", "clauses_in", "common_hosts", "file_rule", "given",
    "protect_itself", "work_items",
]  # fmt: skip
