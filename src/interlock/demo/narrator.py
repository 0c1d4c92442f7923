"""The narrator: the text for each event, and the totals at the end."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from ..core import LADDER, Intervention, from_plain
from ..journal_records import EpisodeRecord
from ..report import dollars, episode_cost, episode_ending, plural
from .player import DemoEvent

Side = Literal["agent", "interlock"]

RUNGS = (("hint", "green"), ("reminder", "cyan"), ("throttle", "yellow"), ("rollback", "magenta"), ("stop", "bold red"))
"""Short names and styles of the rungs."""
MEANINGS = (
    "The agent gets a hint about this failure.",
    "The agent is reminded of its task and limits.",
    "The agent keeps working, with tighter limits.",
    "Back to the checkpoint before it got stuck.",
    "Stops the run.",
)
SEVERITY_STYLES = {"low": "cyan", "medium": "yellow", "high": "red", "critical": "bold red"}
BLOCKED = "bold white on red"
GOOD, BAD, WARN, QUIET = "green", "bold red", "yellow", "dim"
SHORT = 6
"""Output with fewer lines is shown in full."""


class Entry(Struct, frozen=True, kw_only=True):
    """An entry on one side of the screen, and how long it is shown before the next.

    An entry with the same `key` as a recent one repeats it.
    """

    side: Side
    mark: str
    title: str = ""
    text: str = ""
    style: str = ""
    key: str = ""
    hold_s: float = 0.3


class DemoTally(Struct):
    """Totals, and the state of the workspace and the ladder."""

    rung: int | None = None
    files: int = 0
    all_files: int = 0
    restored: int = 0
    attacks: int = 0
    false_claims: int = 0
    proven: bool = False
    worked: list[str] = field(default_factory=list)
    stuck_calls: int = 0
    cost_usd: float = 0.0
    budget_usd: float = 0.0
    journal: str = ""
    steps: int = 0
    unguarded: str = ""


class Narrator:
    """For one performance."""

    def __init__(self) -> None:
        self.tally = DemoTally()
        self._issues: dict[str, Any] = {}
        self._shown: set[str] = set()

    def entries_for(self, event: DemoEvent) -> list[Entry]:
        """The entries for an event; often none."""
        handler = getattr(self, f"_{event.kind}", None)
        return [] if handler is None else handler(event.body)

    def totals(self) -> list[tuple[str, str]]:
        """What was saved: amounts with descriptions."""
        tally = self.tally
        budget, spent = tally.budget_usd, tally.cost_usd
        ended = f"ended by {' and '.join(tally.worked)}, after {tally.stuck_calls} calls"
        return [
            (f"{tally.restored} files", "destroyed by the agent, restored byte for byte"),
            ("1 machine", "“rm -rf /” blocked before it ran"),
            (plural(tally.attacks, "attack"), "on the supervisor failed; it never stopped watching"),
            (f"{tally.false_claims} false “done”", "caught by running the tests; the next one is proven"),
            (plural(len(tally.worked), "loop"), ended),
            (dollars(budget - spent), f"of the {dollars(budget)} budget unspent; the run cost {dollars(spent)}"),
            (plural(tally.steps, "step"), f"in a signed journal, {tally.journal}"),
        ]  # fmt: skip

    def _start(self, body: Any) -> list[Entry]:
        self.tally.budget_usd, self.tally.unguarded = body["budget_usd"], body["guard"]
        self.tally.files = self.tally.all_files = body["files"]
        return [_agent("task:", body["task"], QUIET, hold_s=1.4)]

    def _says(self, body: Any) -> list[Entry]:
        return [_agent("", f"“{body['text']}”", "italic", hold_s=0.65)]

    def _call(self, body: Any) -> list[Entry]:
        shell = body["tool"] == "bash"
        text = body["arguments"]["command" if shell else "file_path"]
        # With other flags it is the same call again.
        key = " ".join(word for word in text.split() if not word.startswith("-"))
        return [_agent("$" if shell else body["tool"], text, "bold", key=f"call {key}", hold_s=0.2)]

    def _result(self, body: Any) -> list[Entry]:
        shown = _telling_lines(body["text"], failed=body["failed"])
        mark, style = ("✗", "red") if body["failed"] else ("✓", GOOD)
        return [_agent(mark, shown, style, key=f"result {shown}")]

    def _denied(self, body: Any) -> list[Entry]:
        why = body["reason"].split(" [")[0]
        if "supervision" in why:
            self.tally.attacks += 1
        return [
            _agent("✖", "blocked", BAD, hold_s=0.2),
            _ours("✖", "BLOCKED, critical", f"{why} It never ran.", BLOCKED, 1.9),
        ]

    def _gone(self, body: Any) -> list[Entry]:
        self.tally.files = body["left"]
        return [_agent("✗", f"{body['lost']} files destroyed, {body['left']} left", BAD, hold_s=1.8)]

    def _issue(self, body: Any) -> list[Entry]:
        self._issues[body["id"]] = body
        return []

    def _intervention(self, body: Any) -> list[Entry]:
        made = from_plain(body["intervention"], Intervention)
        if made.outcome != "pending":
            return []
        issue = self._issues.pop(made.issue_id, None)
        if made.issue_type == "destructive_action":
            return []
        self.tally.rung = made.level
        name, style = RUNGS[made.level]
        ladder = "■" * (made.level + 1) + "□" * (len(LADDER) - made.level - 1)
        words = MEANINGS[made.level]
        if made.level == 0:
            hint = next(each["message"]["content"] for each in body["directives"] if each["do"] == "inject")
            first = hint.split("\n")[0]
            words = f"“{first}”" if self._is_new(first) else words
        answer = _ours(ladder, name, words, style, 1.3)
        return [answer] if issue is None else [self._problem(issue), answer]

    def _problem(self, issue: Any) -> Entry:
        severity = issue.get("severity", "medium")
        text = issue["description"].split(". ")[0].rstrip(".") + "."
        number, kind, rest = text.split(" ", 2)
        # The same failure again: only the number is new.
        if number.isdigit() and not self._is_new(rest):
            text = f"{number} {kind} by now, all with the same failure."
        return _ours("▲", f"{issue['type'].replace('_', ' ')}, {severity}", text, SEVERITY_STYLES[severity], 0.6)

    def _effect(self, body: Any) -> list[Entry]:
        if body["issue_type"] == "destructive_action":
            return []
        name = RUNGS[body["level"]][0]
        if body["outcome"] == "success":
            self.tally.worked.append(f"a {name}")
            return [_ours("✔", f"the {name} worked", "", GOOD, 0.6)]
        more = "The next measure is stronger." if self._is_new("stronger") else ""
        return [_ours("✘", f"the {name} did not help", more, "red", 0.5)]

    def _episode(self, body: Any) -> list[Entry]:
        known = from_plain(body, EpisodeRecord)
        if known.ending is None or known.type == "destructive_action":
            return []
        self.tally.rung = None
        self.tally.stuck_calls += known.calls
        cost = episode_cost(known.calls, 0, known.cost_usd)
        return [_ours("●", f"{known.what}: {episode_ending(known.ending)}", f"after {cost}", GOOD, 0.9)]

    def _waits(self, body: Any) -> list[Entry]:
        if not self._is_new("delayed"):
            return []
        return [_ours("…", f"call delayed {body['seconds']:.0f} s", "", WARN, 0.9)]

    def _attacked(self, body: Any) -> list[Entry]:
        if body["succeeded"] or body["journal"] != "intact":
            done = ", ".join(body["succeeded"]) or f"the journal is {body['journal']}"
            return [_ours("✖", "guard did not hold", done, BAD, 3.0)]
        self.tally.attacks += body["attempts"]
        return [_ours("✔", "guard holds", "The agent cannot reach its supervisor. The journal is intact.", GOOD, 2.4)]

    def _skipped(self, body: Any) -> list[Entry]:
        return [_ours("!", "not tried", f"Guard does not work here: {self.tally.unguarded}.", WARN, 2.5)]

    def _restored(self, body: Any) -> list[Entry]:
        self.tally.restored, self.tally.files = body["identical"], body["files"]
        text = "Every byte and every mode is back. This can be undone too."
        return [_ours("↩", f"{body['identical']} files restored", text, "magenta", 2.6)]

    def _stop_gate(self, body: Any) -> list[Entry]:
        ran = f"Interlock ran `{body['results'][0]['command']}` itself:"
        if body["outcome"] != "passed":
            self.tally.false_claims += 1
            return [_ours("✘", "not done", f"{ran} it fails. Back to work.", BAD, 2.0)]
        if self.tally.proven:
            return []
        self.tally.proven = True
        return [_ours("✔", "done, and proven", f"{ran} it passes.", GOOD, 2.0)]

    def _files(self, body: Any) -> list[Entry]:
        self.tally.files = body["count"]
        return []

    def _end(self, body: Any) -> list[Entry]:
        self.tally.cost_usd, self.tally.steps = body["summary"]["cost_usd"], body["summary"]["steps"]
        self.tally.journal = body["journal"]
        return []

    def _is_new(self, words: str) -> bool:
        """Whether this is shown for the first time."""
        new = words not in self._shown
        self._shown.add(words)
        return new


def _agent(mark: str, text: str, style: str, *, key: str = "", hold_s: float = 0.3) -> Entry:
    return Entry(side="agent", mark=mark, text=text, style=style, key=key, hold_s=hold_s)


def _ours(mark: str, title: str, text: str, style: str, hold_s: float) -> Entry:
    return Entry(side="interlock", mark=mark, title=title, text=text, style=style, hold_s=hold_s)


def _telling_lines(output: str, *, failed: bool) -> str:
    """The most telling lines: an error, a test summary, all of a short output, else the first."""
    lines = output.splitlines() or ["(no output)"]
    if ": " in lines[0] and len(lines) < SHORT:
        return "\n".join(lines)
    if failed:
        return next((line for line in lines if "Error" in line), lines[-1])
    if lines[-1] == "OK":
        return next(line for line in lines if line.startswith("Ran ")).split(" in ")[0] + ": OK"
    return lines[0]
