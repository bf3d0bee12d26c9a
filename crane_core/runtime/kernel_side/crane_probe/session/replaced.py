"""Functions and methods of libraries that a module of the notebook's author has put other code into.

What the notebook itself assigns, its cells show. Knows whose file a function comes from; looks at the libraries only
where such a module is loaded, which takes 15 to 35 ms with PyTorch.
"""

from __future__ import annotations

import sys
import types
from typing import Any, Iterator, Mapping

from ..anatomy import class_dict, is_kind, module_dict, module_of, name_of
from .origins import is_installed

_LIBRARY_WORDS = "keras lightgbm numpy pandas scipy seaborn sklearn statsmodels tensorflow torch torchvision"
_LIBRARIES = frozenset(_LIBRARY_WORDS.split())
_MOST = 20


def replaced() -> list[list[str]]:
    """[library, name] of what they have been given, `DataFrame.__getitem__` among it; of each library a few."""
    own = {path: name for name, path in _own_files()}
    if not own:
        return []
    found = []
    for module in list(sys.modules):
        library = module.partition(".")[0]
        if library in _LIBRARIES:
            names = module_dict(sys.modules.get(module))
            found += [[library, name] for name in _of_own(module, names, own)]
    # `DataFrame` is in several modules of pandas, and one name says enough of it.
    return [list(pair) for pair in sorted({*map(tuple, found)})[:_MOST]]


def _own_files() -> Iterator[tuple[str, str]]:
    """Path and name of each module that was loaded from a file and not installed."""
    for name, module in list(sys.modules.items()):
        path: Any = module_dict(module).get("__file__")
        if type(path) is str and name != "__main__" and not is_installed(path):
            yield name, path


def _of_own(
    module: str, names: Mapping[str, Any], own: Mapping[str, str]
) -> Iterator[str]:
    for name, held in list(names.items()):
        if _is_of_own(held, own):
            yield name
        elif is_kind(held, type) and module_of(held) == module:
            for method, part in list(class_dict(held).items()):
                if _is_of_own(part, own):
                    yield f"{name_of(held)}.{method}"


def _is_of_own(held: Any, own: Mapping[str, str]) -> bool:
    if type(held) is types.FunctionType:
        return held.__code__.co_filename in own
    # A property, or an object that is called.
    if type(held) is property:
        return any(
            _is_of_own(part, own) for part in (held.fget, held.fset, held.fdel)
        )
    if type(held) is staticmethod or type(held) is classmethod:
        return _is_of_own(held.__func__, own)
    return module_of(type(held)) in own.values()
