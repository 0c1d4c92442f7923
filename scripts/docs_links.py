"""A hook of the site: files of the project that a page links to become part of it, so that no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)\)")
"""A link out of docs/, as it works in the repository."""

BESIDE = "project"


def on_files(files: Files, config: Any) -> Files:
    """Take the linked files in, as plain text: a browser shows that, whatever the file is."""
    linked = {
        path
        for page in files.documentation_pages()
        for path in OUTSIDE.findall(Path(page.abs_src_path or "").read_text(encoding="utf-8"))
    }
    for path in sorted(linked):
        if (ROOT / path).is_file():
            text = (ROOT / path).read_text(encoding="utf-8")
            files.append(File.generated(config, f"{BESIDE}/{path}.txt", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point the links there; a folder is named without a link."""

    def mend(match: re.Match[str]) -> str:
        return f"]({BESIDE}/{match[1]}.txt)" if (ROOT / match[1]).is_file() else "]"

    return OUTSIDE.sub(mend, markdown)
