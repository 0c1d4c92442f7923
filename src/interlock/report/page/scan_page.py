"""The results of a scan as one page: which traces went wrong, where, and what Interlock would have done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from ..._version import __version__
from ...adapters.traces import Finding, Scanned
from ...core import SEVERITIES, short_name
from ...journal_records import ProofRecord
from ..words import plain, plural
from .charts import strip
from .element import Html, el, page
from .sections import brand, clock, proof, section, tiles

TRACES = 1000
"""Traces that are shown in full, worst first."""

ROWS = 5000


class ScanPage:
    """Collects the results of a scan and renders them."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Scanned]] = []
        self._clean = 0
        self._traces = self._steps = 0
        self._types: Counter[str] = Counter()
        self._bad: list[str] = []

    def add(self, file: str, result: Scanned) -> None:
        """Add one trace of a file."""
        self._traces += 1
        self._steps += result.steps
        if not result.went_wrong:
            self._clean += 1
            return
        self._types.update(issue.type for issue in result.issues)
        self._found.append((file, result))
        if len(self._found) > 2 * ROWS:
            self._found = self._worst(ROWS)

    def refuse(self, line: str) -> None:
        """Add something that could not be read."""
        if len(self._bad) < 100:
            self._bad.append(line)

    def render(self, now: float | None = None) -> str:
        """The whole page."""
        worst = self._worst(ROWS)
        wrong = self._traces - self._clean
        parts = [
            el("header", brand("Interlock scan"), el("h1", f"{wrong:,} of {plural(self._traces, 'trace')} went wrong")),
            self._tiles(wrong),
        ]
        if self._types:
            parts.append(section("What was found", _bars(self._types)))
        if worst:
            parts.append(section("Traces", _overview(worst), note="worst first"))
            shown = (_trace(number, file, each) for number, (file, each) in enumerate(worst[:TRACES]))
            parts.append(section("Findings", *shown))
        else:
            parts.append(el("section", el("p.lead success", "No findings.")))
        if self._bad:
            items = el("ul", *(el("li", line) for line in self._bad))
            parts.append(section("Not read", items, note="lines that are not traces"))
        made = clock(time.time() if now is None else now, "%Y-%m-%d %H:%M")
        parts.append(el("footer", f"Written by Interlock {__version__} on {made}."))
        return page("Interlock scan", el("main", *parts))

    def _tiles(self, wrong: int) -> Html:
        answers = sum(len(each.interventions) for _, each in self._found)
        shown = [
            ("Traces", f"{self._traces:,}", f"{self._clean:,} without a finding"),
            ("Went wrong", f"{wrong:,}", f"{wrong / self._traces:.0%} of all" if self._traces else ""),
            ("Steps", f"{self._steps:,}", ""),
            ("Issues", f"{self._types.total():,}", plural(len(self._types), "type")),
            ("Would have intervened", f"{answers:,}×", ""),
        ]
        return tiles(shown)

    def _worst(self, most: int) -> list[tuple[str, Scanned]]:
        return sorted(self._found, key=lambda pair: (-_badness(pair[1]), -len(pair[1].issues)))[:most]


def _badness(result: Scanned) -> int:
    return max((_rank(issue.severity) for issue in result.issues), default=-1)


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else 1


def _worst_severity(result: Scanned) -> Html | None:
    """The severity of its worst issue; None if only claims or tests are wrong."""
    if not result.issues:
        return None
    severity = SEVERITIES[_badness(result)]
    return el(f"span.badge {severity}", severity)


def _kinds(result: Scanned) -> list[str]:
    """What went wrong with a trace, each kind once."""
    kinds = [plain(issue.type) for issue in result.issues]
    kinds += ["claim contradicted" for each in result.claims if each.verdict == "contradicted"]
    return list(dict.fromkeys([*kinds, *(["tests changed"] if result.tests else [])]))


def _first(result: Scanned) -> str:
    """The first step that went wrong, if known."""
    steps = [issue.step for issue in result.issues]
    steps += [each.claim.step for each in result.claims if each.verdict == "contradicted"]
    return f"{min(steps):,}" if steps else ""


def _bars(types: Counter[str]) -> Html:
    most = max(types.values())
    parts: list[Html] = []
    for name, count in types.most_common():
        bar = el("rect", x=0, y=0, width=f"{count / most * 100:.1f}", height=10, rx=1)
        drawn = el("svg", bar, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
        parts += [el("span", plain(name)), drawn, el("b", f"{count:,}")]
    return el("div.bars", *parts)


def _overview(found: Iterable[tuple[str, Scanned]]) -> Html:
    rows = [
        el(
            "tr",
            el("td", el("a", result.trace_id, href=f"#t{number}" if number < TRACES else None)),
            el("td.number", f"{result.steps:,}"),
            el("td.number", f"{len(result.issues):,}"),
            el("td", _worst_severity(result)),
            el("td", ", ".join(_kinds(result))),
            el("td.number", _first(result)),
        )
        for number, (_, result) in enumerate(found)
    ]
    numbers = ("Steps", "Issues", "First at step")
    names = ("Trace", "Steps", "Issues", "Worst", "Found", "First at step")
    head = el("tr", *(el("th.number" if name in numbers else "th", name) for name in names))
    return el("div.scroll", el("table", el("thead", head), el("tbody", *rows)))


def _trace(number: int, file: str, result: Scanned) -> Html:
    marks = [(issue.step, issue.severity, f"step {issue.step}: {plain(issue.type)}") for issue in result.issues]
    marks += [(made.step, "answer", f"step {made.step}: {short_name(made.type)}") for made in result.interventions]
    lines = [(issue.step, 0, _issue(issue)) for issue in (*result.issues, *result.notes)]
    lines += [
        (made.step, 1, _row(made.step, "notice intervention", "answer", f"would have been: {short_name(made.type)}",
                            f"for the {plain(made.issue)}"))
        for made in result.interventions
    ]  # fmt: skip
    lines.sort(key=lambda line: line[:2])
    note = f"{result.assumed_times:,} steps had no timestamp" if result.assumed_times else ""
    counts = f"{file}, {plural(result.steps, 'step')}, {plural(len(result.issues), 'issue')}"
    return el(
        "details.trace",
        el("summary", el("b", result.trace_id), el("small", counts)),
        strip(result.steps, marks),
        el("ol.timeline untimed", *(line for _, _, line in lines)),
        proof(ProofRecord(result.claims, result.tests, ending=result.ending)),
        el("p.empty", note) if note else None,
        id=f"t{number}",
        open=len(result.issues) <= 12,
    )


LEVELS = {"low": "info", "medium": "notice", "high": "warning", "critical": "critical"}


def _issue(issue: Finding) -> Html:
    seen = f" Seen at steps {', '.join(str(step) for step in issue.evidence[:12])}." if issue.evidence else ""
    title = f"note: {plain(issue.type)}" if issue.severity == "low" else f"{plain(issue.type)} ({issue.severity})"
    classes = f"{LEVELS.get(issue.severity, 'notice')} issue"
    return _row(issue.step, classes, "issue", title, f"{issue.description}{seen}")


def _row(step: int, classes: str, kind: str, title: str, detail: str) -> Html:
    what = el("div.what", el("span", title), el("small", detail))
    return el(f"li.{classes}", el("span.step", step), el("span.kind", kind), what)
