"""How often a text alone tells who wrote it: what masking a model's name leaves of its style.

A linear classifier of sequences of one to three characters, by scikit-learn, which reads texts of cases that it was
not fitted to. Texts in, numbers out; refuses to know whose texts they are.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crane_core.stats.intervals import RateEstimate, rate_of_cases

FOLDS = 5
SEED = 20251018
_LENGTHS = (1, 3)
_MOST_SEQUENCES = 20_000


class Guessability(NamedTuple):
    """share: of texts whose writer is guessed, with its 95% interval by case. most_frequent: without reading."""

    share: RateEstimate
    most_frequent: float


def guessability(
    texts: Sequence[str], writers: Sequence[str], cases: Sequence[str]
) -> Guessability | None:
    """None where it cannot be estimated: one writer, or a writer with texts of one case alone.

    texts, writers, cases: of the same length n, one of each per text. Folds are of whole cases (at most FOLDS), so
    that the words of a case, which are the same for all writers, do not help.
    """
    cases_of: dict[str, set[str]] = defaultdict(set)
    for writer, case in zip(writers, cases, strict=True):
        cases_of[writer].add(case)
    n_folds = min([FOLDS, *map(len, cases_of.values())])
    if len(cases_of) < 2 or n_folds < 2:
        return None
    is_right = _guessed(texts, writers, cases, n_folds) == np.array(writers)
    _, of_case = np.unique(np.array(cases), return_inverse=True)
    counts = np.unique(np.array(writers), return_counts=True)[1]
    return Guessability(
        rate_of_cases(
            np.bincount(of_case, weights=is_right), np.bincount(of_case)
        ),
        float(counts.max() / counts.sum()),
    )


def _guessed(
    texts: Sequence[str],
    writers: Sequence[str],
    cases: Sequence[str],
    n_folds: int,
) -> np.ndarray:
    """The writer that is guessed of each text, shape (n,)."""
    # scikit-learn takes a second to load, and few commands need it.
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    sequences = TfidfVectorizer(
        analyzer="char",
        ngram_range=_LENGTHS,
        lowercase=False,
        sublinear_tf=True,
        max_features=_MOST_SEQUENCES,
    )
    # Writers with few texts count as much as the others: the question is whether they can be told.
    classifier = LogisticRegression(max_iter=1_000, class_weight="balanced")
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=SEED)
    found: np.ndarray = cross_val_predict(
        make_pipeline(sequences, classifier),
        list(texts),
        list(writers),
        groups=list(cases),
        cv=folds,
    )
    return found
