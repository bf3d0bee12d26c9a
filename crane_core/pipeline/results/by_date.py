"""Is a model as good on notebooks that it cannot have read? Accuracy and gain before and after its training data end.

Knows when notebooks were written (`Case.created`) and what is stated of models (`llm.model_dates`). A case is after a
model's data if every day that its date may mean comes after them; the others are before. Refuses to know why an
accuracy differs: newer notebooks may also be harder.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import DetectorKind
from crane_core.llm.model_dates import KnownModels, ModelDates
from crane_core.pipeline.results import exported_statistic, measures, outcomes
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.stated_date import StatedDate, stated_date
from crane_core.stats import arrays, equivalence, rates, shuffled_groups
from crane_core.stats.intervals import clustered_contrast, clustered_rate
from crane_core.storage.cases import dated_cases

SIDES = ("before", "after")
TEST = "permutation test by case, dates shuffled"
GAIN = "gain"
WHO = ("experiment", "detector", "detector_title")
MODELS = [*WHO, "released", "cutoff", "source", *SIDES, "dated", "undated"]
COLUMNS = [
    *WHO, "measure", *(f"{side}_{end}" for side in SIDES for end in ("value", "low", "high", "n", "n_cases")),
    "n", "n_cases", "difference", "low", "high", "p_value", "p_by_case", "p_holm", "p_by_case_holm", "p_smaller",
    "bound", "test", "outcome",
]  # fmt: skip


class ByDate(NamedTuple):
    """What is known of each model, and how it does before and after the end of its training data.

    models: a row per experiment and model, columns MODELS: its dates as they are stated (None: not stated), and how
    many cases are before, after, with and without a date (before and after: None where nothing is stated of the model).
    table: a row per model and measure with cases on both sides, columns COLUMNS: the measure is a setting, for its
    accuracy, or GAIN, the difference of both inputs. difference is after minus before. Holm is over all rows.
    """

    models: pd.DataFrame
    table: pd.DataFrame


class _Measure(NamedTuple):
    """A sum of rates with signs: one rate, or one minus another; arrays of shape (n,) over the same instances."""

    name: str
    signs: tuple[float, ...]
    parts: tuple[arrays.Array, ...]
    wholes: tuple[arrays.Array, ...]
    case_id: NDArray[np.object_]
    is_tested: bool


def by_date(
    frame: pd.DataFrame,
    created: Mapping[str, str],
    known: KnownModels,
    *,
    rule: measures.VoteRule = measures.VoteRule.MAJORITY,
    credit: measures.Credit = measures.Credit.DETECTION,
    inputs: measures.Inputs = measures.WITH_STATE,
    bound: float = equivalence.SMALLEST_EFFECT,
) -> ByDate:
    """Compare the language models of a slice of the verdict frame, which is of one benchmark.

    created: when cases were written, by case_id. bound: the smallest effect of interest, a share.
    """
    dates = {case: stated_date(text) for case, text in created.items()}
    models, rows = [], []
    is_model = frame["detector_kind"] == DetectorKind.LLM
    for key, mine in frame[is_model].groupby(
        list(WHO), sort=False, observed=True
    ):
        who = dict(zip(WHO, map(str, key), strict=True))
        stated = known.dates(who["detector"], who["detector_title"])
        models.append(
            who | _known_of(stated, set(mine["case_id"].unique()), dates)
        )
        if stated.unseen_after is None:
            continue
        is_dated = mine["case_id"].isin(list(dates))
        for measure in _measures(mine[is_dated], rule, credit, inputs):
            is_after = np.array(
                [
                    dates[case].is_after(stated.unseen_after)
                    for case in measure.case_id
                ],
                dtype=bool,
            )
            if 0 < is_after.sum() < len(is_after):
                rows.append(who | _compared(measure, is_after))
    table = pd.DataFrame(columns=COLUMNS)
    if rows:
        table = outcomes.one_family(pd.DataFrame(rows), bound)[COLUMNS]
    return ByDate(pd.DataFrame(models, columns=MODELS), table)


def _known_of(
    stated: ModelDates, cases: set[str], dates: Mapping[str, StatedDate]
) -> dict[str, Any]:
    dated = [dates[case] for case in cases if case in dates]
    end = stated.unseen_after
    n_after = None
    if end is not None:
        n_after = sum(one.is_after(end) for one in dated)
    return {
        "released": stated.released and stated.released.text,
        "cutoff": stated.cutoff and stated.cutoff.text,
        "source": stated.source,
        "before": None if n_after is None else len(dated) - n_after,
        "after": n_after,
        "dated": len(dated),
        "undated": len(cases) - len(dated),
    }


def _measures(
    rows: pd.DataFrame,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs,
) -> Iterator[_Measure]:
    """The accuracy with each of both inputs, then the gain over the instances that have an outcome with both."""
    found: dict[str, pd.DataFrame] = {}
    for setting in inputs:
        mine = rows[rows["setting"] == setting].sort_values("instance_id")
        parts = measures.scored(mine, rule, credit).parts
        if mine.empty or parts is None:
            continue
        ratio = rates.accuracy(parts)
        counted = mine[["instance_id", "case_id"]].assign(
            part=ratio.part, whole=ratio.whole
        )
        counted = counted[counted["whole"] > 0]
        # Where a label stands for others, the winner of each instance is unknown.
        is_tested = not measures.is_sampled(mine, rule, credit)
        yield _measure(str(setting), [counted], is_tested=is_tested)
        if is_tested:
            found[setting] = counted.set_index("instance_id")
    if len(found) == len(inputs):
        base, other = (found[setting] for setting in inputs)
        shared = base.index.intersection(other.index)
        both = [base.loc[shared], other.loc[shared]]
        yield _measure(GAIN, both, is_tested=True)


def _measure(
    name: str, counted: list[pd.DataFrame], *, is_tested: bool
) -> _Measure:
    return _Measure(
        name,
        (1.0,) if len(counted) == 1 else (-1.0, 1.0),
        tuple(one["part"].to_numpy(dtype=float) for one in counted),
        tuple(one["whole"].to_numpy(dtype=float) for one in counted),
        counted[0]["case_id"].to_numpy(dtype=object),
        is_tested,
    )


def _compared(of: _Measure, is_after: NDArray[np.bool_]) -> dict[str, Any]:
    row: dict[str, Any] = {"measure": of.name}
    case = pd.factorize(of.case_id)[0]
    for side, here in zip(SIDES, (~is_after, is_after), strict=True):
        parts = [part[here] for part in of.parts]
        wholes = [whole[here] for whole in of.wholes]
        if len(parts) == 1:
            found = clustered_rate(parts[0], wholes[0], case[here])
        else:
            found = clustered_contrast(of.signs, parts, wholes, case[here])
        row |= {
            f"{side}_value": found.value,
            f"{side}_low": found.low,
            f"{side}_high": found.high,
            f"{side}_n": found.n,
            f"{side}_n_cases": found.n_clusters,
        }
    # Every case stays, with weight 0 on the other side.
    sides = [~is_after] * len(of.parts) + [is_after] * len(of.parts)
    difference = clustered_contrast(
        (*(-sign for sign in of.signs), *of.signs),
        [part * side for part, side in zip(of.parts * 2, sides, strict=True)],
        [
            whole * side
            for whole, side in zip(of.wholes * 2, sides, strict=True)
        ],
        case,
    )
    p = float("nan")
    if of.is_tested:
        moved = sum(
            sign * part for sign, part in zip(of.signs, of.parts, strict=True)
        )
        p = shuffled_groups.shuffled_groups(
            moved, of.wholes[0], case, is_after, seed=measures.SEED
        )
    return row | {
        "n": difference.n,
        "n_cases": difference.n_clusters,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        "p_value": p,
        "p_by_case": p,
        "test": TEST if of.is_tested else None,
    }


def compared_dates(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[tuple[exported_statistic.Judging, ByDate]]:
    """Every experiment with language models, as it is counted at first."""
    known = KnownModels(material.folder.path)
    cursor = material.store.cursor()
    for judging in material.judgings:
        if judging.is_main and judging.kind == DetectorKind.LLM:
            created = dated_cases(cursor, judging.benchmark)
            yield (
                judging,
                by_date(
                    judging.rows, created, known, credit=judging.usual_credit
                ),
            )


def exported_dates(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of each model and measure the value before and after, and the difference with its test."""
    for judging, found in compared_dates(material):
        head = judging.head(
            "Results", "dates", VoteRule.MAJORITY, judging.usual_credit
        )
        family = (
            f"models, inputs and gains before and after ({len(found.table)})"
        )
        for row in as_rows(found.table):
            yield from _of_row(head, row, family)


def _of_row(
    head: exported_statistic.ExportedStatistic, row: dict[str, Any], family: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    is_gain = row["measure"] == GAIN
    what = "gain" if is_gain else "accuracy"
    of = head._replace(
        detector=row["detector_title"],
        input=exported_statistic.BOTH_INPUTS if is_gain else row["measure"],
    )
    for side in SIDES:
        found = {
            name: row[f"{side}_{name}"]
            for name in ("value", "low", "high", "n", "n_cases")
        }
        one = of._replace(statistic=f"{what} {side} the cut-off")
        if is_gain:
            yield one.measured_row(
                found,
                unit="difference of shares",
                method=exported_statistic.DIFFERENCE_INTERVAL,
            )
        else:
            yield one.rated(found)
    difference = of._replace(statistic=f"difference of {what} by date")
    yield from difference.compared(row).tested(
        row, exported_statistic.HOLM, family
    )
