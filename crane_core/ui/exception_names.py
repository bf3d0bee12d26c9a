"""Exceptions as their owners write them, and those that a text names. Published labels have them in small letters."""

from __future__ import annotations

import builtins
import re

_OF_LIBRARIES = (
    "AxisError", "InvalidArgumentError", "LightGBMError", "LinAlgError", "NotFittedError", "OutOfBoundsDatetime",
    "ResourceExhaustedError", "UnimplementedError",
)  # fmt: skip
_BUILT_IN = [
    name
    for name, held in vars(builtins).items()
    if isinstance(held, type) and issubclass(held, BaseException)
]
_KNOWN = {name.lower(): name for name in (*_BUILT_IN, *_OF_LIBRARIES)}

_NAMED = re.compile(r"(?<![\w.])(?:[a-z_]\w*\.)*([A-Z]\w*)(?!\w)")
_ENDINGS = ("Error", "Exception", "Warning")
MOST_NAMED = 4
"""Exceptions of one text that are listed."""
MAX_NAME = 60


def exception_name(name: str | None) -> str | None:
    """`valueerror` is ValueError; an unknown name is returned unchanged."""
    return name if name is None else _KNOWN.get(name.lower(), name)


def named_exceptions(text: str) -> tuple[str, ...]:
    """The exception classes that a text names, each once, in its order."""
    known = set(_KNOWN.values())
    found = dict.fromkeys(
        name
        for name in _NAMED.findall(text)
        if len(name) <= MAX_NAME
        and (name in known or (name.endswith(_ENDINGS) and name not in _ENDINGS))
    )
    return tuple(found)[:MOST_NAMED]
