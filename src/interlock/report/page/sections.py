"""The sections of a report: ladder, episodes, tables, changes, pictures and proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core import PAUSE, short_name
from ...journal_records import ProofRecord
from ..document import Chain, Document, RungUse, strongest_first
from ..episodes import ControlCommand, Problem
from ..narrative import length
from ..pictures import ReportPicture
from ..proof import MEANS
from ..words import fact_line, plain, plural
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
    "not_judged": ("open", "what came next would have come anyway"),
    "held_back": ("held", "it was held back"),
    "not_applied": ("held", "it could not be applied"),
}

DOTS = 40


def section(title: str, *children: object, note: str = "", name: str = "") -> Html:
    """A section with a heading."""
    heading = el("h2", title, el("small", note) if note else None)
    return el("section", heading, *children, id=name or title.lower().replace(" ", "-"))


def tiles(shown: Iterable[tuple[str, str, str]]) -> Html:
    """Figures side by side: name, value and note of each."""
    drawn = (el("div.tile", el("span", name), el("b", value), el("small", note)) for name, value, note in shown)
    return el("section.tiles", *drawn, id="tiles")


def table(words: Iterable[str], rows: Iterable[Html]) -> Html:
    """Rows under a heading; scrolls where the page is narrow."""
    head = el("tr", *(el("th", word) for word in words))
    return el("div.scroll", el("table", el("thead", head), el("tbody", *rows)))


def clock(time: float, form: str = "%H:%M:%S") -> str:
    """A time of day on this machine's clock."""
    try:
        return datetime.fromtimestamp(time).strftime(form)
    except (OverflowError, OSError, ValueError):
        return ""


def ladder(rungs: Sequence[RungUse], *, ended: bool) -> Html:
    """The ladder, strongest rung on top: a bar that grows with the level, and a dot for each use in the colour of its
    outcome. `ended`: open outcomes stay unknown."""
    rows = []
    for rung in strongest_first(rungs):
        dots = [*["worked"] * rung.worked, *["failed"] * rung.failed, *["open"] * rung.open, *["held"] * rung.held_back]
        shown = join(el(f"i.dot {kind}", title=kind) for kind in dots[:DOTS])
        more = el("span.more", f"+{len(dots) - DOTS:,}") if len(dots) > DOTS else None
        said = f"{rung.made:,}×" if rung.made else "not needed"
        rows.append(
            el(
                f"li.rung rung{rung.level}{'' if rung.made else ' unused'}",
                el(f"span.bar bar{rung.level}"),
                el("span.name", el("b", short_name(rung.type)), el("small", MEANING.get(rung.type, ""))),
                el("span.dots", shown, more),
                el("span.count", said),
            )
        )
    unjudged = "not judged: the run ended first" if ended else "unknown so far"
    kinds = (
        ("worked", "worked"), ("failed", "did not work"), ("open", unjudged), ("held", "postponed or not applied"),
    )  # fmt: skip
    legend = el("p.legend", *(el("span", el(f"i.dot {kind}"), f" {word} ") for kind, word in kinds))
    return join((el("ol.ladder", *rows), legend))


def episodes(found: Iterable[Problem]) -> Html:
    """What the run got stuck on: one card each, with what was tried, what it achieved and what it cost."""
    return el("div.chains", *map(_episode, found))


def _episode(problem: Problem) -> Html:
    took = length((problem.closed_at or problem.updated_at) - problem.opened_at)
    since = f"since step {problem.opened_step}"
    facts = [plain(problem.type), problem.agent, since, clock(problem.opened_at), f"for {took}"]
    if problem.relapses:
        facts.append("came back once" if problem.relapses == 1 else f"came back {problem.relapses:,} times")
    badge_class = "open" if problem.open else "good" if problem.worked else "over"
    chips = [
        el(
            f"li.chip rung{each.level}",
            el("b", each.step),
            f" {each.name} ",
            el(f"i.dot {DOT_OF.get(each.outcome, 'open')}"),
            el("span.came", f" {each.outcome}"),
            title=each.reason or None,
        )
        for each in problem.tried
    ]
    badges = (_badge(problem.severity), el(f"span.badge {badge_class}", problem.achieved))
    return el(
        f"article.chain episode {problem.severity}",
        el("h3", el("code", problem.what), *badges),
        el("p.facts-line", ", ".join(filter(None, facts))),
        el("p", problem.description, *((" ", el("code", problem.place)) if problem.place else ())),
        el("ol.chips", *chips) if chips else el("p.empty", "Nothing was tried."),
        el("p.cost", "It cost ", problem.cost, " up to its last intervention." if problem.open else "."),
    )


def _badge(severity: str) -> Html:
    return el(f"span.badge {severity}", severity)


DOT_OF = {"worked": "worked", "did not work": "failed", "postponed": "held", "held back": "held", "not applied": "held"}


def chains(found: Iterable[Chain]) -> Html:
    """Each type of issue with its interventions, in order."""
    cards = []
    for chain in found:
        first, last = chain.first_step, chain.last_step
        steps = f"step {first}" if first == last else f"steps {first} to {last}"
        chips = []
        for answer in chain.answers:
            dot, words = OUTCOMES.get(answer.outcome, ("open", answer.outcome))
            parts = (el("b", answer.step), f" {short_name(answer.type)} ", el(f"i.dot {dot}", title=words))
            chips.append(el(f"li.chip rung{answer.level}", *parts, title=answer.reason or None))
        count = el("small", f"{chain.count:,}×, {steps}")
        cards.append(
            el(
                f"article.chain {chain.severity}",
                el("h3", plain(chain.type), _badge(chain.severity), count),
                el("p", chain.description),
                el("ol.chips", *chips) if chips else el("p.empty", "No intervention."),
            )
        )
    return el("div.chains", *cards)


def control_table(controls: Sequence[ControlCommand], *, owned: bool) -> Html:
    """Every command with its REQUEST, ACK and RESULT; what is not known is shown as unknown."""
    rows = []
    for control in controls:
        outcome = control.outcome(owned=owned)
        result = control.result
        result_text = (
            f"{result.code or result.status}: {result.message}".rstrip(": ") if result is not None else outcome
        )
        rows.append(
            el(
                "tr",
                el("td", clock(control.requested_at)),
                el("td", el("b", control.command)),
                el("td", control.actor, f", {control.reason}" if control.reason else ""),
                el("td", clock(control.ack.time) if control.ack is not None else "none"),
                el(f"td.{outcome}", result_text),
            )
        )
    return table(("When", "Command", "By", "ACK", "RESULT"), rows)


def changes(document: Document) -> Html:
    """The file diffs, stretch by stretch between checkpoints."""
    parts: list[object] = []
    for stretch in document.changes.stretches:
        files = [
            el(
                "details.file",
                el(
                    "summary",
                    el("code", diff.path),
                    el(f"span.kind {diff.kind}", diff.kind),
                    el("span.added", f"+{diff.added}") if diff.added else None,
                    el("span.removed", f"−{diff.removed}") if diff.removed else None,
                ),
                el("pre.diff", *(el(f"span.{diff_class(line)}", line) for line in diff.lines)),
                el("p.empty", f"{diff.cut:,} more lines") if diff.cut else None,
                open=len(diff.lines) <= 60 and len(stretch.files) <= 4,
            )
            for diff in stretch.files
        ]
        note = f"{plural(len(stretch.files), 'file')}, {stretch.cause or 'between checkpoints'}"
        words = el("small", f"{note}, checkpoint {stretch.a[:12]} to {stretch.b[:12]}")
        parts.append(el("article.stretch", el("h3", f"Step {stretch.step}", words), *files))
    if document.changes.note:
        parts.append(el("p.empty", document.changes.note))
    if not parts:
        parts.append(el("p.empty", "No file changed between two checkpoints."))
    return join(parts)


def diff_class(line: str) -> str:
    """The class of a line of a diff."""
    if line.startswith(("+++", "---", "@@")):
        return "at"
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")


def gallery(pictures: Sequence[ReportPicture]) -> Html:
    """Screenshots with their verdicts; before and after a recovery side by side."""
    shown: list[Html] = []
    for index, each in enumerate(pictures):
        follower = pictures[index + 1] if index + 1 < len(pictures) else None
        if follower is not None and follower.before == each.name:
            shown.append(el("div.pair", _figure(each), _figure(follower)))
        elif not (index and each.before and each.before == pictures[index - 1].name):
            shown.append(_figure(each))
    return el("div.gallery", *shown)


def _figure(picture: ReportPicture) -> Html:
    source = f"data:{picture.type};base64,{picture.data}"
    image = el("img", src=source, alt=picture.detail or picture.title, loading="lazy")
    return el("figure", image, el("figcaption", el("b", clock(picture.time)), " ", picture.title, " ", picture.detail))


def brand(words: str) -> Html:
    """The logo, as on the dashboard, and the page's title."""
    links = (el("circle", cx="12.4", cy="16", r="6.6"), el("path", d="M13.3 19.6a6.6 6.6 0 1 1 3.2 2.2"))
    return el("p.brand", el("svg.logo", *links, viewBox="0 0 32 32", aria_hidden="true"), words)


PROOF_NOTE = "what the agent claims, against the checks that ran"


def proof(found: ProofRecord) -> Html:
    """The table of claims, then the facts about tests and checking rules."""
    rows = [
        el(
            "tr",
            el("td", el(f"span.verdict {each.verdict}", each.verdict.replace("_", " "), title=MEANS[each.verdict])),
            el("td", el("q", each.claim.text), el("small", f" step {each.claim.step}")),
            el("td", prose(each.why)),
        )
        for each in found.claims
    ]
    head = el("tr", *(el("th", word) for word in ("Verdict", "Claim", "Evidence")))
    parts = [el("div.scroll", el("table.proof", head, *rows))] if rows else []
    if found.contract:
        parts.append(el("h3", "Contract"))
        parts.append(el("ul.test-facts", *(el("li", prose(line)) for line in found.contract)))
    if found.tests:
        parts.append(el("h3", "Tests and checking rules, from the run's start to its end"))
        parts.append(el("ul.test-facts", *(el("li", fact_line(fact)) for fact in found.tests)))
    if found.ending:
        parts.append(el("p.ending", prose(f"{found.ending[:1].upper()}{found.ending[1:]}.")))
    if found.tree:
        parts.append(el("p.legend", f"Files as of checkpoint {found.tree}."))
    return join(parts)
