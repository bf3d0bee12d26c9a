"""The text that is shown of an item: one of its texts, the same for everybody, as often as runs gave it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from crane_core.annotation.drawn_text import drawn_text

TEXTS = st.lists(
    st.tuples(st.text(min_size=1), st.integers(1, 5)),
    min_size=1,
    max_size=5,
    unique_by=lambda t: t[0],
)


@given(texts=TEXTS, seed=st.text(), data=st.data())
def test_the_order_in_which_texts_come_does_not_matter(
    texts: list[tuple[str, int]], seed: str, data: st.DataObject
) -> None:
    shown = drawn_text(texts, seed=seed)
    assert shown in {text for text, _ in texts}
    assert drawn_text(data.draw(st.permutations(texts)), seed=seed) == shown


def test_a_text_is_drawn_as_often_as_runs_gave_it() -> None:
    texts = [("one", 1), ("two", 3), ("three", 1)]
    drawn = [drawn_text(texts, seed=str(seed)) for seed in range(5_000)]
    found = [drawn.count(text) for text, _ in texts]
    assert chisquare(found, [1_000, 3_000, 1_000]).pvalue > 0.001
