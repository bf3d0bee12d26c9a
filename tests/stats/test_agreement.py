"""What all agreement coefficients share: labels on a scale, percent agreement, the confusion matrix, the interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import confusion_matrix as oracle

from crane_core.domain import Label
from crane_core.stats import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from crane_core.stats.agreement import (
    PERCENT_AGREEMENT,
    Statistic,
    Why,
    bootstrap,
    confusion_matrix,
    estimate,
    label_codes,
)
from tests.examples import examples

SCALE = ["correct", "partial", "wrong"]
STATISTICS = [
    PERCENT_AGREEMENT,
    cohen_kappa.NOMINAL,
    cohen_kappa.LINEAR,
    fleiss_kappa.FLEISS,
    krippendorff_alpha.NOMINAL,
    krippendorff_alpha.ORDINAL,
    gwet_ac.AC1,
    gwet_ac.AC2_LINEAR,
    gwet_ac.AC2_ORDINAL,
]
CHANCE_CORRECTED_BY_MARGINS = STATISTICS[1:6]
every_statistic = pytest.mark.parametrize(
    "statistic", STATISTICS, ids=lambda statistic: statistic.name
)

PREVALENCE = [0.6, 0.15, 0.25]


def annotated(
    n: int, seed: int, *, per_case: int = 2, guessing: float = 0.3
) -> tuple[NDArray[np.object_], list[int]]:
    """Two annotators who guess at some items, more often in a quarter of the cases; labels and the case of each."""
    rng = np.random.default_rng(seed)
    case = np.arange(n) // per_case
    guessed = np.where(
        rng.random(case.max() + 1) < 0.25, 2.5 * guessing, 0.5 * guessing
    )[case]
    truth = rng.choice(SCALE, size=n, p=PREVALENCE)
    columns = [
        np.where(
            rng.random(n) < guessed, rng.choice(SCALE, n, p=PREVALENCE), truth
        )
        for _ in range(2)
    ]
    return np.column_stack(columns).astype(object), case.tolist()


labels_of_three = st.lists(
    st.lists(st.sampled_from([*SCALE, None]), min_size=3, max_size=3),
    min_size=1,
    max_size=25,
)


def of_two(rows: list[list[str | None]]) -> list[list[str | None]]:
    return [row[:2] for row in rows]


def usable(
    statistic: Statistic, rows: list[list[str | None]]
) -> list[list[str | None]]:
    return of_two(rows) if "Cohen" in statistic.name else rows


@every_statistic
@given(rows=labels_of_three)
def test_the_order_of_items_and_of_annotators_does_not_matter(
    statistic: Statistic, rows: list[list[str | None]]
) -> None:
    rows = usable(statistic, rows)
    first, second = (
        statistic(rows, SCALE),
        statistic([row[::-1] for row in rows[::-1]], SCALE),
    )
    assert second[1:] == first[1:]
    assert second.value == pytest.approx(first.value, abs=1e-9, nan_ok=True)


@every_statistic
@given(rows=labels_of_three)
def test_a_value_is_at_most_1_and_a_missing_one_has_its_reason(
    statistic: Statistic, rows: list[list[str | None]]
) -> None:
    found = statistic(usable(statistic, rows), SCALE)
    assert math.isnan(found.value) == (found.why is not None)
    assert found.why is not None or found.value <= 1 + 1e-12
    assert (found.n == 0) == (found.why is Why.NO_OVERLAP)


@every_statistic
def test_full_agreement_over_several_categories_is_1(
    statistic: Statistic,
) -> None:
    assert statistic(
        [["correct"] * 2, ["wrong"] * 2, ["partial"] * 2], SCALE
    ) == (
        pytest.approx(1.0),
        3,
        None,
    )


@every_statistic
@pytest.mark.parametrize(
    "labels", [[], [["correct", None], [None, "wrong"]], [[None, float("nan")]]]
)
def test_without_a_common_item_there_is_no_value(
    statistic: Statistic, labels: list[list[str | None]]
) -> None:
    found = statistic(labels, SCALE)
    assert math.isnan(found.value)
    assert found[1:] == (0, Why.NO_OVERLAP)


@pytest.mark.parametrize("n", [1, 7])
@every_statistic
def test_labels_that_are_all_the_same_agree_but_margins_cannot_correct_for_chance(
    statistic: Statistic, n: int
) -> None:
    found = statistic([["correct", "correct"]] * n, SCALE)
    if statistic in CHANCE_CORRECTED_BY_MARGINS:
        assert math.isnan(found.value)
        assert found[1:] == (n, Why.NO_VARIATION)
    else:
        assert found == (1.0, n, None)


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        (PERCENT_AGREEMENT, 0),
        (cohen_kappa.NOMINAL, 0),
        (cohen_kappa.LINEAR, 0),
        (krippendorff_alpha.NOMINAL, 0),
        (krippendorff_alpha.ORDINAL, 0),
        (gwet_ac.AC1, -1 / 3),
    ],
)
def test_a_single_item_with_two_different_labels(
    statistic: Statistic, value: float
) -> None:
    assert statistic([["correct", "wrong"]], SCALE) == (
        pytest.approx(value),
        1,
        None,
    )


def test_percent_agreement_of_more_than_two_is_the_share_of_agreeing_pairs() -> (
    None
):
    rows = [
        ["correct", "correct", "wrong"],
        ["wrong", "wrong", None],
        ["wrong", None, None],
    ]
    assert PERCENT_AGREEMENT(rows, SCALE) == (
        pytest.approx((1 / 3 + 1) / 2),
        2,
        None,
    )


@given(rows=labels_of_three)
def test_confusion_matrix_agrees_with_scikit_learn(
    rows: list[list[str | None]],
) -> None:
    both = [row[:2] for row in rows if None not in row[:2]]
    found = confusion_matrix(
        [row[0] for row in rows], [row[1] for row in rows], SCALE
    )
    expected = (
        oracle(*zip(*both, strict=True), labels=SCALE)
        if both
        else np.zeros((3, 3))
    )
    assert found.tolist() == expected.tolist()


def test_labels_of_the_study_are_found_on_a_scale_of_words() -> None:
    codes = label_codes(
        [[Label.CORRECT, "partial"], [None, float("nan")]],
        [Label.CORRECT, Label.PARTIAL],
    )
    assert codes.tolist() == [[0, 1], [-1, -1]]


@pytest.mark.parametrize(
    ("labels", "scale", "message"),
    [
        ([["correct", "great"]], SCALE, "not on the scale"),
        ([["correct"]], SCALE, "two or more annotators"),
        (["correct", "wrong"], SCALE, "two or more annotators"),
        ([["correct", "correct"]], ["correct"], "two different categories"),
        (
            [["correct", "correct"]],
            ["correct", "correct"],
            "two different categories",
        ),
    ],
)
def test_labels_that_make_no_table_are_refused(
    labels: list[object], scale: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        label_codes(labels, scale)


@every_statistic
def test_interval_agrees_with_scipys_bca_over_cases(
    statistic: Statistic,
) -> None:
    """Same method, other code and other random numbers: ends differ by the noise of 2,000 resamples only."""
    labels, case = annotated(90, seed=4)
    found = bootstrap(statistic, labels, SCALE, case, seed=1)

    def of_cases(places: NDArray[np.int64]) -> float:
        items = (2 * places.astype(int)[:, None] + [0, 1]).ravel()
        return statistic(labels[items], SCALE).value

    peer = scipy_bootstrap(
        (np.arange(45),),
        of_cases,
        vectorized=False,
        n_resamples=2000,
        method="BCa",
        rng=2,
    )
    assert found.value == pytest.approx(statistic(labels, SCALE).value)
    assert found[1:3] == pytest.approx(peer.confidence_interval, abs=0.025)
    assert found[3:] == (90, 45, 0, None)


@pytest.mark.parametrize(
    ("n_samples", "population", "tolerance"),
    [
        pytest.param(60, 200_000, 0.06, id="60"),
        pytest.param(400, 1_000_000, 0.03, id="400", marks=pytest.mark.slow),
    ],
)
def test_interval_holds_the_truth_in_about_95_of_100_samples(
    n_samples: int, population: int, tolerance: float
) -> None:
    """A standard error of 2.8 or 1.1 points; benchmarks/agreement_coverage.py has more samples, sizes, coefficients."""
    statistics = [cohen_kappa.NOMINAL, krippendorff_alpha.ORDINAL, gwet_ac.AC1]
    everything, _ = annotated(population, seed=0)
    truth = [statistic(everything, SCALE).value for statistic in statistics]
    hits = np.zeros((n_samples, len(truth)))
    for sample in range(len(hits)):
        labels, case = annotated(100, seed=1000 + sample)
        for column, (statistic, value) in enumerate(
            zip(statistics, truth, strict=True)
        ):
            found = bootstrap(
                statistic, labels, SCALE, case, seed=sample, n_resamples=400
            )
            hits[sample, column] = found.low <= value <= found.high
    assert hits.mean(axis=0) == pytest.approx(0.95, abs=tolerance)


def test_items_of_one_case_do_not_count_as_many() -> None:
    """Each label of a case given four times over: the same value, and an interval as wide as that of one time."""
    labels, case = annotated(60, seed=8, per_case=1)
    once = bootstrap(cohen_kappa.NOMINAL, labels, SCALE, case, seed=1)
    often = bootstrap(
        cohen_kappa.NOMINAL,
        np.repeat(labels, 4, axis=0),
        SCALE,
        np.repeat(case, 4),
        seed=1,
    )
    assert often[:3] == pytest.approx(once[:3])
    assert (often.n, often.n_clusters) == (240, 60)


@every_statistic
def test_a_seed_fixes_the_interval_and_the_order_of_items_does_not_matter(
    statistic: Statistic,
) -> None:
    labels, case = annotated(60, seed=2)
    order = np.random.default_rng(0).permutation(60)
    first = bootstrap(statistic, labels, SCALE, case, seed=3, n_resamples=300)
    again = bootstrap(
        statistic,
        labels[order],
        SCALE,
        np.array(case)[order],
        seed=3,
        n_resamples=300,
    )
    assert again[:3] == pytest.approx(first[:3], abs=1e-9)
    assert (
        bootstrap(statistic, labels, SCALE, case, seed=5, n_resamples=300)[:3]
        != first[:3]
    )


def test_resamples_without_a_value_are_counted() -> None:
    """One of three cases differs from the others: kappa has no value without it, and no value for it alone."""
    labels = [
        ["correct", "correct"],
        ["correct", "correct"],
        ["wrong", "wrong"],
    ]
    found = bootstrap(
        cohen_kappa.NOMINAL, labels, SCALE, ["a", "b", "c"], seed=1
    )
    assert found.n_undefined / 2000 == pytest.approx(
        (2 / 3) ** 3 + (1 / 3) ** 3, abs=0.04
    )
    assert found.value == 1
    assert np.isnan([found.low, found.high]).all()
    assert found.why is Why.NO_WIDTH


@every_statistic
def test_a_single_case_or_full_agreement_has_no_bootstrap_interval_and_says_so(
    statistic: Statistic,
) -> None:
    for labels, case in (
        (
            [["correct", "wrong"], ["wrong", "wrong"], ["partial", "partial"]],
            "aaa",
        ),
        ([["correct"] * 2, ["wrong"] * 2, ["partial"] * 2], "abc"),
    ):
        found = bootstrap(statistic, labels, SCALE, list(case), seed=1)
        assert found.value == statistic(labels, SCALE).value
        assert np.isnan([found.low, found.high]).all()
        assert found.why is Why.NO_WIDTH


@pytest.mark.parametrize("right_in", [0.73, 0.85, 0.945, 0.98])
@pytest.mark.parametrize("n_cases", [5, 11, 22])
def test_the_interval_of_percent_agreement_holds_the_truth_for_few_items(
    right_in: float, n_cases: int
) -> None:
    """500 samples each: a standard error of one point. The bootstrap holds 45% of those of 11 items at 0.945."""
    rng = np.random.default_rng(20_261_125)
    hits, widths = [], []
    for agrees in rng.random((500, n_cases)) < right_in:
        labels = [["correct", "correct" if one else "wrong"] for one in agrees]
        found = estimate(
            PERCENT_AGREEMENT, labels, SCALE, np.arange(n_cases), seed=1
        )
        hits.append(found.low <= right_in <= found.high)
        widths.append(found.high - found.low)
    assert np.mean(hits) >= 0.9
    assert min(widths) > 0.1


def test_percent_agreement_of_11_of_11_has_wilsons_interval_with_students_quantile() -> (
    None
):
    found = estimate(
        PERCENT_AGREEMENT,
        [["wrong", "wrong"]] * 11,
        SCALE,
        np.arange(11),
        seed=1,
    )
    t = 2.2281388519649385  # of 10 degrees of freedom
    assert found[:3] == (
        1.0,
        pytest.approx(1 / (1 + t**2 / 11)),
        pytest.approx(1.0),
    )
    assert found[3:] == (11, 11, 0, None)


def test_percent_agreement_of_one_case_leaves_everything_open() -> None:
    found = estimate(
        PERCENT_AGREEMENT, [["wrong", "wrong"]] * 4, SCALE, ["a"] * 4, seed=1
    )
    assert (found[:3], found.why) == ((1.0, 0.0, 1.0), None)


def test_what_is_no_rate_is_estimated_by_the_bootstrap() -> None:
    labels, case = annotated(60, seed=2)
    assert estimate(gwet_ac.AC1, labels, SCALE, case, seed=3) == bootstrap(
        gwet_ac.AC1, labels, SCALE, case, seed=3
    )


@every_statistic
@pytest.mark.parametrize("labels", [[], [["correct", None], [None, "wrong"]]])
def test_without_a_value_there_is_no_interval(
    statistic: Statistic, labels: list[list[str | None]]
) -> None:
    found = bootstrap(
        statistic, labels, SCALE, range(len(labels)), seed=1, n_resamples=50
    )
    assert all(math.isnan(value) for value in found[:3])
    assert (found.n, found.n_undefined, found.why) == (0, 50, Why.NO_OVERLAP)


def test_cases_without_a_common_item_are_not_drawn() -> None:
    labels, case = annotated(40, seed=6)
    more = np.vstack([labels, [["correct", None]] * 30])
    alone = bootstrap(krippendorff_alpha.ORDINAL, labels, SCALE, case, seed=1)
    assert (
        bootstrap(
            krippendorff_alpha.ORDINAL,
            more,
            SCALE,
            case + list(range(100, 130)),
            seed=1,
        )
        == alone
    )


@every_statistic
@examples(15)
@given(rows=labels_of_three, seed=st.integers(0, 99))
def test_resampling_by_sums_is_resampling_of_labels(
    statistic: Statistic, rows: list[list[str | None]], seed: int
) -> None:
    rows = usable(statistic, rows)
    drawn = np.random.default_rng(seed).integers(len(rows), size=len(rows))
    codes = label_codes(rows, SCALE)
    times = np.bincount(drawn, minlength=len(rows))
    by_sums = float(statistic.value(times @ statistic.summands(codes, 3), 3))
    assert by_sums == pytest.approx(
        statistic([rows[place] for place in drawn], SCALE).value,
        abs=1e-9,
        nan_ok=True,
    )
