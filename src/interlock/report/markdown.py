"""Renders a document as HTML, JSON or Markdown; Markdown for a pull request or a chat."""

from __future__ import annotations

import re

import msgspec

from ..core import printable, short_name
from .document import Document, strongest_first
from .episodes import tried_line
from .narrative import known_cost, length
from .words import fact_line, plain, plural

LINES = 200
"""Lines of the timeline that Markdown has; HTML and JSON have more."""

OUTPUT = 40
"""Lines of what the command printed."""

SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")


def render(document: Document, form: str) -> str:
    """html, md or json."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
    if form == "md":
        return render_markdown(document)
    from .page.run_page import render_run

    return render_run(document)


def render_markdown(document: Document) -> str:
    """The report as Markdown; nothing that an agent said becomes markup."""
    run = document.run
    lines = [f"# {safe(run.name or run.run_id)}: {run.outcome}", ""]
    if run.task:
        lines += [f"> {safe(run.task)}", ""]
    lines += [" ".join(safe(part) for part in document.told), ""]
    for part in (_proof, _facts, _incidents, _episodes, _ladder, _chains, _verifications, _changes, _output, _timeline):
        lines += part(document)
    lines += [f"Written by {document.made_by} from the journal of run `{run.run_id}`.", ""]
    return "\n".join(lines)


def safe(text: object) -> str:
    """Text on one line with Markdown escaped."""
    return SPECIAL.sub(r"\\\1", printable(" ".join(str(text).split())))


def _section(title: str, lines: list[str]) -> list[str]:
    """Lines under a heading; nothing where there are none."""
    return [f"## {title}", "", *lines, ""] if lines else []


def _proof(document: Document) -> list[str]:
    proof, lines = document.proof, list[str]()
    if proof.contract:
        lines += [*(f"- contract: {safe(line)}" for line in proof.contract), ""]
    if proof.claims:
        lines += ["| verdict | claim | step | evidence |", "|---|---|---:|---|"]
        for each in proof.claims:
            why, said = safe(each.why), safe(each.claim.text)
            lines.append(f"| {each.verdict.replace('_', ' ')} | {said} | {each.claim.step} | {why} |")
        lines.append("")
    if proof.tests:
        lines += ["Tests and checking rules, from the run's start to its end:", ""]
        lines += [*(f"- {safe(fact_line(fact))}" for fact in proof.tests), ""]
    return _section("Is it really done?", lines[:-1])


def _output(document: Document) -> list[str]:
    lines = document.output.text.splitlines()[-OUTPUT:]
    # Indented: always a code block.
    shown = [f"The last {plural(len(lines), 'line')}:", "", *(f"    {line}" for line in lines)]
    return _section("Output", shown if document.output.text else [])


def _facts(document: Document) -> list[str]:
    sums, run = document.sums, document.run
    cost = run.cost_usd or sums.cost_usd
    return [
        "| steps | calls | failed | issues | notes | interventions | tokens | cost |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
        f"| {run.steps:,} | {sums.calls:,} | {sums.failed:,} | {sums.issues.total():,} | {sums.notes.total():,} | "
        f"{document.answers[0]:,} | {sums.input_tokens + sums.output_tokens:,} | "
        f"{known_cost(cost, run.unpriced_tokens)} |",
        "",
    ]


def _incidents(document: Document) -> list[str]:
    lines = []
    for stored in document.incidents:
        report = stored.report
        lines += [f"## Emergency stop {safe(stored.id)}", "", safe(report.summary), ""]
        lines += [f"Root cause: {safe(report.root_cause)}", ""]
        lines += [f"- {safe(item)}" for item in report.recommendations.immediate]
        lines += ["", "Options:", ""]
        lines += [f"- {safe(plain(o.name))}: `{o.command}`" for o in stored.options if o.applicable]
        lines.append("")
    return lines


def _ladder(document: Document) -> list[str]:
    rows = [
        f"| {rung.level + 1} {safe(short_name(rung.type))} | {rung.made} | {rung.worked} | {rung.failed} | "
        f"{rung.held_back} |"
        for rung in strongest_first(document.ladder)
    ]
    head = ["| intervention | applied | worked | did not work | not applied |", "|---|---:|---:|---:|---:|"]
    return _section("The ladder", head + rows)


def _episodes(document: Document) -> list[str]:
    rows = ["| stuck on | type | since | tried | achieved | cost |", "|---|---|---|---|---|---|"]
    for each in document.episodes:
        what = safe(each.what) + (f" ({safe(each.place)})" if each.place else "")
        agent = f", {safe(each.agent)}" if each.agent else ""
        took = length((each.closed_at or each.updated_at) - each.opened_at)
        rows.append(
            f"| {what} | {safe(plain(each.type))}{agent} | step {each.opened_step}, {took} | "
            f"{safe(tried_line(each)) or 'nothing'} | {safe(each.achieved)} | {each.cost} |"
        )
    return _section("What it got stuck on", rows if document.episodes else [])


def _chains(document: Document) -> list[str]:
    lines = []
    for chain in document.chains:
        lines.append(f"- **{safe(plain(chain.type))}** ({chain.severity}, {chain.count:,}×): {safe(chain.description)}")
        lines += [
            f"  - step {answer.step}: {safe(short_name(answer.type))}, {safe(plain(answer.outcome))}"
            for answer in chain.answers
        ]
    return _section("Why", lines)


def _verifications(document: Document) -> list[str]:
    found = document.verifications
    lines = [f"- {'success' if each.success else 'failure'}: {safe(each.summary)}" for each in found]
    return _section("Verification", lines)


def _changes(document: Document) -> list[str]:
    lines = [
        f"- step {stretch.step}: {safe(diff.path)}, {diff.kind} (+{diff.added} -{diff.removed})"
        for stretch in document.changes.stretches
        for diff in stretch.files
    ]
    return _section("Changed files", lines)


def _timeline(document: Document) -> list[str]:
    shown = [moment for moment in document.timeline if moment.level != "quiet" and moment.kind != "step"][-LINES:]
    lines = ["## Timeline", ""]
    for moment in shown:
        at = f"step {moment.step}: " if moment.step is not None else ""
        detail = f" {safe(moment.detail)[:300]}" if moment.detail else ""
        lines.append(f"- {at}**{safe(moment.title)}**{detail}")
    return [*lines, ""]
