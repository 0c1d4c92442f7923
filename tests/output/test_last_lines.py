"""The end of kept output: whole lines, bounded, and nothing that steers a terminal or a page."""

from __future__ import annotations

from pathlib import Path

from interlock.core import RunSpec
from interlock.journal import RunFolder, Store
from interlock.output import STDOUT, LastLines, Latest, OutputWriter, Printed, read_last_lines
from interlock.output.reading import BYTES, LINES
from interlock.report import Story
from interlock.report.document import gather
from interlock.report.markdown import render
from interlock.runtime import Run


def write(folder: Path, *texts: str, bound: int = 1 << 20, latest: Latest | None = None) -> None:
    writer = OutputWriter(folder, bound)
    for at, text in enumerate(texts):
        writer.add(Printed(float(at), STDOUT, text.encode()))
    if latest is not None:
        writer.set_latest(latest)
    writer.close()


def test_short_output_is_there_whole_with_the_unfinished_line(tmp_path: Path) -> None:
    write(tmp_path, "one\n", "\x1b[31mtwo\x1b[0m\x07\n", latest=Latest(2.0, "Proceed? [y/N]"))
    assert read_last_lines(tmp_path) == LastLines("one\ntwo\ufffd\nProceed? [y/N]", False)
    assert read_last_lines(tmp_path / "none") == LastLines()


def test_of_long_output_the_last_lines_are_shown_whole(tmp_path: Path) -> None:
    for bound in (1 << 22, 1 << 18):
        folder = tmp_path / str(bound)
        write(folder, *(f"line {number:06d}\n" for number in range(20_000)), bound=bound)
        got = read_last_lines(folder)
        lines = got.text.splitlines()
        assert got.cut and len(lines) == LINES
        assert lines[-1] == "line 019999" and lines[0] == f"line {20_000 - LINES:06d}"
    write(tmp_path / "wide", "x" * (3 * BYTES))
    assert len(read_last_lines(tmp_path / "wide").text) == BYTES


def test_a_report_has_the_output_and_takes_none_of_it_for_markup(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with Run.create(RunSpec(run_id="r", name="r", adapter="process"), store) as run:
        run.end("aborted", "ERROR")
    folder = RunFolder(store.root / "r")
    write(folder.output, "<script>alert(1)</script>\n", "# not a title\n")
    with Story.open(folder) as story:
        document = gather(story)
    html, text = render(document, "html"), render(document, "md")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html and "<script>alert(1)" not in html
    assert "\n    # not a title\n" in text and "# r: failed\n" in text
