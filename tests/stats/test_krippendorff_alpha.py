"""Krippendorff's alpha against his own example and the library of that name."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crane_core.stats import krippendorff_alpha
from crane_core.stats.agreement import Statistic

FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
).T
"""Krippendorff 2011, section C: 12 units, 4 observers, missing values."""

SCALE = [1, 2, 3, 4, 5]
NOMINAL, ORDINAL = krippendorff_alpha.NOMINAL, krippendorff_alpha.ORDINAL
each = pytest.mark.parametrize(
    ("statistic", "level"), [(NOMINAL, "nominal"), (ORDINAL, "ordinal")]
)


@pytest.mark.parametrize(("statistic", "printed"), [(NOMINAL, 0.743), (ORDINAL, 0.815)])
def test_krippendorffs_own_example(statistic: Statistic, printed: float) -> None:
    found = statistic(FOUR_OBSERVERS, SCALE)
    assert found == (pytest.approx(printed, abs=5e-4), 11, None)


@each
@given(
    rows=st.lists(
        st.lists(st.sampled_from([1, 2, 3, 5, None]), min_size=3, max_size=3),
        min_size=1,
        max_size=30,
    )
)
def test_agrees_with_the_library(
    statistic: Statistic, level: str, rows: list[list[int | None]]
) -> None:
    pairable = [
        label
        for row in rows
        if sum(label is not None for label in row) >= 2
        for label in row
    ]
    assume(len(set(pairable) - {None}) >= 2)
    data = np.array(rows, dtype=float).T
    expected = krippendorff.alpha(
        reliability_data=data, value_domain=SCALE, level_of_measurement=level
    )
    assert statistic(rows, SCALE).value == pytest.approx(expected, abs=1e-9)


@each
def test_an_unused_category_and_an_item_with_one_label_change_nothing(
    statistic: Statistic, level: str
) -> None:
    rows = [[1, 1], [1, 3], [3, 3], [5, 3]]
    assert statistic([*rows, [2, None]], SCALE) == statistic(rows, [1, 3, 5])
