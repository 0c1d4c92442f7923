"""A run's report as one page."""

from __future__ import annotations

import shlex

from ...core import ENDED
from ...journal_records import FileComparison, VerificationResult
from ...runtime import StoredIncident
from ..document import Document
from ..narrative import known_cost, length
from ..timeline_entry import TimelineMoment
from ..words import dollars, messages_to_agent, plain, plural
from . import sections
from .charts import line_chart, short
from .element import Html, el, join, page
from .sections import section

DIFF_LINES = 400
"""Differing lines shown for each file; the journal has all."""


def render_run(document: Document) -> str:
    """The whole page."""
    title = document.run.name or document.run.run_id
    return page(f"{title}: Interlock report", el("main", *_parts(document)))


def _parts(document: Document) -> list[Html]:
    parts = [_head(document), el("section.told", *(el("p", each) for each in document.told), id="told")]
    if document.proof.claims or document.proof.tests or document.proof.contract:
        parts.append(
            section("Is it really done?", sections.proof(document.proof), note=sections.PROOF_NOTE, name="proof")
        )
    parts.append(_tiles(document))
    parts += [_incident(stored) for stored in document.incidents]
    if document.episodes:
        shown = sections.episodes(document.episodes)
        parts.append(section("What it got stuck on", shown, note="what was tried, what it achieved, what it cost"))
    if not document.sums.looks or any(rung.made for rung in document.ladder):
        drawn = sections.ladder(document.ladder, ended=document.run.status in ENDED)
        parts.append(section("The ladder", drawn, note="strongest intervention first"))
    parts.append(section("Over time", _charts(document), note="lines mark interventions", name="charts"))
    if document.chains:
        parts.append(section("Why", sections.chains(document.chains), note="issues found and how Interlock responded"))
    if document.verifications or document.pictures:
        checks = [_verification(each) for each in document.verifications]
        if document.pictures:
            checks.append(sections.gallery(document.pictures))
        parts.append(section("Verification", *checks))
    if document.run.workspace is not None:
        parts.append(
            section("Changed files", sections.changes(document), note="checkpoint by checkpoint, secrets removed")
        )
    if document.controls:
        owned = document.run.owner_pid is not None
        parts.append(section("Control", sections.control_table(document.controls, owned=owned)))
    if document.output.text:
        note = "its last lines; interlock logs shows all" if document.output.cut else ""
        shown = el("div.what", el("pre", document.output.text))
        parts.append(section("Output", shown, note=note, name="output"))
    parts.append(_timeline(document))
    return [*parts, _foot(document)]


def _head(document: Document) -> Html:
    run, spec = document.run, document.spec
    facts = [
        ("Run", run.run_id),
        ("Started", sections.clock(run.started, "%Y-%m-%d %H:%M")),
        ("Agent", " ".join(filter(None, (run.adapter, run.model)))),
        ("Workspace", run.workspace),
        ("Command", shlex.join(spec.argv) if spec.argv else None),
        ("Continues", spec.continues),
    ]
    return el(
        "header",
        sections.brand("Interlock report"),
        el("h1", run.name or run.run_id, el(f"span.status {document.status}", run.outcome)),
        el("p.task", spec.task) if spec.task else None,
        el("dl.facts", *(el("div", el("dt", name), el("dd", value)) for name, value in facts if value)),
    )


def _tiles(document: Document) -> Html:
    run, sums = document.run, document.sums
    cost = run.cost_usd or sums.cost_usd
    made, worked = document.answers
    moments = document.timeline
    span = moments[-1].time - moments[0].time if moments else 0.0
    budget = f"of {dollars(run.max_cost_usd)}" if run.max_cost_usd else "no budget"
    types = f"{plural(len(sums.issues), 'type')}, {plural(sums.notes.total(), 'note')}"
    shown = [
        ("Steps", f"{run.steps:,}", f"{sums.calls:,} calls, {sums.failed:,} failed"),
        ("Issues", f"{sums.issues.total():,}", types),
        ("Interventions", f"{made:,}", f"{worked:,} worked" if made else "none needed"),
        ("Tokens", short(sums.input_tokens + sums.output_tokens), f"{short(sums.output_tokens)} written"),
        ("Cost", known_cost(cost, run.unpriced_tokens), budget),
        ("Time", length(max(0.0, span)), sections.clock(run.ended, "ended %H:%M") if run.ended else ""),
    ]
    return sections.tiles(shown)


def _charts(document: Document) -> Html:
    series, marks = document.series, document.marks
    steps = series.steps
    unpriced = document.run.unpriced_tokens
    no_cost = "Cost unknown: the model has no known price." if unpriced else "Nothing was spent."
    return el(
        "div.charts",
        line_chart("Useful calls", steps, [("useful", series.progress)], show=lambda value: f"{value:.0%}", marks=marks,
                   top=1.0, empty="No call got further."),
        line_chart("Issues and interventions", steps,
                   [("issues", series.issues), ("interventions", series.interventions)], show=short, marks=marks,
                   empty="No issues found.", step_like=True),
        line_chart("Tokens", steps, [("tokens", series.tokens)], show=short, marks=marks,
                   empty="The agent did not report token usage."),
        line_chart("Cost", steps, [("cost", series.cost)], show=dollars,
                   marks=marks, empty=no_cost),
    )  # fmt: skip


def _incident(stored: StoredIncident) -> Html:
    report = stored.report
    advice = report.recommendations
    options = [
        el(
            "li" if option.applicable else "li.unused",
            el("b", plain(option.name)),
            f": {option.description if option.applicable else option.reason}",
            el("code", option.command) if option.applicable else None,
        )
        for option in stored.options
    ]
    lists = (
        ("Contributing factors", report.contributing_factors),
        ("Do now", advice.immediate),
        ("Prevent", advice.preventive),
        ("Configure", advice.configuration),
    )
    columns = (
        el("div", el("h3", title), el("ul", *(el("li", item) for item in items))) for title, items in lists if items
    )
    chosen = f"Chosen: {plain(stored.option)}." if stored.option else "No option chosen yet."
    return el(
        "section.incident",
        el("h2", "Emergency stop", el("small", f"{stored.id}, severity {report.severity}")),
        el("p.lead", report.summary),
        el("p", el("b", "Root cause: "), report.root_cause),
        el("div.columns", *columns),
        el("h3", "Options ", el("small", chosen)),
        el("ul.options", *options),
        id="incident",
    )


def _verification(found: VerificationResult) -> Html:
    rows = [
        el(
            "tr",
            el("td", el("code", each.path)),
            el(f"td.{'success' if each.match_status == 'match' else 'failure'}", each.match_status),
            el("td", f"{each.similarity:.2%}"),
            el("td", each.reason or ("exact" if each.exact else "")),
        )
        for each in found.comparisons
    ]
    verdict = el(f"p.lead {'success' if found.success else 'failure'}", found.summary)
    shown = sections.table(("File", "Result", "Similarity", ""), rows) if rows else el("div.scroll")
    return join((verdict, shown, *(_differing(each) for each in found.comparisons if each.diff_lines)))


def _differing(each: FileComparison) -> Html:
    """The lines of a file that differ from the expected ones."""
    lines, more = each.diff_lines[:DIFF_LINES], len(each.diff_lines) - DIFF_LINES
    return el(
        "details.file",
        el("summary", el("code", each.path), el("span.kind", each.says().partition(": ")[2])),
        el("pre.diff", *(el(f"span.{sections.diff_class(line)}", line) for line in lines)),
        el("p.empty", f"{more:,} more lines") if more > 0 else None,
        open=True,
    )


def _timeline(document: Document) -> Html:
    rows = [_line(moment) for moment in document.timeline if moment.level != "quiet"]
    left = document.left_out + len(document.timeline) - len(rows)
    note = plural(len(rows), "line") + (f"; {left:,} internal records omitted" if left else "")
    body = el("ol.timeline", *rows) if rows else el("p.empty", "Nothing has happened yet.")
    return section("Timeline", body, note=note)


def _line(moment: TimelineMoment) -> Html:
    detail = "\n".join((moment.detail, *messages_to_agent(moment.body))).strip()
    if "\n" not in detail and detail in moment.title:
        detail = ""
    long = len(detail) > 160 or "\n" in detail
    said: object = None
    if detail and long:
        said = el("details", el("summary", detail.splitlines()[0][:140]), el("pre", detail))
    elif detail:
        said = el("small", detail)
    return el(
        f"li.{moment.level} {moment.kind}",
        el("span.at", sections.clock(moment.time)),
        el("span.step", moment.step),
        el("span.kind", moment.kind),
        el("div.what", el("span", moment.title), said),
    )


def _foot(document: Document) -> Html:
    made = sections.clock(document.made_at, "%Y-%m-%d %H:%M")
    return el("footer", f"Written by {document.made_by} on {made} from the run's journal. Secrets are redacted.")
