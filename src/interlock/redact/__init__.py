"""The border: what comes from outside is redacted and bounded once, before anything else sees it."""

from .bounds import one_line
from .step_redactor import StepRedactor, withhold
from .text import redact_argv, redact_text, redact_tree

__all__ = ["StepRedactor", "one_line", "redact_argv", "redact_text", "redact_tree", "withhold"]
