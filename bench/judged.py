# ruff: noqa: E501  (one line for each run)
"""First alarms on real unattended runs without labels, each judged by reading the run; and the table of them."""

from __future__ import annotations

from collections.abc import Sequence

from scoring import Alarm
from traces import Trace

GARBLED = "broken_calls"

JUDGED: dict[str, tuple[str, int, str, str]] = {
    "0097481679": (GARBLED, 8, "right", "`>ls`, `>python3 --version`, `>which`: two of three bring nothing or an error"),
    "085ae02284": (GARBLED, 29, "right", "calls with `> <parameter name=...` inside: syntax errors and refused calls, one after the other"),
    "08efc10dd2": (GARBLED, 8, "right", "`>>> mkdir`, `> pip install`: pip is written to as a file and never runs"),
    "16da1dc581": (GARBLED, 16, "right", "three commands are the JSON of the call behind a colon; the loop lasts to the end"),
    "1cb550dded": (GARBLED, 8, "right", "`:` alone, three times; the descriptions say what was meant"),
    "2510e121f8": (GARBLED, 11, "right", "`>>> python3`, `:Analysis`, a script of one garbled line"),
    "45b09e22dc": (GARBLED, 23, "right", "`: /app`, a file called `: /app/eigen.py`; eigen.py itself was overwritten with its name"),
    "4616ab0b91": (GARBLED, 18, "right", "`,` as command and as pattern, again and again"),
    "4db82ee448": (GARBLED, 9, "right", "`: ls`, `: ls`, `: pwd`: nothing comes back"),
    "4dc9dc9d1e": (GARBLED, 13, "right", "`:`, `}`, `:`: nothing, a syntax error, nothing"),
    "4ee89e93e7": (GARBLED, 55, "right", "`:` three times after the network refused every page"),
    "8261879a61": (GARBLED, 45, "right", "`: false , \"command\": ...`: three of five fail for it"),
    "8d4d14aadb": (GARBLED, 55, "right", "`:` three times where prediction.txt should be written; the run ends without it"),
    "8d9816e5f4": (GARBLED, 17, "right", "`:` and `: python eval.py`; the evaluation never runs"),
    "a4efb05f66": (GARBLED, 19, "right", "three writes whose path is `: true,\"file_path\": ...`; none is accepted"),
    "ac7f352e9d": (GARBLED, 12, "right", "`,`, `: 600}`, `:true}`"),
    "bf1be3290e": (GARBLED, 16, "right", "`:) focusing exactly4an conviction` instead of coqc; the model has come apart"),
    "c7b94e21bb": ("repetitive_errors", 25, "right", "`,` fails with the same error for the third time"),
    "d7314b93f4": ("destructive_action", 9, "wrong", "prose between pieces of a command: garbled, and no danger"),
    "dc9a3958c6": (GARBLED, 27, "right", "`:`, `,`, `:`: the header is not looked for before step 40"),
    "e3f7648dd7": (GARBLED, 7, "right", "`: \"\"` three times; it is not known whether R is there"),
    "f55150d239": (GARBLED, 10, "right", "`:`, `: \"List source files\"`, `: \"ls source\"`"),
}  # fmt: skip
"""By the end of the trace's id: the type and step that were judged, the verdict, and why."""


def table(traces: Sequence[Trace], alarms: dict[str, list[Alarm]]) -> tuple[str, list[list[str]]]:
    """A summary, and one row for each first alarm. An alarm that differs from the judged one is not judged."""
    rows, right, known = [], 0, 0
    for trace in traces:
        if not alarms[trace.trace_id]:
            continue
        first = alarms[trace.trace_id][0]
        judged = JUDGED.get(trace.trace_id[-10:])
        if judged is not None and judged[:2] == (first.type, first.step):
            verdict, why = judged[2:]
            right, known = right + (verdict == "right"), known + 1
        else:
            verdict, why = "not judged", ""
        rows.append([trace.trace_id[-10:], first.type, str(first.step), str(len(trace.steps)), verdict, why])
    quiet = len(traces) - len(rows)
    share = f"{right / known:.0%}" if known else "none"
    return f"{right} of {known} judged first alarms are right ({share}); {quiet} of {len(traces)} runs have none.", rows
