"""Surrogates of pictures of Pillow: mode and size as stated, one colour by the fill."""

from __future__ import annotations

from typing import Any, Mapping

import PIL.Image

from .made import MOST_ELEMENTS, NotMadeError, no_name

PACKAGE = PIL
named = no_name
_IMAGE = "PIL.Image.Image"


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A picture with these facts: `mode` and `size`, width before height."""
    width, height = facts["size"]
    if facts["type"] != _IMAGE or width * height > MOST_ELEMENTS:
        raise NotMadeError(facts["type"])
    n_bands = PIL.Image.getmodebands(facts["mode"])
    return PIL.Image.new(
        facts["mode"],
        (width, height),
        fill if n_bands == 1 else (fill,) * n_bands,
    )


def read(value: Any) -> dict[str, Any]:
    """The mode and size of a picture; empty for others."""
    if not isinstance(value, PIL.Image.Image):
        return {}
    return {"type": _IMAGE, "mode": value.mode, "size": list(value.size)}
