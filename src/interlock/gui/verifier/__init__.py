"""Verification: are the files on disk what the script meant?"""

from ...records.gui import FileComparison, MatchStatus, VerificationResult
from .similarity import Similarity, similarity
from .verifier import FileVerifier

__all__ = ["FileComparison", "FileVerifier", "MatchStatus", "Similarity", "VerificationResult", "similarity"]
