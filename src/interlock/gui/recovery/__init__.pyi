from .actions import VOCABULARY as VOCABULARY
from .actions import ActionRefused as ActionRefused
from .actions import parse_action as parse_action
from .executor import RecoveryExecutor as RecoveryExecutor
from .executor import RecoveryResult as RecoveryResult
