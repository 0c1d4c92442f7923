"""Elements: HTML that is escaped by construction."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from ...core import printable


class Html(str):
    """Markup; made only in this module."""

    __slots__ = ()


VOID = frozenset(("meta", "img", "br", "hr"))


def el(tag: str, *children: object, **attributes: object) -> Html:
    """An element: `div.tile` is a div of the class tile, `aria_label` the attribute aria-label.

    Attributes that are None or False are left out; children that are not Html are escaped.
    """
    name, _, classes = tag.partition(".")
    parts = [f"<{name}"]
    for key, value in {"class": classes or None, **attributes}.items():
        if value is not None and value is not False:
            key = key.replace("_", "-")
            parts.append(f" {key}" if value is True else f' {key}="{escape(printable(str(value)))}"')
    parts.append(">")
    if name not in VOID:
        parts += [_child(child) for child in children]
        parts.append(f"</{name}>")
    return Html("".join(parts))


def join(children: Iterable[object]) -> Html:
    """Several children in a row."""
    return Html("".join(_child(child) for child in children))


def prose(text: str) -> Html:
    """A sentence with code between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # An unpaired backtick is text.
        return join([text])
    return join(el("code", part) if number % 2 else part for number, part in enumerate(parts))


def page(title: str, body: Html) -> str:
    """A whole document that loads and runs nothing; the policy allows its style by hash."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = join(
        (
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="referrer", content="no-referrer"),
            el("title", title),
            Html(f"<style>{style}</style>"),
        )
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _child(child: object) -> str:
    if child is None or child is False:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(printable(child))
    if isinstance(child, Iterable):
        return "".join(_child(each) for each in child)
    return escape(str(child))
