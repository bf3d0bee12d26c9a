"""Functions and methods of libraries that a module of the notebook's author has put other code into.

What the notebook itself assigns, its cells show. Knows whose file a function comes from; looks at the libraries only
where such a module is loaded, which takes 25 ms, and 63 ms with PyTorch.
"""

from __future__ import annotations

import sys
import types
from typing import Any, Iterator

from ..anatomy import class_dict, module_dict, module_of, mro_of, name_of
from .origins import sources

_LIBRARY_WORDS = "keras lightgbm numpy pandas scipy seaborn sklearn statsmodels tensorflow torch torchvision"
_LIBRARIES = frozenset(_LIBRARY_WORDS.split())
_MOST = 5
"""The most names of one library: that there is one decides, and each library has to be there."""


class OwnCode:
    """The author's modules: their files, of which functions are, and their names, which their classes tell."""

    def __init__(self, modules: list[tuple[str, Any, str]]) -> None:
        self.files = frozenset(path for _, _, path in modules)
        self._names = frozenset(name for name, _, _ in modules)
        # By the id of a class: libraries hold a hundred thousand objects, of a thousand classes.
        self._known: dict[int, tuple[bool, bool]] = {}

    def is_function(self, held: Any) -> bool:
        """Whether it is a function of the author, or holds one."""
        kind = type(held)
        if kind is types.FunctionType:
            return held.__code__.co_filename in self.files
        if kind is property:
            return any(map(self.is_function, (held.fget, held.fset, held.fdel)))
        return (kind is staticmethod or kind is classmethod) and (
            self.is_function(held.__func__)
        )

    def known(self, kind: type) -> tuple[bool, bool]:
        """Whether a class is the author's, and whether objects of it are classes."""
        if (found := self._known.get(id(kind))) is None:
            found = module_of(kind) in self._names, type in mro_of(kind)
            self._known[id(kind)] = found
        return found


def replaced() -> list[list[str]]:
    """[library, name] of what they have been given, `DataFrame.__getitem__` among it; of each library a few."""
    found = [*sources(with_installed=False)]
    if not found:
        return []
    own = OwnCode(found)
    # `DataFrame` is in several modules of pandas, and one name says enough of it.
    of: dict[str, set[str]] = {}
    for name, module in list(sys.modules.items()):
        library = str(name).partition(".")[0]
        if library in _LIBRARIES:
            of.setdefault(library, set()).update(_of_own(name, module, own))
    return [
        [library, name]
        for library in sorted(of)
        for name in sorted(of[library])[:_MOST]
    ]


def _of_own(name: str, module: Any, own: OwnCode) -> Iterator[str]:
    for held_by, held in list(module_dict(module).items()):
        is_own, is_class = own.known(type(held))
        if is_own or own.is_function(held):
            yield held_by
        elif is_class and module_of(held) == name:
            for method, part in list(class_dict(held).items()):
                if own.is_function(part) or own.known(type(part))[0]:
                    yield f"{name_of(held)}.{method}"
