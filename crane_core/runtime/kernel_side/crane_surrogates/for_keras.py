"""Keras is asked without surrogates: layers and losses are made of plain values; nothing is told of what comes out."""

from __future__ import annotations

import keras

from .no_surrogates import make, named, read

PACKAGE = keras

__all__ = ["PACKAGE", "make", "named", "read"]
