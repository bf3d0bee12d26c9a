"""Exported statistics are those that the pages show: the same values out of the same functions, none left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from crane_core.domain import DetectorKind
from crane_core.pipeline.export.all_statistics import KINDS
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import breakdown, comparisons
from crane_core.pipeline.results.exported_statistic import (
    BOTH_INPUTS,
    ExportedStatistic,
)
from crane_core.pipeline.results.measures import (
    SEED,
    WITH_STATE,
    Credit,
    PairedTest,
    VoteRule,
)
from crane_core.pipeline.rows import as_rows
from crane_core.storage.store import Store
from crane_core.ui import breakdown_view, breakdown_words, data, gains_view
from crane_core.ui.result_switches import STUDY, ResultChoice

from .conftest import only


@pytest.fixture(scope="module")
def headline(study_models: Material) -> list[ExportedStatistic]:
    return list(comparisons.exported_gains(study_models))


@pytest.fixture
def shown(
    study_models: Material,
    embedded_store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> Material:
    """The pages read what the export reads."""
    monkeypatch.setattr(data, "verdicts", lambda: study_models.verdicts)
    monkeypatch.setattr(data, "store", lambda: embedded_store)
    monkeypatch.setattr(data, "answers", lambda: "as exported")
    return study_models


def switches(rule: VoteRule, credit: Credit) -> ResultChoice:
    return ResultChoice("junobench", STUDY, DetectorKind.LLM, rule, credit)


def holds(
    one: ExportedStatistic, row: dict[str, Any], key: str = "value"
) -> bool:
    """Equal but for the order in which a page and an export add up."""
    found = np.array([one.value, one.low, one.high], dtype=float)
    shown = np.array([row[key], row["low"], row["high"]], dtype=float)
    is_same = np.isclose(found, shown, rtol=1e-12, atol=1e-12, equal_nan=True)
    return bool(is_same.all()) and (one.n, one.n_cases) == (
        row["n"],
        row["n_cases"],
    )


@pytest.mark.parametrize("rule", VoteRule)
@pytest.mark.parametrize("credit", Credit)
def test_headline(
    shown: Material,
    headline: list[ExportedStatistic],
    rule: VoteRule,
    credit: Credit,
) -> None:
    found = gains_view.compared(switches(rule, credit))
    mine = [row for row in headline if (row.runs, row.credit) == (rule, credit)]
    for row in as_rows(found.comparison):
        of = {"detector": row["detector_title"], "input": BOTH_INPUTS}
        main = only(
            mine, **of, statistic="difference of accuracy", test=row["test"]
        )
        assert holds(main, row, "difference")
        assert (main.p, main.p_adjusted) == (row["p_value"], row["p_holm"])
        by_case = only(
            mine,
            **of,
            statistic="difference of accuracy",
            test=str(PairedTest.SIGN_FLIP),
        )
        assert (by_case.p, by_case.p_adjusted, by_case.seed) == (
            row["p_by_case"],
            row["p_by_case_holm"],
            SEED,
        )
        assert main.outcome == by_case.outcome == row["outcome"]
        if row["gained"] is not None:
            assert only(mine, **of, statistic="gained").value == row["gained"]
            assert only(mine, **of, statistic="lost").value == row["lost"]
            assert (
                only(
                    mine, **of, statistic="minimum detectable difference"
                ).value
                == row["detectable"]
            )
    for row in as_rows(found.rates):
        one = only(
            mine,
            detector=row["detector_title"],
            input=row["setting"],
            statistic="accuracy",
        )
        assert holds(one, row)


def test_breakdown(shown: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two rates: one that is tested as right or wrong and one by swapping."""
    monkeypatch.setattr(breakdown, "RATES", ("Accuracy", "F1"))
    chosen = switches(VoteRule.MAJORITY, Credit.STRICT)
    judging = shown.judgings[0]
    policy = (judging, chosen.rule, chosen.credit, "stage")
    mine = [
        *breakdown._rates(*policy),
        *breakdown._changes(*policy, WITH_STATE),
    ]
    for rate in breakdown.RATES:
        table, changes = breakdown_view._rates(chosen, "stage", rate)
        name = rate if rate == "F1" else rate.lower()
        for row in as_rows(table):
            of = {"group": row["stage"], "detector": row["detector_title"]}
            one = only(mine, **of, input=row["setting"], statistic=name)
            assert holds(one, row)
        for row in as_rows(changes):
            of = {"group": row["stage"], "detector": row["detector_title"]}
            of |= {"statistic": f"difference of {name}", "test": row["test"]}
            main = only(mine, **of)
            assert holds(main, row, "difference")
            tested = (main.p, main.p_adjusted, main.outcome)
            assert tested == (row["p_value"], row["p_bh"], row["outcome"])


def test_what_results_offers_is_exported() -> None:
    assert tuple(breakdown_words.GROUPINGS) == breakdown.GROUPINGS
    assert breakdown_view.RATES == breakdown.RATES


def test_kinds_stand_in_the_order_in_which_exports_hold_them() -> None:
    kinds = "across agreement breakdown by_date choices claims drops five_runs gains judge_differs one_model plans"
    assert list(KINDS) == [
        *kinds.split(),
        "prevalence",
        "runs",
        "tables",
        "time_saved",
        "together",
        "varied_copies",
    ]


def test_labels_of_a_sample_are_told_to_allow_no_test(
    study_models: Material,
) -> None:
    judging = study_models.judgings[0]
    crashes = judging.rows["truth"] & (
        judging.rows["n_crash"] > judging.rows["n_safe"]
    )
    sampled = judging.rows.assign(
        label_stratum=pd.Series("drawn", judging.rows.index).where(crashes),
        human=judging.rows["human"].where(
            ~crashes | (np.arange(len(judging.rows)) % 3 == 0), None
        ),
    )
    found = list(
        comparisons._differences(
            judging._replace(rows=sampled),
            VoteRule.MAJORITY,
            Credit.STRICT,
            WITH_STATE,
        )
    )
    differences = [
        row for row in found if row.statistic == "difference of accuracy"
    ]
    assert len(differences) == 3
    assert {(row.test, row.outcome) for row in differences} == {
        (None, "not tested")
    }
    assert all("sample" in str(row.note) for row in differences)
