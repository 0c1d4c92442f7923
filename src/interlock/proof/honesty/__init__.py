"""Tests kept honest: what changed about tests and the rules that code is checked by, told as facts."""

from .comparison import compare_edits, compare_file, compare_tests
from .files import is_checked_by

__all__ = ["compare_edits", "compare_file", "compare_tests", "is_checked_by"]
