"""The first section of a run's report: each claim with its verdict, and what changed about the tests."""

from __future__ import annotations

from ...journal_records import ProofRecord
from ...proof import Verdict
from ..proof import MEANS
from ..words import fact_line
from .element import Html, el, join, prose

PROOF_NOTE = "what the agent claims, against the checks that ran"


def proof(found: ProofRecord) -> Html:
    """The table of claims, then the facts about tests and checking rules."""
    rows = [
        el(
            "tr",
            None,
            el("td", None, _verdict(each.verdict)),
            el("td", None, el("q", None, each.claim.text), el("small", None, f" step {each.claim.step}")),
            el("td", None, prose(each.why)),
        )
        for each in found.claims
    ]
    head = el("tr", None, *(el("th", None, word) for word in ("Verdict", "Claim", "Evidence")))
    parts = [el("div", {"class": "scroll"}, el("table", {"class": "proof"}, head, *rows))] if rows else []
    if found.contract:
        parts.append(el("h3", None, "Contract"))
        parts.append(el("ul", {"class": "test-facts"}, *(el("li", None, prose(line)) for line in found.contract)))
    if found.tests:
        parts.append(el("h3", None, "Tests and checking rules, from the run's start to its end"))
        parts.append(el("ul", {"class": "test-facts"}, *(el("li", None, fact_line(fact)) for fact in found.tests)))
    if found.ending:
        parts.append(el("p", {"class": "ending"}, prose(f"{found.ending[:1].upper()}{found.ending[1:]}.")))
    if found.tree:
        parts.append(el("p", {"class": "legend"}, f"Files as of checkpoint {found.tree}."))
    return join(parts)


def _verdict(verdict: Verdict) -> Html:
    return el("span", {"class": f"verdict {verdict}", "title": MEANS[verdict]}, verdict)
