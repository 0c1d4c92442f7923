"""The sections of a run's report: first its claims with their verdicts, then tables and lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core import PAUSE
from ...journal_records import ProofRecord
from ...proof import Verdict
from ..document import Chain, Document, RungUse, strongest_first
from ..episodes import ControlCommand, Problem
from ..narrative import length, many
from ..pictures import ReportPicture
from ..proof import MEANS
from ..words import fact_line, plain
from .element import Html, el, join, prose

MEANING = {
    "soft_correction": "one hint about the problem",
    "context_reinforcement": "the request, its goals and limits, repeated",
    "resource_throttling": "tighter limits, enforced",
    "checkpoint_rollback": "files restored to a safe checkpoint",
    "emergency_stop": "stop first, then report",
    PAUSE: "the run needs you",
}

OUTCOMES = {
    "success": ("worked", "it worked"),
    "failure": ("failed", "it did not work"),
    "pending": ("open", "its effect is unknown"),
    "held_back": ("held", "it was held back"),
    "not_applied": ("held", "it could not be applied"),
}

DOTS = 40


def section(title: str, *children: object, note: str = "", name: str = "") -> Html:
    """A section with a heading; nothing if there is nothing in it."""
    heading = el("h2", None, title, el("small", None, note) if note else None)
    return el("section", {"id": name or title.lower().replace(" ", "-")}, heading, *children)


def clock(time: float, form: str = "%H:%M:%S") -> str:
    """A time of day on this machine's clock."""
    try:
        return datetime.fromtimestamp(time).strftime(form)
    except (OverflowError, OSError, ValueError):
        return ""


def ladder(rungs: Sequence[RungUse], *, ended: bool) -> Html:
    """The ladder as a picture, the strongest rung on top: a bar that grows with the level, a dot for each use, its
    colour the result. Of a run that has ended nothing more will be known."""
    rows = []
    for rung in strongest_first(rungs):
        dots = [
            *["worked"] * rung.worked,
            *["failed"] * rung.failed,
            *["open"] * rung.open,
            *["held"] * rung.held_back,
        ]
        shown = join(el("i", {"class": f"dot {kind}", "title": kind}) for kind in dots[:DOTS])
        more = el("span", {"class": "more"}, f"+{len(dots) - DOTS:,}") if len(dots) > DOTS else None
        said = f"{rung.made:,}×" if rung.made else "not needed"
        rows.append(
            el(
                "li",
                {"class": f"rung rung{rung.level}{'' if rung.made else ' unused'}"},
                el("span", {"class": f"bar bar{rung.level}"}),
                el(
                    "span",
                    {"class": "name"},
                    el("b", None, plain(rung.type)),
                    el("small", None, MEANING.get(rung.type, "")),
                ),
                el("span", {"class": "dots"}, shown, more),
                el("span", {"class": "count"}, said),
            )
        )
    unjudged = "not judged: the run ended first" if ended else "unknown so far"
    legend = el(
        "p",
        {"class": "legend"},
        *(
            el("span", None, el("i", {"class": f"dot {kind}"}), f" {word} ")
            for kind, word in (
                ("worked", "worked"), ("failed", "did not work"), ("open", unjudged),
                ("held", "postponed or not applied"),
            )
        ),
    )  # fmt: skip
    return join((el("ol", {"class": "ladder"}, *rows), legend))


def episodes(found: Iterable[Problem]) -> Html:
    """What the run got stuck on: one card each, with what was tried in order, what that achieved and what it cost."""
    return el("div", {"class": "chains"}, *(_episode(each) for each in found))


def _episode(problem: Problem) -> Html:
    took = length((problem.closed_at or problem.updated_at) - problem.opened_at)
    facts = [plain(problem.type), problem.agent, f"since step {problem.opened_step}", f"{clock(problem.opened_at)}"]
    facts.append(f"for {took}")
    if problem.relapses:
        facts.append("came back once" if problem.relapses == 1 else f"came back {problem.relapses:,} times")
    came = "open" if problem.open else "good" if problem.worked else "over"
    chips = [
        el(
            "li",
            {"class": f"chip rung{each.level}", "title": each.reason or None},
            el("b", None, f"{each.step}"),
            f" {each.name} ",
            el("i", {"class": f"dot {DOT_OF.get(each.outcome, 'open')}"}),
            el("span", {"class": "came"}, f" {each.outcome}"),
        )
        for each in problem.tried
    ]
    return el(
        "article",
        {"class": f"chain episode {problem.severity}"},
        el(
            "h3",
            None,
            el("code", None, problem.what),
            el("span", {"class": f"badge {problem.severity}"}, problem.severity),
            el("span", {"class": f"badge {came}"}, problem.achieved),
        ),
        el("p", {"class": "facts-line"}, ", ".join(filter(None, facts))),
        el("p", None, problem.description, el("code", None, problem.place) if problem.place else None),
        el("ol", {"class": "chips"}, *chips) if chips else el("p", {"class": "empty"}, "Nothing was tried."),
        el("p", {"class": "cost"}, "It cost ", problem.cost, " up to its last intervention." if problem.open else "."),
    )


DOT_OF = {
    "worked": "worked",
    "did not work": "failed",
    "postponed": "held",
    "held back": "held",
    "not applied": "held",
}


def chains(found: Iterable[Chain]) -> Html:
    """Why things were done: each type of issue with the answers that it got, in order."""
    cards = []
    for chain in found:
        steps = (
            f"step {chain.first_step}"
            if chain.first_step == chain.last_step
            else f"steps {chain.first_step} to {chain.last_step}"
        )
        chips = [
            el(
                "li",
                {"class": f"chip rung{answer.level}", "title": answer.reason or None},
                el("b", None, f"{answer.step}"),
                f" {plain(answer.type)} ",
                el("i", {"class": f"dot {OUTCOMES.get(answer.outcome, ('open', ''))[0]}",
                         "title": OUTCOMES.get(answer.outcome, ("", answer.outcome))[1]}),
            )
            for answer in chain.answers
        ]  # fmt: skip
        cards.append(
            el(
                "article",
                {"class": f"chain {chain.severity}"},
                el(
                    "h3",
                    None,
                    plain(chain.type),
                    el("span", {"class": f"badge {chain.severity}"}, chain.severity),
                    el("small", None, f"{chain.count:,}×, {steps}"),
                ),
                el("p", None, chain.description),
                el("ol", {"class": "chips"}, *chips) if chips else el("p", {"class": "empty"}, "No intervention."),
            )
        )
    return el("div", {"class": "chains"}, *cards)


def control_table(controls: Sequence[ControlCommand], *, owned: bool) -> Html:
    """Every command with its REQUEST, ACK and RESULT; what is not known is said to be unknown."""
    rows = []
    for control in controls:
        outcome = control.outcome(owned=owned)
        result = control.result
        told = f"{result.code or result.status}: {result.message}".rstrip(": ") if result is not None else outcome
        rows.append(
            el(
                "tr",
                None,
                el("td", None, clock(control.requested_at)),
                el("td", None, el("b", None, control.command)),
                el("td", None, control.actor, f", {control.reason}" if control.reason else ""),
                el("td", None, clock(control.ack.time) if control.ack is not None else "none"),
                el("td", {"class": outcome}, told),
            )
        )
    head = el("tr", None, *(el("th", None, word) for word in ("When", "Command", "By", "ACK", "RESULT")))
    return el("div", {"class": "scroll"}, el("table", None, el("thead", None, head), el("tbody", None, *rows)))


def changes(document: Document) -> Html:
    """The files' differences, one stretch between two checkpoints after the other."""
    parts: list[object] = []
    for stretch in document.changes.stretches:
        files = [
            el(
                "details",
                {"class": "file", "open": len(diff.lines) <= 60 and len(stretch.files) <= 4},
                el(
                    "summary",
                    None,
                    el("code", None, diff.path),
                    el("span", {"class": f"kind {diff.kind}"}, diff.kind),
                    el("span", {"class": "added"}, f"+{diff.added}") if diff.added else None,
                    el("span", {"class": "removed"}, f"−{diff.removed}") if diff.removed else None,
                ),
                el("pre", {"class": "diff"}, *(el("span", {"class": diff_class(line)}, line) for line in diff.lines)),
                el("p", {"class": "empty"}, f"{diff.cut:,} more lines") if diff.cut else None,
            )
            for diff in stretch.files
        ]
        title = f"Step {stretch.step}"
        note = f"{many(len(stretch.files), 'file')}, {stretch.cause or 'between checkpoints'}"
        words = (title, el("small", None, f"{note}, checkpoint {stretch.a[:12]} to {stretch.b[:12]}"))
        parts.append(el("article", {"class": "stretch"}, el("h3", None, *words), *files))
    if document.changes.note:
        parts.append(el("p", {"class": "empty"}, document.changes.note))
    if not parts:
        parts.append(el("p", {"class": "empty"}, "No file changed between two checkpoints."))
    return join(parts)


def diff_class(line: str) -> str:
    """How a line of a diff is coloured."""
    if line.startswith(("+++", "---", "@@")):
        return "at"
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")


def gallery(pictures: Sequence[ReportPicture]) -> Html:
    """Screenshots with what was seen in them; before and after a recovery are side by side."""
    shown: list[Html] = []
    for index, each in enumerate(pictures):
        follower = pictures[index + 1] if index + 1 < len(pictures) else None
        if follower is not None and follower.before == each.name:
            shown.append(el("div", {"class": "pair"}, _figure(each), _figure(follower)))
        elif not (index and each.before and each.before == pictures[index - 1].name):
            shown.append(_figure(each))
    return el("div", {"class": "gallery"}, *shown)


def _figure(picture: ReportPicture) -> Html:
    source = f"data:{picture.type};base64,{picture.data}"
    words = (el("b", None, clock(picture.time)), " ", picture.title, " ", picture.detail)
    return el(
        "figure",
        None,
        el("img", {"src": source, "alt": picture.detail or picture.title, "loading": "lazy"}),
        el("figcaption", None, *words),
    )


def brand(words: str) -> Html:
    """Whose page it is: two links of a chain, as on the dashboard."""
    links = (
        el("circle", {"cx": "12.4", "cy": "16", "r": "6.6"}),
        el("path", {"d": "M13.3 19.6a6.6 6.6 0 1 1 3.2 2.2"}),
    )
    logo = el("svg", {"class": "logo", "viewBox": "0 0 32 32", "aria-hidden": "true"}, *links)
    return el("p", {"class": "brand"}, logo, words)


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
