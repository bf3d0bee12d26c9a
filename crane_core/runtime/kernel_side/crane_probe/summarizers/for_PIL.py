"""Pillow images: size, mode, format.

Knows the attributes that an image keeps from opening on. Refuses to load pixels: the file stays where it is.
"""

from __future__ import annotations

from typing import Any

from ..anatomy import instance_dict, stored_on
from ..bounds import Facts

_BANDS = {
    "1": 1,
    "L": 1,
    "P": 1,
    "I": 1,
    "F": 1,
    "LA": 2,
    "PA": 2,
    "RGB": 3,
    "YCbCr": 3,
    "LAB": 3,
    "HSV": 3,
}
_BANDS.update({"RGBA": 4, "CMYK": 4, "RGBX": 4, "RGBa": 4, "La": 2})


def image(value: Any, look: Any) -> Facts:
    """Width and height; mode with its number of bands, and the shape that an array of it has; format of the file."""
    held = instance_dict(value)
    # Pillow keeps the mode as `_mode` since 10.1; `size` and `mode` are properties.
    size, mode = held.get("_size"), held.get("_mode", held.get("mode"))
    shown: Facts = {"representation": {"mode": look.scalar(mode)}}
    n_bands = _BANDS.get(mode, 0) if type(mode) is str else 0
    if type(size) is tuple and len(size) == 2:
        bands = [n_bands] if n_bands > 1 else []
        shown["structure"] = {
            "size": list(size),
            # Arrays of images have rows first.
            "array_shape": [size[1], size[0], *bands],
            "n_bands": n_bands,
        }
    # A class's format is that of the files it reads; a copy has none.
    of_class = stored_on(type(value), "format")
    named = held.get("format", of_class if type(of_class) is str else None)
    return {
        "plus": dict(
            shown,
            values={"format": look.scalar(named)} if named is not None else {},
        )
    }


def sign(value: Any) -> str:
    """The mode: pictures of several modes in one list do not stack."""
    held = instance_dict(value)
    mode = held.get("_mode", held.get("mode"))
    return mode if type(mode) is str else ""


SIGN = sign
SUMMARIZERS = {"Image": image}
