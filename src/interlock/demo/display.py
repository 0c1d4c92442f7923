"""The stage: the events of the play on a terminal, wide or narrow, with colour or without."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..core import LADDER, Intervention
from ..core.decoding import from_plain
from ..records import EpisodeRecord
from ..report.words import episode_cost, episode_ending, outcome_words
from .player import DemoEvent

LEVEL_STYLE = ("green", "cyan", "yellow", "magenta", "bold red")
MEANING = {
    "soft_correction": "one hint, fitted to the trouble",
    "context_reinforcement": "the request, its goals and limits, repeated",
    "resource_throttling": "tighter limits, enforced",
    "checkpoint_rollback": "files back to a safe checkpoint, shell damage too",
    "emergency_stop": "stop first, then report; four ways on",
}
NOTHING_LEFT = "Nothing is left behind; with --keep the run stays, to look at with interlock web."
KEPT = "Look at it with interlock web, interlock top or interlock report demo."
QUIET_AFTER = 3
"""Calls of one tool in a row that are shown; the rest of them is counted."""


class Stage:
    """Shows one performance."""

    def __init__(self, console: Console, *, kept: bool = False) -> None:
        self._kept = kept
        self.console = console
        self._row: tuple[str, int] = ("", 0)
        self._issues: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()
        self._worked: Counter[str] = Counter()
        self._open: dict[str, bool] = {}

    def open(self) -> None:
        """What there is to see."""
        text = Text.from_markup(
            "A scripted agent goes wrong in every way that Interlock detects. The agent is a script; "
            "[bold]everything that answers it is the real runtime[/], in a temporary folder, on a faster clock."
        )
        self.console.print(Panel(text, title="Interlock", title_align="left", border_style="blue"))

    def show(self, event: DemoEvent) -> None:
        """One event."""
        handler = getattr(self, f"_{event.kind}", None)
        if handler is not None:
            handler(event, event.body)

    def _scene(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        self.console.print()
        self.console.print(Rule(f"[bold]{body['number']}  {body['title']}[/]", align="left", style="blue"))
        self.console.print(Padding(Text(body["watch_for"], style="italic"), (0, 0, 0, 3)))

    def _says(self, event: DemoEvent, body: Any) -> None:
        if not self._tucked("says"):
            self._line(event, Text(f"“{body['text']}”", style="dim italic"))

    def _call(self, event: DemoEvent, body: Any) -> None:
        if not self._tucked(body["tool"]):
            text = " ".join(str(value) for value in body["arguments"].values())
            self._line(event, Text.assemble(("$ " if body["tool"] == "bash" else f"{body['tool']} ", "bold"), text))

    def _result(self, event: DemoEvent, body: Any) -> None:
        if self._row[1] <= QUIET_AFTER:
            first = (body["text"].splitlines() or ["(no output)"])[0]
            mark = ("✗ ", "red") if body["failed"] else ("✓ ", "green")
            self._line(None, Text.assemble("  ", mark, (first, "dim")))

    def _issue(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        self._issues[body["type"]] += 1
        severity = body.get("severity") or "medium"
        self._block(
            "▲",
            f"{_words(body['type'])} ({severity})",
            body["description"],
            "yellow" if severity == "medium" else "red",
        )

    def _intervention(self, event: DemoEvent, body: Any) -> None:
        made = body["intervention"]
        if made.get("outcome", "pending") != "pending":
            known = from_plain(made, Intervention)
            why = known.reason.removeprefix("postponed: ")
            self._block("·", f"{_words(known.type)}: {outcome_words(known)}", why, "dim")
            return
        level = made["level"]
        self._answers[made["type"]] += 1
        ladder = Text()
        for rung in range(len(LADDER)):
            ladder.append("■" if rung <= level else "□", style=LEVEL_STYLE[rung] if rung <= level else "dim")
        name = f"{level + 1} {_words(made['type'])}"
        means = (f"  {MEANING.get(made['type'], '')}", "dim")
        self._hang(ladder.append("  "), Text.assemble((name, LEVEL_STYLE[min(level, 4)]), means))

    def _applied(self, event: DemoEvent, body: Any) -> None:
        directive = body["directive"]
        if directive["do"] == "inject":
            first = directive["message"]["content"].split("\n")[0]
            self._block("  →", "to the agent", f"“{first}”", "green")

    def _effect(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        worked = body["outcome"] == "success"
        if worked:
            self._worked[body["type"]] += 1
        said = "worked: the next answer is no stronger" if worked else "did not work: the next answer is stronger"
        self._block(
            "✔" if worked else "✘",
            f"{_words(body['type'])} on {_words(body['issue_type'])}",
            said,
            "green" if worked else "red",
        )

    def _episode(self, event: DemoEvent, body: Any) -> None:
        self._open[body["id"]] = body.get("ending") is None
        if body.get("ending") is None:
            return
        known = from_plain(body, EpisodeRecord)
        told = episode_ending(known.ending or "")
        cost = episode_cost(known.calls, known.tokens, known.cost_usd)
        self._block("●", f"{known.what}: {told}", f"episode over after {cost}", "green")

    def _waits(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        self._block("…", f"the call waits {body['seconds']:.0f} s", body["reason"] or "slowed down", "yellow")

    def _denied(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        self._block("✖", "denied, it never ran", body["reason"], "bold red")

    def _restored(self, event: DemoEvent, body: Any) -> None:
        changed = body.get("changed", [])
        if changed:
            what = f"{len(changed)} paths put back ({', '.join(changed[:4])}, ...)"
        else:
            what = "nothing had changed since"
        self._block("↩", "rolled back", f"{what}; this too can be undone: checkpoint {body['safety_id']}", "magenta")

    def _files(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        same = body["before"] == body["after"]
        text = f"{body['count']} files, sha256 {body['before']} before and {body['after']} after the scene"
        self._block(
            "=", "workspace exactly as before" if same else "workspace changed", text, "green" if same else "dim"
        )

    def _incident(self, event: DemoEvent, body: Any) -> None:
        self.console.print()
        self.console.print(
            Panel(
                Text(body.get("report") or body["summary"]),
                title="incident report",
                title_align="left",
                border_style="red",
            )
        )

    def _end(self, event: DemoEvent, body: Any) -> None:
        self._flush()
        summary = body["summary"]
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
        for column in ("ISSUE", "FOUND", "", "ANSWER", "MADE", "WORKED"):
            table.add_column(column, justify="right" if column in ("FOUND", "MADE", "WORKED") else "left")
        issues = self._issues.most_common()
        for row in range(max(len(issues), len(LADDER))):
            issue = (_words(issues[row][0]), str(issues[row][1])) if row < len(issues) else ("", "")
            answer = ("", "", "")
            if row < len(LADDER):
                rung = LADDER[row]
                answer = (f"{row + 1} {_words(rung)}", str(self._answers[rung]), str(self._worked[rung]))
            table.add_row(*issue, "", *answer)
        self.console.print()
        self.console.print(Padding(table, (0, 0, 1, 2)))
        facts = (
            f"{summary['steps']} steps, {summary['issues']} issues, {summary['interventions']} interventions, "
            f"{len(self._open)} problems, {len(self._open) - sum(self._open.values())} of them over, "
            f"{summary['tokens']:,} tokens."
        )
        closing = Text.assemble((facts, "bold"), " ", KEPT if self._kept else NOTHING_LEFT)
        self.console.print(Padding(closing, (0, 0, 0, 2)))

    def _tucked(self, tool: str) -> bool:
        """Whether this call is one of many alike, to be counted instead of shown."""
        name, count = self._row
        self._row = (tool, count + 1) if tool == name else (tool, 1)
        return self._row[1] > QUIET_AFTER

    def _flush(self) -> None:
        """Say how many calls were not shown."""
        hidden = self._row[1] - QUIET_AFTER
        if hidden > 0:
            self.console.print(Padding(Text(f"... and {hidden} more", style="dim"), (0, 0, 0, 8)))
        self._row = ("", 0)

    def _line(self, event: DemoEvent | None, text: Text) -> None:
        at = f"{int(event.clock) // 60:02d}:{int(event.clock) % 60:02d}" if event is not None else " " * 5
        line = Text.assemble((f"{at}  ", "dim"), text)
        line.truncate(self.console.width - 1, overflow="ellipsis")
        self.console.print(line, no_wrap=True, overflow="ellipsis")

    def _block(self, mark: str, title: str, text: str, style: str) -> None:
        self._hang(Text(f"{mark} ", style), Text.assemble((title, style), "  ", text))

    def _hang(self, mark: Text, words: Text) -> None:
        """Words behind a mark; what has no room on its line goes on below them."""
        row = Table.grid()
        row.add_column(no_wrap=True)
        row.add_column()
        row.add_row(mark, words)
        self.console.print(Padding(row, (0, 0, 0, 7)))


def _words(name: str) -> str:
    return name.replace("_", " ")
