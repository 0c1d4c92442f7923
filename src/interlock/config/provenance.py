"""Provenance: the values in force that are not the default, each with where it came from, secrets left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from .key_types import join
from .load import Examined
from .schema import Config
from .template import show


class EffectiveValue(Struct, frozen=True):
    """One key as it holds now; `source` is empty for a default."""

    path: str
    value: object
    source: str
    changed: bool


def settings(examined: Examined) -> Iterator[EffectiveValue]:
    """Every key that is not a section, in the order of the model."""
    yield from _walk(examined, visible(examined.config), Config(), "")


def visible(config: Config) -> Config:
    """The configuration as it may be shown: addresses without their credentials."""
    channels = {name: f"{url.partition(':')[0]}://***" for name, url in config.notifications.channels.items()}
    url = re.sub(r"//[^/@,]*@", "//***@", config.hub.url) if config.hub.url else config.hub.url
    return msgspec.structs.replace(
        config,
        notifications=msgspec.structs.replace(config.notifications, channels=channels),
        hub=msgspec.structs.replace(config.hub, url=url),
    )


def render(examined: Examined) -> str:
    """The configuration in force as YAML, with a comment after every value that is set."""
    lines: list[str] = []
    open_sections: list[str] = []
    for setting in settings(examined):
        *homes, name = setting.path.split(".")
        shared = 0
        while shared < min(len(homes), len(open_sections)) and homes[shared] == open_sections[shared]:
            shared += 1
        lines += [f"{'  ' * depth}{homes[depth]}:" for depth in range(shared, len(homes))]
        open_sections = homes
        remark = f"  # {setting.source}" if setting.source else ""
        lines.append(f"{'  ' * len(homes)}{name}: {show(setting.value)}{remark}")
    return "\n".join(lines) + "\n"


def _walk(examined: Examined, section: Struct, default: Struct, path: str) -> Iterator[EffectiveValue]:
    for name in section.__struct_fields__:
        value, standard, here = getattr(section, name), getattr(default, name), join(path, name)
        if isinstance(value, Struct):
            yield from _walk(examined, value, standard, here)
        else:
            yield EffectiveValue(here, value, _source(examined, here), value != standard)


def _source(examined: Examined, path: str) -> str:
    """Where a key was set: itself, or the first part of it that was."""
    if path in examined.sources:
        return examined.sources[path]
    inside = [source for key, source in examined.sources.items() if key.startswith((f"{path}.", f"{path}["))]
    return inside[0] if inside else ""
