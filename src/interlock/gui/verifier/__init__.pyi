from ...journal_records import FileComparison as FileComparison
from ...journal_records import MatchStatus as MatchStatus
from ...journal_records import VerificationResult as VerificationResult
from .similarity import Similarity as Similarity
from .similarity import similarity as similarity
from .verifier import FileVerifier as FileVerifier
