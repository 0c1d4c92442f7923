"""Reference: the page that lists every key, from the schema. `python -m interlock.config.reference` prints it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import msgspec
import yaml
from msgspec import Struct, inspect

from .document_check import expected
from .key_types import Key, join, keys_of, root, sections, unwrap, without_none
from .load import Examined
from .schema import Config

HEAD = """\
# Configuration

Interlock needs no configuration. To change something, write `interlock.yaml`:

```console
$ interlock config init     # write every key with its default and meaning
$ interlock config check    # list every error with file, line and fix
$ interlock config show     # show what applies, and where each value comes from
$ interlock config trust --yes  # accept what a workspace's interlock.yaml loosens
```

Interlock reads, in this order of precedence:

1. **Environment variables**: `INTERLOCK_LIMITS__MAX_STEPS=200` sets `limits.max_steps`. Two underscores stand for the
   dot, and the value is parsed as YAML (`INTERLOCK_CHECKPOINTS__EXCLUDE='[node_modules, "*.log"]'`, or a whole section:
   `INTERLOCK_LIMITS='{max_steps: 200}'`).
2. **The file given with `--config`** (of `run`, `serve`, `scan`, `incident` and the `gui` commands); replaces 3 and 4.
3. **The workspace's `./interlock.yaml`.** What tightens supervision applies at once. What loosens it (higher limits,
   interventions or containment switched off, rules, channels) is ignored with a warning until you run
   `interlock config trust`, and again when the file changes.
4. **Your own `interlock.yaml`** in the configuration directory (`~/.config/interlock` on Linux).
5. **The defaults.**

Any configuration error prevents a run from starting. Commands that only show, pause or cancel runs print a warning and
continue.

```yaml
limits:
  max_cost_usd: 5
  max_execution_time: 3600
interventions:
  checkpoint_rollback: false      # short for {enabled: false}
  emergency_stop:
    notification_channels: [ops]
notifications:
  channels:
    ops: slack://token_a/token_b/token_c
```

A key that does not exist is an error that names the nearest one, or the section that it belongs to. `intervention` is
accepted for `gui`.

## Every key
"""


def reference() -> str:
    """The whole page in Markdown."""
    parts = [HEAD]
    for path, section in sections().items():
        keys = keys_of(section)
        plain = {name: key for name, key in keys.items() if not key.section}
        if path and plain:
            parts.append(f"### {path}\n\n{_describe(path)}{_table(plain)}")
    for name in ("models", "budgets"):
        key = keys_of(sections()[""])[name]
        parts.append(f"### {name}\n\n{key.description} A list of:\n\n{_table(_entries(key))}")
    return "\n".join(parts)


def main() -> None:
    sys.stdout.write(reference())


def _describe(path: str) -> str:
    """The description of a section's key."""
    home, _, name = path.rpartition(".")
    description = keys_of(sections()[home])[name].description
    return f"{description}\n\n" if description else ""


def _table(keys: dict[str, Key]) -> str:
    rows = ["| key | takes | default | meaning |", "|---|---|---|---|"]
    for key in keys.values():
        default = "required" if key.required else "" if key.section else f"`{show(key.default)}`"
        rows.append(f"| `{key.name}` | {_accepted(key)} | {default} | {key.description} |")
    return "\n".join(rows).replace("`null`", "") + "\n"


def _accepted(key: Key) -> str:
    kind, _ = without_none(key.kind)
    if isinstance(kind, inspect.StructType):
        return "keys: " + ", ".join(f"`{name}`" for name in keys_of(kind))
    if isinstance(kind, inspect.VarTupleType):
        return "a list"
    if isinstance(kind, inspect.DictType):
        value, _ = unwrap(kind.value_type)
        return f"names, each with {'a list' if isinstance(value, inspect.VarTupleType) else 'a text'}"
    return expected(kind, key)


def _entries(key: Key) -> dict[str, Key]:
    assert isinstance(key.kind, inspect.VarTupleType)
    assert isinstance(key.kind.item_type, inspect.StructType)
    return keys_of(key.kind.item_type)


TEMPLATE_HEAD = """\
# The configuration of Interlock: every key with its default.
# Keep what you change and delete the rest; missing keys keep their defaults.
# INTERLOCK_LIMITS__MAX_STEPS=200 in the environment overrides limits.max_steps, and so on.
"""


def config_template() -> str:
    """The text that `interlock config init` writes."""
    lines = [TEMPLATE_HEAD]
    for key in keys_of(root()).values():
        lines += [*_lines(key, 0), ""]
    return "\n".join(lines).rstrip() + "\n"


def show(value: object) -> str:
    """A value as YAML on one line."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{_word(str(name))}: {show(inner)}" for name, inner in plain.items()) + "}"
    if isinstance(plain, (list, tuple)):
        return "[" + ", ".join(show(inner) for inner in plain) + "]"
    return _word(plain) if isinstance(plain, str) else json.dumps(plain)


def _lines(key: Key, depth: int) -> list[str]:
    indent = "  " * depth
    lines = [f"{indent}# {key.description}"] if key.description else []
    if key.section is None:
        example = _example(key)
        return [*lines, *(f"{indent}# {line}" for line in example), f"{indent}{key.name}: {show(key.default)}"]
    lines.append(f"{indent}{key.name}:")
    for inner in keys_of(key.section).values():
        lines += _lines(inner, depth + 1)
    return lines


def _example(key: Key) -> list[str]:
    """An example entry, for a list of structs."""
    if isinstance(key.kind, inspect.VarTupleType) and isinstance(key.kind.item_type, inspect.StructType):
        inner = keys_of(key.kind.item_type).values()
        entry = ", ".join(f"{k.name}: {'...' if k.required else show(k.default)}" for k in inner)
        return [f"- {{{entry}}}"]
    return []


def _word(text: str) -> str:
    """A text as YAML: unquoted if it is unambiguous."""
    letters = text.replace("-", "").replace("_", "")
    doubtful = text.lower() in ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    if letters.isalpha() and letters.isascii() and text[0].isalpha() and not doubtful:
        return text
    # Not as JSON: YAML does not join surrogate pairs.
    return str(yaml.safe_dump(text, default_style='"', width=sys.maxsize)).rstrip("\n")


class EffectiveValue(Struct, frozen=True):
    """The effective value of a key; `source` is empty for a default."""

    path: str
    value: object
    source: str
    changed: bool


def settings(examined: Examined) -> Iterator[EffectiveValue]:
    """Every key that is not a section, in the order of the schema."""
    yield from _walk(examined, visible(examined.config), Config(), "")


def visible(config: Config) -> Config:
    """The configuration with credentials removed from addresses."""
    channels = {name: f"{url.partition(':')[0]}://***" for name, url in config.notifications.channels.items()}
    url = re.sub(r"//[^/@,]*@", "//***@", config.hub.url) if config.hub.url else config.hub.url
    return msgspec.structs.replace(
        config,
        notifications=msgspec.structs.replace(config.notifications, channels=channels),
        hub=msgspec.structs.replace(config.hub, url=url),
    )


def render(examined: Examined) -> str:
    """The effective configuration as YAML, with a comment after every value that is set."""
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
    """Where a key, or else the first key inside it, was set."""
    if path in examined.sources:
        return examined.sources[path]
    inside = [source for key, source in examined.sources.items() if key.startswith((f"{path}.", f"{path}["))]
    return inside[0] if inside else ""


if __name__ == "__main__":
    main()
