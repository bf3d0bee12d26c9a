"""Names that a module of a known package provides by code (`__getattr__`): by its own lists, without running that code.

Knows packages whose lists of public names are complete. Any other module that answers by code stays undecided.
"""

from __future__ import annotations

import importlib.machinery
import types
from typing import Any

from ..anatomy import module_dict
from ..kinds import CONTAINERS

_LISTED = (
    "numpy",
    "scipy",
    "sklearn",
    "pandas",
    "matplotlib",
    "seaborn",
    "statsmodels",
    "skimage",
    "PIL",
)
_LISTS = ("__all__", "_submodules", "submodules")
_STILL_GIVEN = (
    "__deprecated_attrs__",
    "_deprecated_attrs",
    "__numpy_submodules__",
    "_lazy_submodules",
)


def gives(module: Any, name: str) -> bool | None:
    """Whether `module.name` would be given though it is not stored; None where only running would tell."""
    names = module_dict(module)
    # A subclass of module (of six, or of TensorFlow) answers in its own way.
    if type(module) is not types.ModuleType:
        return None
    if "__getattr__" not in names:
        return False
    own = names.get("__name__")
    if type(own) is not str or own.partition(".")[0] not in _LISTED:
        return None
    # numpy keeps removed names in a list, to explain them; scipy's lists hold modules not loaded
    # yet.
    if any(
        name in _listed(names.get(each)) for each in (*_LISTS, *_STILL_GIVEN)
    ):
        return True
    # A submodule that was never imported is a file below the package.
    path = names.get("__path__")
    is_file = (
        type(path) is list
        and importlib.machinery.PathFinder.find_spec(f"{own}.{name}", path)
        is not None
    )
    # Without __all__ the lists may be incomplete: not found is then unknown.
    return is_file or None if "__all__" not in names else is_file


def _listed(names: Any) -> Any:
    return names if type(names) in CONTAINERS else ()
