"""Which of an item's texts an annotator judges where a campaign shows one.

How many different texts a model gives is typical of it, so showing all of them with their counts would name the model
of most items. A run is drawn, so a share of correct texts is that of single runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def drawn_text(texts: Sequence[tuple[str, int]], *, seed: str) -> str:
    """The text of a run drawn at random; texts: at least one, each with its number of runs.

    The same texts and seed give the same text, in whatever order the texts come.
    """
    known = sorted(texts)
    return Random(seed).choices([text for text, _ in known], weights=[n for _, n in known])[0]
