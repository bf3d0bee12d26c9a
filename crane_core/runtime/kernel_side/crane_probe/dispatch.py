"""Which summarizer a value gets: by (top-level package, class name) along its classes, never by asking the value.

Knows the rule by which summarizer files are found: `summarizers/for_<package>.py` holds SUMMARIZERS (class name, or
module and class name, to function). It is imported when a value of the package is first met, and may also hold:

    FALLBACK(value, look)         for all other classes of the package
    HAS_ATTRIBUTE(value, name)    whether an attribute exists that no class stores; None: only running would tell
    FOLLOW(value, steps)          what items and methods lead to (see chains/following.py)
    SHAPE(value)                  shape of a value inside a list, None for a single value
    SIGN(value)                   text that tells values of one type and shape apart (a dtype, a mode)
    CONTENT(value)                a tuple that tells values apart by what they hold (columns and dtypes)
    SCALAR(value)                 the value as Python's own number or text
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Callable, Dict

from .anatomy import is_genuine, module_of, mro_of, name_of, package_of

Summarizer = Callable[[Any, Any], Dict[str, Any]]

# Built-in classes are spread over several modules.
SHARED_FILES = {
    **dict.fromkeys(
        ("builtins", "collections", "types", "functools", ""), "builtins"
    ),
    **dict.fromkeys(
        (
            "datetime",
            "decimal",
            "fractions",
            "uuid",
            "pathlib",
            "re",
            "_io",
            "io",
        ),
        "stdlib",
    ),
    # The Keras of older TensorFlow under another name; for_keras.py tells the two apart.
    "tf_keras": "keras",
}
"""Packages whose summarizers stand in the file of another one."""

# A file that does not exist is remembered as well: most packages have none.
_files: dict[str, ModuleType | None] = {}


def summarizer_of(value: Any) -> Summarizer | None:
    """The function for the value's nearest class that has one; None if no file knows any of its classes."""
    # A class that lies about its module would be read by a summarizer of another library.
    kinds = [kind for kind in mro_of(type(value)) if is_genuine(kind)]
    for kind in kinds:
        found = _named(kind)
        if found is not None:
            return found
    # A named parent first, however far: FALLBACK of the own package knows less.
    for kind in kinds:
        file = file_for(kind)
        if file is not None and "FALLBACK" in vars(file):
            fallback: Summarizer = vars(file)["FALLBACK"]
            return fallback
    return None


def _named(kind: type) -> Summarizer | None:
    file = file_for(kind)
    if file is None:
        return None
    known: dict[str, Summarizer] = vars(file)["SUMMARIZERS"]
    # By module as well: a library may have two classes of one name.
    return known.get(
        f"{module_of(kind)}.{name_of(kind)}", known.get(name_of(kind))
    )


def hook_of(value: Any, name: str) -> Callable[..., Any] | None:
    """What the file of the value's nearest known package defines under `name`; None if it defines nothing."""
    for kind in mro_of(type(value)):
        file = file_for(kind) if is_genuine(kind) else None
        if file is not None and name in vars(file):
            found: Callable[..., Any] = vars(file)[name]
            return found
    return None


def answer_of(value: Any, name: str, otherwise: Any) -> Any:
    """What the hook says of the value; `otherwise` if there is none, or where a value half made cannot be read."""
    hook = hook_of(value, name)
    try:
        # An estimator that is read while its __init__ runs lacks attributes.
        return otherwise if hook is None else hook(value)
    except Exception:  # noqa: BLE001 - one such value among many must not cost the facts of the others
        return otherwise


def file_for(kind: type) -> ModuleType | None:
    """The summarizer file of the class's package; None if there is none."""
    package = package_of(kind)
    package = SHARED_FILES.get(package, package)
    if package not in _files:
        _files[package] = _imported(package) if package.isidentifier() else None
    return _files[package]


def _imported(package: str) -> ModuleType | None:
    name = f"{__package__}.summarizers.for_{package}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        # A summarizer file that fails to import is a mistake of ours, and must be seen.
        if missing.name != name:
            raise
    # A library without a file of its own may be one of those that share one.
    others = importlib.import_module(f"{__package__}.summarizers.for_others")
    return others if package in others.PACKAGES else None
