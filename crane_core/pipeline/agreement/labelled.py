"""Verdicts beside the labels of every annotator, joined once: what all parts of agreement start from.

The join compares keys of five texts; after it, a choice of annotators is a choice of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.pipeline.campaigns.label_frame import KEY

Places = NDArray[np.int64]
_Value = TypeVar("_Value", np.int64, np.float64)
NONE = -1
"""The place of a label that is missing."""


@dataclass(frozen=True, eq=False)
class LabelledVerdicts:
    """`verdicts`: rows of the verdict frame. Of each label: the row of its verdict, its annotator, word and weight.

    verdict, annotator, word: shape (n_labels,), places in `verdicts`, `annotators` and `words`. weight: as in the label
    frame, shape (n_labels,).
    """

    verdicts: pd.DataFrame
    annotators: pd.Index[str]
    words: NDArray[np.object_]
    verdict: Places
    annotator: Places
    word: Places
    weight: NDArray[np.float64]

    def said(self, annotators: Sequence[str]) -> Places:
        """Places of their labels among `words`, shape (n_verdicts, n_annotators); NONE where one gave none."""
        missing = np.full((len(self.verdicts), len(annotators)), NONE)
        return self._spread(self.word, annotators, missing)

    def weights(self, annotators: Sequence[str]) -> NDArray[np.float64]:
        """Weights of their labels, in the shape of `said`; 1 where one gave none."""
        missing = np.ones((len(self.verdicts), len(annotators)))
        return self._spread(self.weight, annotators, missing)

    def _spread(
        self,
        values: NDArray[_Value],
        annotators: Sequence[str],
        found: NDArray[_Value],
    ) -> NDArray[_Value]:
        """Of each label, its value, in the row of its verdict and the column of its annotator of `found`."""
        for column, who in enumerate(
            self.annotators.get_indexer(pd.Index(annotators))
        ):
            mine = self.annotator == who
            found[self.verdict[mine], column] = values[mine]
        return found

    def as_places(self, scale: Sequence[str]) -> Places:
        """The place on `scale` of each of `words`, and of NONE behind them; NONE for a word that is not on it."""
        return np.append(
            pd.Index(scale).get_indexer(pd.Index(self.words)), NONE
        )

    def as_numbers(
        self, number_of: Callable[[str], float]
    ) -> NDArray[np.float64]:
        """A number for each of `words`, and nan for NONE behind them."""
        return np.array([*map(number_of, self.words), np.nan])


def labelled_verdicts(
    labels: pd.DataFrame, verdicts: pd.DataFrame
) -> LabelledVerdicts:
    """Labels of verdicts that are not in the frame are left out; each annotator has one label per verdict."""
    verdicts = verdicts.reset_index(drop=True)
    verdict = _places_of(labels[KEY], verdicts[KEY])
    is_known = verdict != NONE
    annotator, annotators = pd.factorize(labels["annotator"])
    word, words = pd.factorize(labels["label"])
    return LabelledVerdicts(
        verdicts=verdicts,
        annotators=pd.Index(annotators),
        words=np.asarray(words, dtype=object),
        verdict=verdict[is_known],
        annotator=annotator[is_known],
        word=word[is_known],
        weight=labels["weight"].to_numpy(dtype=np.float64)[is_known],
    )


def _places_of(wanted: pd.DataFrame, among: pd.DataFrame) -> Places:
    """The row of `among`, whose rows differ, that is equal to each row of `wanted`; NONE without one."""
    # One number per row: a hash table of numbers is several times faster than one of tuples.
    code = np.zeros(len(among) + len(wanted), dtype=np.int64)
    for name in KEY:
        both = pd.concat([among[name], wanted[name]], ignore_index=True)
        codes, names = pd.factorize(both)
        code = code * len(names) + codes
    n = len(among)
    return pd.Index(code[:n]).get_indexer(pd.Index(code[n:]))
