"""Builds the documentation site with Zensical: `python scripts/docs_site.py [FOLDER]`. A warning is an error.

Pages link to files outside docs (examples, benchmarks) with paths that work in the repository. The site is built from a
copy of docs in which those files are included, so the same links work there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)(#[^)\s]*)?\)")
PROJECT = "project"
"""The folder of the site that holds the linked files."""


def build(site: Path) -> None:
    """Build the site into a folder, which is replaced. Raises CalledProcessError on any warning."""
    with tempfile.TemporaryDirectory(prefix="interlock-docs-") as folder:
        stage = Path(folder)
        shutil.copy(ROOT / "zensical.toml", stage)
        shutil.copytree(ROOT / "docs", stage / "docs")
        for page in sorted((stage / "docs").glob("*.md")):
            page.write_text(include_linked_files(page.read_text(encoding="utf-8"), stage / "docs"), encoding="utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        subprocess.run(command, cwd=stage, check=True)
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(stage / "site", site)


def include_linked_files(markdown: str, docs: Path) -> str:
    """Copy each linked file as plain text, which every browser shows, and link to the copy."""

    def replace(match: re.Match[str]) -> str:
        copy = docs / PROJECT / f"{match[1]}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((ROOT / match[1]).read_text(encoding="utf-8"), encoding="utf-8")
        return f"]({PROJECT}/{match[1]}.txt)"

    return OUTSIDE.sub(replace, markdown)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    try:
        build(target.resolve())
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
    print(target / "index.html")
