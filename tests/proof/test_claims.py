"""What an agent states as a fact is a claim; plans, hopes, conditions, quotations and denials are not."""

from __future__ import annotations

from interlock.proof.claims import read_claims

from .claim_sentences import CLAIMS, OTHERS

PRECISION, RECALL = 0.97, 0.85


def test_claims_are_told_from_what_only_looks_like_one() -> None:
    wrong = [(text, [each.kind for each in found]) for text in OTHERS if (found := read_claims(text))]
    missed = [(kind, text) for kind, text in CLAIMS if kind not in [each.kind for each in read_claims(text)]]
    told = len(CLAIMS) - len(missed)
    assert len(CLAIMS) + len(OTHERS) >= 300
    assert told / (told + len(wrong)) >= PRECISION, wrong
    assert told / len(CLAIMS) >= RECALL, missed
