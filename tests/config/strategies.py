"""Configurations of every shape, made from the types."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import inspect

from interlock.config.key_types import Key, keys_of, root, unwrap, without_none

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NAMES = st.text(st.characters(categories=("L", "N"), include_characters="-_ .:#"), min_size=1, max_size=12)


def sections(section: inspect.StructType) -> st.SearchStrategy[dict[str, object]]:
    """Some keys of a section, each with a value that fits."""
    keys = keys_of(section)
    needed = {name: values(key.kind, key) for name, key in keys.items() if key.required}
    free = {name: values(key.kind, key) for name, key in keys.items() if not key.required}
    return st.fixed_dictionaries(needed, optional=free)


def values(kind: inspect.Type, key: Key) -> st.SearchStrategy[object]:
    inner, nullable = without_none(unwrap(kind)[0])
    made = _values(inner, key)
    return st.none() | made if nullable else made


def _values(kind: inspect.Type, key: Key) -> st.SearchStrategy[object]:
    if isinstance(kind, inspect.StructType):
        return sections(kind)
    if isinstance(kind, inspect.DictType):
        return st.dictionaries(NAMES, values(kind.value_type, key), max_size=3)
    if isinstance(kind, inspect.VarTupleType):
        return st.lists(values(kind.item_type, key), max_size=3)
    if isinstance(kind, inspect.BoolType):
        return st.booleans()
    if isinstance(kind, inspect.LiteralType):
        return st.sampled_from(key.choices)
    if isinstance(kind, inspect.IntType):
        low = kind.ge if kind.ge is not None else (kind.gt + 1 if kind.gt is not None else -(2**62))
        return st.integers(int(low), int(kind.le) if kind.le is not None else 2**62)
    if isinstance(kind, inspect.FloatType):
        low = kind.ge if kind.ge is not None else kind.gt
        high = kind.le if kind.le is not None else 1e15
        return st.floats(low, high, exclude_min=kind.gt is not None, allow_subnormal=False)
    if isinstance(kind, inspect.StrType) and kind.pattern:
        return st.from_regex(kind.pattern.removesuffix("$"), fullmatch=True)
    return WORDS


def fit_together(config: dict[str, object]) -> dict[str, object]:
    """Make the parts fit that only fit together."""
    _sort(config, ("review", "risk_levels"), ("medium", "high", "critical"), (0.6, 0.8, 0.95))
    _sort(config, ("review", "rationality_levels"), ("medium", "high"), (0.5, 0.8))
    _sort(config, ("gui", "verification"), ("partial_threshold", "similarity_threshold"), (0.9, 0.98))
    if isinstance(config.get("gui"), dict):
        # Only models of the data file can be asked.
        config["gui"] = {name: value for name, value in config["gui"].items() if name not in ("model", "small_model")}  # type: ignore[attr-defined]
    if isinstance(config.get("contract"), dict):
        for name in ("may_change", "protect"):
            config["contract"].pop(name, None)  # type: ignore[attr-defined]
    hub, stop = config.get("hub"), config.get("interventions")
    contain = config.get("contain")
    if isinstance(contain, dict):
        for key in contain.keys() & {"write", "hide", "show", "hosts"}:
            named = [f"a{number}" for number, _ in enumerate(contain[key])]
            contain[key] = [f"{name}.test" if key == "hosts" else f"~/{name}" for name in named]
    if isinstance(hub, dict) and "tls" in hub:
        hub["tls"] = dict(zip(("ca_file", "cert_file", "key_file"), hub["tls"].values(), strict=False))
    if isinstance(stop, dict) and isinstance(stop.get("emergency_stop"), dict):
        channels = config.get("notifications", {}).get("channels", {})  # type: ignore[attr-defined]
        stop["emergency_stop"]["notification_channels"] = list(channels)
    return config


def _sort(config: object, path: tuple[str, ...], names: tuple[str, ...], defaults: tuple[float, ...]) -> None:
    for name in path:
        config = config.get(name) if isinstance(config, dict) else None
    if isinstance(config, dict):
        levels = sorted(config.get(name, default) for name, default in zip(names, defaults, strict=True))
        config.update(zip(names, levels, strict=True))


CONFIGS = sections(root()).map(fit_together)
