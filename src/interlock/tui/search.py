"""Search: a row to type into, there only while it is needed."""

from __future__ import annotations

from textual.widgets import Input


class Search(Input):
    """Shown by `ask`, hidden by `put_away`."""

    DEFAULT_CSS = """
    Search { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    Search.asking { display: block; }
    Search:focus { border: none; background-tint: 0%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, placeholder="search: all words must match; Enter keeps, Esc clears", compact=True)

    def ask(self, text: str) -> None:
        self.add_class("asking")
        self.value = text
        self.focus()

    def put_away(self, *, keep: bool = False) -> None:
        """Hide it; without `keep` what was typed is gone."""
        self.remove_class("asking")
        if not keep:
            self.value = ""
