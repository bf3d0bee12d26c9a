"""What is asked of each library: a file per package, found by its name, of_<package>.py.

Every package of PACKAGES is asked which arguments its functions, classes and methods take. Its file may hold:

    CALLS              functions and classes, by their dotted names without the package: the places of surrogates
    METHODS            methods by class, written package.Class: the places of surrogates among their arguments
    KEYWORDS           keywords that may be surrogates where the first operand may; else those of operations.py
    BY_VALUES          by package or package.Class: what has results that depend on values, or changes its operand
    UNLESS_MENTIONED   what a notebook may not spell where the package is asked, as it may change what operations do
    DISTRIBUTIONS      what installs the package, where that has another name
    PARSING            what reads texts as numbers or times, if it gets them
    NOT_MADE_AGAIN     how names begin of what is drawn, or left as memory was
    GROWING            how full names begin of classes whose objects get other attributes when they are used
    NOT_OF_OPERANDS    what messages say that are not about the operands
    OF_VERSION         a pattern of messages: refused since some version, or with another class since then
    IS_LAZY            its modules find names on access, so that only they can say which there are
    IS_MADE_AGAIN      what steps give is made again to be asked
    IS_TRIED           wrapped functions are tried with arguments that they say they do not take
    IS_LATE            looks at parameters only when they are used: to make an object raises nothing
    IS_OF_ANY_VERSION  all versions refuse alike what operations.is_about_shapes lets through
    HIDES_RESULTS      only what it refuses is certain

Any other public name is read by the one module that knows the library so well.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

_PREFIX = "of_"
# Found by their names, so that a new file is all that a new library needs.
_FILES = {
    name[len(_PREFIX) :]: vars(importlib.import_module(f"{__name__}.{name}"))
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__))
    if name.startswith(_PREFIX)
}
PACKAGES = frozenset(_FILES) | {"lightgbm", "seaborn", "statsmodels"}
"""Packages that have a file, "python" itself, and those of which only arguments are checked."""


def by_package(name: str) -> dict[str, Any]:
    """What files hold under a name; packages without it are left out."""
    return {
        package: held[name] for package, held in _FILES.items() if name in held
    }


def merged(name: str) -> dict[str, Any]:
    """All mappings of a name as one."""
    return {
        key: value
        for held in by_package(name).values()
        for key, value in held.items()
    }


def chained(name: str) -> tuple[str, ...]:
    """All strings of a name."""
    return tuple(each for held in by_package(name).values() for each in held)


# A flag that says no is as if it was not there.
def where(flag: str) -> frozenset[str]:
    """Packages whose file says yes."""
    return frozenset(
        package for package, holds in by_package(flag).items() if holds
    )
