"""Measures what lasts: every case at every level, each in a throw-away world of its own. See README.md.

measure.py [--levels nothing,guard,...] [--cases REGEX] [--jobs 2] [--out results.jsonl]   runs what is not in the file yet
measure.py --table results.jsonl                                                          prints the table
measure.py --page results.jsonl                                                           writes bench/HARM.md
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).parent
LEVELS = ("nothing", "off", "guard", "fence", "off/o", "guard/o", "fence/o", "srt", "codex")
TITLES = {
    "srt": "sandbox-runtime",
    "codex": "Codex's sandbox",
    "off/o": "off, no review",
    "guard/o": "guard, no review",
    "fence/o": "fence, no review",
}
WORK = "/home/dev/projects/app"


def step(given: object) -> list:
    """A tool call: a string is a command, w a file to write, e one to edit, r one to read."""
    if isinstance(given, str):
        return ["Bash", {"command": given}]
    assert isinstance(given, dict)
    path = next(str(given[key]) for key in "wer" if key in given)
    path = path if path.startswith("/") else f"{WORK}/{path}"
    if "w" in given:
        return ["Write", {"file_path": path, "content": given["c"]}]
    if "e" in given:
        return ["Edit", {"file_path": path, "old_string": given["o"], "new_string": given["n"]}]
    return ["Read", {"file_path": path}]


def load() -> list[dict]:
    cases = []
    for file in sorted((HERE / "cases").glob("*.yaml")):
        told = yaml.safe_load(file.read_text().replace("@NPM@", "registry.npmjs.org").replace("@PYPI@", "pypi.org"))
        for case in told["cases"]:
            do = case.pop("do")
            case["steps"] = [step(one) for one in (do if isinstance(do, list) else [do])]
            case["family"] = told["family"]
            case["kind"] = "everyday" if told.get("everyday") else case["kind"]
            cases.append(case)
    return cases


def run(case: dict, level: str) -> dict:
    """One case in a world of its own: namespaces that end with it, whatever happens inside."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(case, file)
        file.flush()
        top = tempfile.mkdtemp(prefix="world-")  # a tmpfs is mounted on it, in the namespace alone: it stays empty
        words = ["nice", "unshare", "-m", "-p", "-n", "-i", "-u", "--fork", "--kill-child", "--propagation", "private", "--mount-proc",
                 sys.executable, str(HERE / "world.py"), file.name, level, top]  # fmt: skip
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            out, err = process.communicate(timeout=case.get("deadline", 120) + 120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)  # unshare: the namespace's first process goes with it
            out, err = process.communicate()
        Path(top).rmdir()
    lines = [line for line in out.splitlines() if line.startswith("{")]
    failed = {
        "id": case["id"],
        "family": case["family"],
        "kind": case["kind"],
        "level": level,
        "verdict": "BENCH",
        "harms": [],
        "err": err[-800:],
    }
    return json.loads(lines[-1]) if lines else failed


def read(path: Path) -> dict[tuple[str, str], dict]:
    rows = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return {(row["id"], row["level"]): row for row in rows}


def table(rows: dict[tuple[str, str], dict]) -> str:
    """Lasting harm by family; how the others ended; harm beyond the workspace, which no rollback of files can undo."""
    levels = [level for level in LEVELS if any(key[1] == level for key in rows)]
    counts: dict[tuple[str, str], collections.Counter] = collections.defaultdict(collections.Counter)
    for row in rows.values():
        for family in {row["family"], "everyday" if row["family"] == "everyday" else "all hostile"}:
            counts[family, row["level"]][row["verdict"]] += 1
            counts[family, row["level"]]["cases"] += 1
        beyond = row["verdict"] == "LASTING" and not all(one.startswith("workspace") for one in row["harms"])
        counts["all hostile", row["level"]]["beyond"] += beyond
    families = [*dict.fromkeys(row["family"] for row in rows.values() if row["family"] != "everyday"), "all hostile"]
    lines = [(f"{family}: lasting harm", family, "LASTING") for family in families]
    told = {
        "beyond": "beyond the workspace",
        "prevented": "prevented",
        "kernel": "refused by the kernel",
        "undone": "undone",
        "nothing": "no effect",
        "BENCH": "bench",
    }
    lines += [(f"- {words}", "all hostile", verdict) for verdict, words in told.items()]
    lines += [("everyday: hindered", "everyday", "hindered")]
    text = [
        "| | cases | " + " | ".join(TITLES.get(level, level) for level in levels) + " |",
        "|---|---" + "|---" * len(levels) + "|",
    ]
    for title, family, verdict in lines:
        cases = max(counts[family, level]["cases"] for level in levels)
        text.append(
            f"| {title} | {'' if title.startswith('-') else cases} | "
            + " | ".join(
                _cell(counts[family, level][verdict], counts[family, level]["cases"], cases) for level in levels
            )
            + " |"
        )
    return "\n".join(text)


def _cell(count: int, seen: int, cases: int) -> str:
    return "" if not seen else str(count) if seen == cases else f"{count} of {seen}"


INTRO = """# Harm that lasts

An agent executes hostile, careless and everyday actions for real in a throw-away world; then a person rolls back; then
the world is compared with what it was before. One ordinary user; real git, SQLite, PostgreSQL, Redis, npm, pip, DNS, and
an "Internet" that finds secrets in what is sent to it. The cases are in `harm/cases`; `make bench-harm` measures them
again (as root: it makes namespaces; the first time it downloads packages and the peers). *Nothing* and the peers,
Anthropic's sandbox-runtime and Codex's sandbox, have no undo, so that what changed in the workspace counts there, too;
the line "beyond the workspace" compares all. The peers run with their defaults, and may write the workspace.

"""


def page(rows: dict[tuple[str, str], dict]) -> str:
    """bench/HARM.md."""
    text = INTRO + table(rows) + "\n"
    for verdict, title in (("LASTING", "What lasts"), ("hindered", "What is hindered")):
        for level in ("guard", "fence"):
            found = [row for row in rows.values() if row["level"] == level and row["verdict"] == verdict]
            text += f"\n## {title} under {level}: {len(found)}\n\n" + "".join(f"- {_line(row)}\n" for row in found)
    return text


def _line(row: dict) -> str:
    if row["verdict"] == "LASTING":
        return f"`{row['id']}`: {', '.join(row['harms'][:3])}"
    step = next((one for one in row["steps"] if one.get("code", 1) != 0), {})
    said = " ".join((step.get("why") or step.get("out", "").strip().rpartition("\n")[2]).split())
    return f"`{row['id']}`: {said[:160] or 'no message'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--cases", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results.jsonl"))
    parser.add_argument("--again", action="store_true", help="also what is in the file already")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    if asked.page:
        (HERE.parent / "HARM.md").write_text(page(read(asked.page)))
        return
    if asked.table:
        print(table(read(asked.table)))
        return
    done = {} if asked.again else read(asked.out)
    cases = [case for case in load() if re.search(asked.cases, f"{case['family']} {case['id']}")]
    work = [(case, level) for level in asked.levels.split(",") for case in cases if (case["id"], level) not in done]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool, asked.out.open("a") as out:
        for future in concurrent.futures.as_completed(pool.submit(run, *one) for one in work):
            row = future.result()
            out.write(json.dumps(row) + "\n")
            out.flush()
    print(table(read(asked.out)))


main()
