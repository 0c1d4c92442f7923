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
$ interlock config init     # every key with its default and what it means
$ interlock config check    # is it right? Every error with file, line and what to do
$ interlock config show     # what holds now, and where each value came from
$ interlock config trust --yes  # agree to what a workspace's interlock.yaml loosens
```

What holds is the file named with `--config` (of `run`, `serve`, `scan`, `incident` and the `gui` commands). Without
one it is `interlock.yaml` in the user's configuration directory (`~/.config/interlock` on Linux), and over it the
workspace's `./interlock.yaml`: what tightens supervision counts at once; what loosens it (higher limits, interventions
or containment switched off, rules, channels) is ignored, with one line that says so, until you run
`interlock config trust`, and again when the file changes. Then come the defaults. A variable in the environment
overrides it: `INTERLOCK_LIMITS__MAX_STEPS=200` sets `limits.max_steps`; two underscores stand for the dot, and the
value is read as YAML (`INTERLOCK_CHECKPOINTS__EXCLUDE='[node_modules, "*.log"]'`; a whole section:
`INTERLOCK_LIMITS='{max_steps: 200}'`). A slip in any of it keeps a run from starting; whoever looks at runs, pauses or
cancels them is told of it and goes on.

```yaml
limits:
  max_cost_usd: 5
  max_execution_time: 3600
interventions:
  checkpoint_rollback: false      # a section with `enabled` may be given as plain true or false
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
    """What a section is about: the description of the key that it stands under."""
    home, _, name = path.rpartition(".")
    description = keys_of(sections()[home])[name].description
    return f"{description}\n\n" if description else ""


def _table(keys: dict[str, Key]) -> str:
    rows = ["| key | takes | default | meaning |", "|---|---|---|---|"]
    for key in keys.values():
        default = "must be given" if key.required else "" if key.section else f"`{show(key.default)}`"
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
