"""Proof of done: claims in an agent's words, the checks that ran, and verdicts that bind the one to the other."""

from .honesty import compare_tests, is_checked_by
from .model import CheckRun, Claim, ClaimKind, ClaimVerdict, Outcome, TestFact, Verdict
from .trace_tests import TraceTests
from .tracker import ChangedSince, ProofTracker

__all__ = [
    "ChangedSince", "CheckRun", "Claim", "ClaimKind", "ClaimVerdict", "Outcome", "ProofTracker", "TestFact",
    "TraceTests", "Verdict",
    "compare_tests", "is_checked_by",
]  # fmt: skip
