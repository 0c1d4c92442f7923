"""The border: what comes from outside is redacted and bounded once, before anything else sees it."""

from .admission import Border, blank
from .bounds import one_line
from .redaction import redact_argv, redact_text, redact_tree

__all__ = ["Border", "blank", "one_line", "redact_argv", "redact_text", "redact_tree"]
