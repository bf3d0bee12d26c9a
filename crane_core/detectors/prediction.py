"""What a detector that runs on this machine says of one target cell, and what it keeps as evidence."""

from __future__ import annotations

from typing import NamedTuple


class Prediction(NamedTuple):
    """`crashes`: the target cell raises. `reasoning` is the diagnosis in words, None if there is none to say.

    `diagnostics` is a JSON text of what the tool reported, what counts for the prediction and what does not.
    """

    crashes: bool
    reasoning: str | None = None
    diagnostics: str | None = None
