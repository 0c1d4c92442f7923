"""From a review's verdict to a decision, in the measure of what the adapter can do."""

from __future__ import annotations

from ..core import PROCEED, Capability, Decision, DecisionAction, Message, MessageMeta, Review, Step


def decide_call(review: Review | None, step: Step, capabilities: frozenset[Capability], *, observe: bool) -> Decision:
    """Allow proceeds, warn proceeds with a message, modify rewrites or denies, block denies."""
    if review is None or review.verdict == "allow" or observe:
        return PROCEED
    if review.verdict == "warn":
        return Decision(messages=(_message(review, step),)) if "inject" in capabilities else PROCEED
    if review.verdict == "modify" and review.rewrite is not None and "rewrite" in capabilities:
        return Decision("rewrite", arguments=review.rewrite, reason=refusal(review))
    return degrade(Decision("deny", reason=refusal(review)), capabilities)


def degrade(decision: Decision, capabilities: frozenset[Capability]) -> Decision:
    """The nearest thing that the adapter can do; what it cannot do at all proceeds and says so."""
    action: DecisionAction = decision.action
    while action != "proceed" and action not in capabilities:
        action = FALLBACK[action]
    if action == decision.action:
        return decision
    if action == "proceed":
        return Decision(messages=decision.messages, reason=f"not applied, the adapter cannot {decision.action}")
    return Decision(action, decision.messages, reason=decision.reason)


FALLBACK: dict[DecisionAction, DecisionAction] = {
    "stop": "deny",
    "defer": "hold",
    "hold": "deny",
    "rewrite": "deny",
    "deny": "proceed",
}
"""What comes next where the adapter cannot do a thing: refusing is the nearest to stopping and to waiting."""


def refusal(review: Review) -> str:
    """The message for the agent, in one or two sentences."""
    rule = f" [{', '.join(review.rules)}]" if review.rules else ""
    instead = f" Instead: {review.instead}" if review.instead else ""
    return f"{review.reason or 'This call was judged too dangerous.'}{rule}{instead}"


def _message(review: Review, step: Step) -> Message:
    meta = MessageMeta(
        intervention="review",
        issue=review.rules[0] if review.rules else "risk",
        time=step.time or 0.0,
        run_id=step.run_id,
        step=step.index,
    )
    return Message(f"Careful: {refusal(review)}", meta=meta)
