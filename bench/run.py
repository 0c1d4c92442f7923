"""Runs every benchmark, or those that are named, and writes their sections of RESULTS.md beside it."""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import platform
import sys
import time
from pathlib import Path

from table import as_markdown

HERE = Path(__file__).parent
SKIPPED = {"run", "table", "detection", "closed_loop"}
"""Not benchmarks of speed: this file, the table, and what `make bench-detect` and `make bench-loop` run."""

MARK = "## "

HEAD = (
    "# Results\n\nWritten by `make bench`. Ratios count; absolute times depend on the machine "
    f"({os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}).\n"
)


def main() -> None:
    """Measure, print as it goes, write RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these; the sections of the others stay as they are")
    parser.add_argument("--skip", action="append", default=[], help="not this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="smaller, for a first look; writes nothing")
    options = parser.parse_args()
    # With PYTHONDONTWRITEBYTECODE set, every process would compile what has changed, and be slower and bigger for it.
    compileall.compile_dir(HERE.parent / "src", quiet=1)
    results = Results(HERE / "RESULTS.md")
    for name in options.names or sorted(path.stem for path in HERE.glob("*.py") if path.stem not in SKIPPED):
        if name in options.skip:
            continue
        module = importlib.import_module(name)
        if not hasattr(module, "measure"):
            continue
        begin = time.monotonic()
        section = as_markdown(*module.measure(quick=options.quick), getattr(module, "NOTES", ""))
        print(f"{section}\n({name}: {time.monotonic() - begin:.0f} s)\n", flush=True)
        if not options.quick:
            results.put(section)


class Results:
    """The sections of the file of results; each is replaced by its new measurement, the others stay."""

    def __init__(self, path: Path) -> None:
        self._path = path
        written = path.read_text() if path.exists() else ""
        self._sections = {part.partition("\n")[0]: MARK + part for part in written.split(MARK)[1:]}

    def put(self, section: str) -> None:
        title = section.removeprefix(MARK).partition("\n")[0]
        self._sections[title] = section
        self._path.write_text(
            "\n".join([HEAD, *(self._sections[name].strip() + "\n" for name in sorted(self._sections))])
        )


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
