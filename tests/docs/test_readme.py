"""README.md claims only what is measured, and its picture shows what its commands print."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?!\w|[.,]\d)")
CLAIMS = re.split(r"^\d\. ", README.split("## What sets it apart")[1].split("\n## ")[0], flags=re.MULTILINE)[1:]


def test_it_names_five_things():
    assert len(CLAIMS) == 5


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if "(bench/" in claim], ids=lambda claim: claim[:30])
def test_every_figure_stands_in_the_bench_that_it_links_to(claim):
    files = re.findall(r"\]\((bench/[A-Z_]+\.md)\)", claim)
    measured = set(NUMBER.findall("\n".join((ROOT / file).read_text() for file in files)))
    figures = set(NUMBER.findall(re.sub(r"```.*?```", "", claim, flags=re.DOTALL)))
    assert figures
    assert figures <= measured


def test_the_time_of_a_review_is_the_measured_one():
    row = re.search(r"^\| review_command \| ([\d.]+) \|", (ROOT / "bench" / "RESULTS.md").read_text(), re.MULTILINE)
    assert row is not None and f"a review takes {row[1]} µs at the median" in " ".join(README.split())


def test_the_picture_was_recorded_from_these_commands():
    text = re.sub(r"<[^>]+>", "", (ROOT / "docs" / "images" / "first-run.svg").read_text())
    shown = text.replace("&#160;", " ").replace("&#x27;", "'").replace("&quot;", '"').replace("&gt;", ">")
    block = README.split("## Your first supervised run")[1].split("```console\n")[1].split("```")[0]
    for command in block.splitlines():
        assert command in shown.replace("&amp;", "&"), "run scripts/terminal_picture.py"
