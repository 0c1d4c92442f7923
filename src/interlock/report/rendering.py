"""A document in the format that was asked for."""

from __future__ import annotations

import msgspec

from .document import Document


def render(document: Document, form: str) -> str:
    """html, md or json."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
    if form == "md":
        from .markdown import render_markdown

        return render_markdown(document)
    from .page.run_page import render_run

    return render_run(document)
