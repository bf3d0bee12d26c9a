"""Which of an item's texts an annotator judges if a campaign shows one.

The number of different texts is typical of a model, so showing all of them with their counts would identify the model
of most items. A run is drawn, so the share of correct texts is that of single runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def drawn_text(texts: Sequence[tuple[str, int]], *, seed: str) -> str:
    """The text of a run drawn at random; texts: at least one, each with its number of runs.

    The same texts and seed give the same text, in whatever order the texts come.
    """
    known = sorted(texts)
    return Random(seed).choices(
        [text for text, _ in known], weights=[n for _, n in known]
    )[0]
