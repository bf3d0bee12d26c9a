"""How alike texts are by their words. Texts in, an array out; refuses to know whose texts they are.

Source: cosine of TF-IDF weights with smoothed inverse document frequencies, as scikit-learn computes them (Manning,
Raghavan and Schütze 2008, Introduction to Information Retrieval, 6.2 and 6.3).
"""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from crane_core.stats.arrays import Array

NEAR = 0.8
"""Texts with at least this cosine are nearly the same."""
WORD = r"\w+|[^\w\s]"
"""One letter or sign can be the whole difference, as in x and y, so single characters count as words too."""


def text_cosines(texts: Sequence[str]) -> Array:
    """Shape (n, n): the cosine of each pair of texts in 0..1; inverse document frequencies are of these texts.

    A text without a word is like no other, not even itself: its cosines are 0.
    """
    words = TfidfVectorizer(token_pattern=WORD)
    if not any(text.strip() for text in texts):
        return np.zeros((len(texts), len(texts)))
    weights = words.fit_transform(texts)
    cosines: Array = (weights @ weights.T).toarray()
    return np.clip(cosines, 0.0, 1.0)
