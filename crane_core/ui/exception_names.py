"""Exceptions as their owners write them. Published labels have them in small letters."""

from __future__ import annotations

import builtins

_OF_LIBRARIES = (
    "AxisError", "InvalidArgumentError", "LightGBMError", "LinAlgError", "NotFittedError", "OutOfBoundsDatetime",
    "ResourceExhaustedError", "UnimplementedError",
)  # fmt: skip
_BUILT_IN = [
    name for name, held in vars(builtins).items() if isinstance(held, type) and issubclass(held, BaseException)
]
_KNOWN = {name.lower(): name for name in (*_BUILT_IN, *_OF_LIBRARIES)}


def exception_name(name: str | None) -> str | None:
    """`valueerror` is ValueError; a name that is unknown stays as it is."""
    return name if name is None else _KNOWN.get(name.lower(), name)
