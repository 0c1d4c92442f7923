"""Reference: the page that lists every key, made from the types. `python -m interlock.config.reference` prints it."""

from __future__ import annotations

import sys

from msgspec import inspect

from .document_check import expected
from .key_types import Key, bare, keys_of, sections, without_none
from .template import show

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
    """What a section is about: the description of the key that it is under."""
    home, _, name = path.rpartition(".")
    description = keys_of(sections()[home])[name].description
    return f"{description}\n\n" if description else ""


def _table(keys: dict[str, Key]) -> str:
    rows = ["| key | takes | default | meaning |", "|---|---|---|---|"]
    for key in keys.values():
        default = "required" if key.required else "" if key.section else f"`{show(key.default)}`"
        rows.append(f"| `{key.name}` | {_takes(key)} | {default} | {key.description} |")
    return "\n".join(rows).replace("`null`", "") + "\n"


def _takes(key: Key) -> str:
    kind, _ = without_none(key.kind)
    if isinstance(kind, inspect.StructType):
        return "keys: " + ", ".join(f"`{name}`" for name in keys_of(kind))
    if isinstance(kind, inspect.VarTupleType):
        return "a list"
    if isinstance(kind, inspect.DictType):
        value, _ = bare(kind.value_type)
        return f"names, each with {'a list' if isinstance(value, inspect.VarTupleType) else 'a text'}"
    return expected(kind, key)


def _entries(key: Key) -> dict[str, Key]:
    assert isinstance(key.kind, inspect.VarTupleType)
    assert isinstance(key.kind.item_type, inspect.StructType)
    return keys_of(key.kind.item_type)


if __name__ == "__main__":
    main()
