"""Forces one configuration key to its default in every process of a test: FORCED=path.of.key, this folder on PYTHONPATH.

Whoever reads the key gets its default, whatever was configured. A test that still passes does not test the key.
"""

from __future__ import annotations

import os

KEY = os.environ.get("FORCED", "")

if KEY:
    from interlock.config import schema
    from interlock.config.key_types import sections

    *path, name = KEY.split(".")
    entries = {"models": schema.ModelInfo, "budgets": schema.Budget, "budgets.match": schema.BudgetMatch}
    cls = entries.get(".".join(path)) or sections()[".".join(path)].cls
    default = getattr(cls(name="x") if path[0] in entries and path[-1] != "match" else cls(), name)
    setattr(cls, name, property(lambda self: default))
    schema.FORCED = KEY  # type: ignore[attr-defined]  # a test checks that it arrived
