"""torchvision: the steps of composed transforms, each with its numbers.

Knows the attribute dicts of transforms. Its datasets are datasets of torch, its models modules of torch (for_torch.py).
"""

from __future__ import annotations

from typing import Any

from ..anatomy import instance_dict, package_of, type_name
from ..bounds import Facts
from ..brief import is_plain, plain
from ..kinds import ROWS

_MOST_STEPS = 40


def composed(value: Any, look: Any) -> Facts:
    """The steps in order: type and plain settings."""
    steps: Any = instance_dict(value).get("transforms")
    if type(steps) not in ROWS:
        return {}
    shown = [_step(step, look) for step in steps[:_MOST_STEPS]]
    return {
        "plus": {
            "structure": {"n_steps": len(steps)},
            "representation": {"steps": shown},
        }
    }


def _step(step: Any, look: Any) -> Facts:
    kind = type(step)
    is_classic = package_of(kind) == "torchvision" and ".v2." not in type_name(
        kind
    )  # its classes have the same names
    # Transforms of version 2 take boxes and masks as well: they must not be mistaken.
    name = kind.__qualname__ if is_classic else type_name(kind)
    held = {
        key: item
        for key, item in instance_dict(step).items()
        if type(key) is str and not key.startswith("_")
    }
    stated = {
        key: plain(item, look)
        for key, item in held.items()
        # `training` is a module's own switch, not a setting of the transform.
        if key != "training" and item is not None and is_plain(item)
    }
    return dict({"type": name}, **stated)


SUMMARIZERS = {"Compose": composed}
