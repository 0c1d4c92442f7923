"""Trust: a workspace's configuration may tighten supervision; what loosens it needs a person's consent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..core import read_small, user_folder, write_whole
from .schema import Config

NAMED_FILES = ("review.rules_path", "review.programs_path", "interventions.soft_correction.custom_prompts_path")
"""Keys that name further files, which the consent covers as well."""

HIGHER = {"detect.sensitivity": ("low", "medium", "high"), "runtime.on_tamper": ("warn", "pause", "stop"),
          "runtime.fail": ("open", "auto", "closed"), "runtime.contain": ("off", "auto", "guard", "fence"),
          "interventions.on_limit": ("pause", "stop"), "runtime.left_running": ("leave", "end"),
          "contain.files": ("everything", "auto", "workspace"), "contain.tmp": ("shared", "own")}  # fmt: skip
"""Keys whose values are ordered from loose to strict."""

MORE_IS_STRICTER = ("checkpoints.keep_days", "checkpoints.keep_count", "gui.confidence_threshold")
FEWER_IS_STRICTER = ("contain.allow", "contain.write", "contain.show", "contain.hosts")
OFF_IS_STRICTER = ("interventions.observe", "unattended.resume.rerun")
ADDED = ("contract.protect", "contract.may_not", "contract.constraints", "contract.goals", "contract.done_when",
         "contract.boundaries", "contract.examples")  # fmt: skip
"""Keys whose values add up over the files: one more is stricter. Commands to run need trust anyway."""
ON_IS_STRICTER = ("contract.task", "control.strict_ids", "gui.verification.strict")
SENDS = ("detect.judge.enabled", "detect.second_opinion.enabled")
"""Keys that send text to other services."""
NOT_FREE = ("gui.allowed_buttons", "gui.budget.max_checks", "gui.budget.max_cost_usd", "gui.max_retries")


def trust_file() -> Path:
    """The file of trusted fingerprints: next to the user's configuration, which a contained agent cannot write."""
    return user_folder("config") / "trusted.json"


def fingerprint(file: Path, values: dict[str, object]) -> str:
    """A hash of the file, and of the files that it names."""
    import hashlib

    digest = hashlib.sha256(_content(file))
    for path, value in leaves(values):
        if path in NAMED_FILES and isinstance(value, str):
            named_path = Path(value)
            for named in sorted(named_path.rglob("*.y*ml")) if named_path.is_dir() else (named_path,):
                digest.update(b"\0" + os.fsencode(named) + b"\0" + _content(named))
    return digest.hexdigest()


def is_trusted(file: Path, values: dict[str, object]) -> bool:
    """Whether a person trusts exactly this."""
    return _read().get(str(file.resolve())) == fingerprint(file, values)


def trust(file: Path, values: dict[str, object]) -> None:
    """Record that a person trusts this file as it is now."""
    import json

    known = {**_read(), str(file.resolve()): fingerprint(file, values)}
    path = trust_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps(known, indent=2, sort_keys=True).encode() + b"\n")


def split(values: dict[str, object], base: Config) -> tuple[dict[str, object], tuple[str, ...]]:
    """The workspace's values that apply without trust, and the keys that do not."""
    free: dict[str, object] = {}
    ignored = []
    for path, value in leaves(values):
        if is_free(path, value, _value_at(base, path)):
            _put(free, path, value)
        else:
            ignored.append(path)
    return free, tuple(ignored)


def is_free(path: str, value: object, now: object) -> bool:
    """Whether a value is equal to the current one, or known to be stricter."""
    if value == now or (isinstance(value, list) and tuple(value) == now):
        return True
    if path in ADDED:
        return path != "contract.done_when"
    if path in ("contract.may_change", "contract.may_run", "contract.hosts"):
        # The first list of what is allowed forbids the rest; a later one may only remove entries.
        return isinstance(value, list) and bool(value) and (not now or set(value) <= set(now))  # type: ignore[call-overload]
    if path.startswith("limits."):
        return isinstance(value, (int, float)) and (now is None or (isinstance(now, (int, float)) and value <= now))
    if path in HIGHER:
        order = HIGHER[path]
        known = value in order and now in order
        return value == order[-1] or (known and order.index(str(value)) >= order.index(str(now)))
    if path in FEWER_IS_STRICTER and isinstance(value, (list, tuple)) and isinstance(now, tuple):
        return set(value) <= set(now)
    if path == "contain.hide" and isinstance(value, (list, tuple)) and isinstance(now, tuple):
        return set(value) >= set(now)
    if path in MORE_IS_STRICTER:
        return isinstance(value, (int, float)) and isinstance(now, (int, float)) and value >= now
    if path in ON_IS_STRICTER or (path.endswith(".enabled") and path not in SENDS):
        return value is True
    if path in OFF_IS_STRICTER:
        return value is False
    return path.startswith("gui.") and path not in NOT_FREE


def merge(below: dict[str, object], above: dict[str, object], path: str = "") -> dict[str, object]:
    """Two layers of plain values: the upper one wins, key by key; lists of ADDED add up."""
    merged = dict(below)
    for name, value in above.items():
        here = f"{path}.{name}" if path else name
        under = merged.get(name)
        if isinstance(under, dict) and isinstance(value, dict):
            merged[name] = merge(under, value, here)
        elif here in ADDED and isinstance(under, list) and isinstance(value, list):
            merged[name] = list(dict.fromkeys((*under, *value)))
        else:
            merged[name] = value
    return merged


def leaves(values: dict[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    """Every key with its value; a mapping with arbitrary names counts as one value."""
    for name, value in values.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, dict) and _is_section(here):
            yield from leaves(value, here)
        else:
            yield here, value


def _is_section(path: str) -> bool:
    return hasattr(_value_at(Config(), path), "__struct_fields__")


def _value_at(config: Config, path: str) -> object:
    value: object = config
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def _put(values: dict[str, object], path: str, value: object) -> None:
    *homes, name = path.split(".")
    for home in homes:
        inner = values.setdefault(home, {})
        assert isinstance(inner, dict)
        values = inner
    values[name] = value


def _read() -> dict[str, str]:
    import json

    try:
        known = json.loads(read_small(trust_file(), links=True))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _content(file: Path) -> bytes:
    try:
        return read_small(file, links=True)
    except OSError:
        return b""


def private_files(config: Config) -> tuple[Path, ...]:
    """The files with a person's keys and tokens, whether they exist or not. No agent may read them."""
    from ..core import key_paths

    return (*key_paths(), *named_files(config))


def named_files(config: Config) -> tuple[Path, ...]:
    """Those of them that the configuration names."""
    hub, store = config.hub, config.store.dir
    named = [hub.key_file, hub.credentials_file, hub.token_file, hub.tls.get("key_file")]
    named += [f"{store}/{name}" for name in (".key", ".web-token")] if store else []
    return tuple(Path(name).expanduser().absolute() for name in named if name)
