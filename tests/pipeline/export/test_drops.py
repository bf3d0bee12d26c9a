"""The ablations are exported as the page shows them: drops with both tests, groups, tokens and price."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.pipeline.results.measures import PairedTest
from crane_core.pipeline.results.setting_drops import drop_table, exported_drops
from crane_core.storage.store import Store


@pytest.fixture(scope="module")
def found(
    embedded_store: Store, prepared_folder: DataFolder
) -> list[ExportedStatistic]:
    return list(exported_drops(Material(embedded_store, prepared_folder)))


@pytest.mark.slow
def test_each_drop_has_its_interval_and_both_tests(
    found: list[ExportedStatistic], verdicts: pd.DataFrame
) -> None:
    rules = verdicts[
        (verdicts["experiment"] == "shipped")
        & (verdicts["detector"] == "rules")
    ]
    expected = drop_table(
        rules, reference=Setting.RUNTIME, rate="Accuracy"
    ).to_dict("records")
    mine = [
        one
        for one in found
        if (one.benchmark, one.section, one.detector)
        == ("minibench", "drops", "Certain-crash rules")
        and one.statistic == "difference of accuracy"
    ]
    told = {
        (one.input, one.test): (one.value, one.p, one.p_adjusted)
        for one in mine
    }
    for row in expected:
        name = f"{row['setting']} against runtime"
        told_of = told[name, "exact McNemar test"]
        assert told_of == pytest.approx(
            (row["difference"], row["p_value"], row["p_holm"])
        )
        assert told[name, "sign-flip permutation test by case"][
            1
        ] == pytest.approx(row["p_by_case"])
    assert all(
        one.low is not None and one.high is not None and one.n == 80
        for one in mine
    )


def test_f1_is_tested_within_its_family(found: list[ExportedStatistic]) -> None:
    mine = [one for one in found if one.statistic == "difference of F1"]
    assert {one.section: one.adjustment for one in mine} == {
        "drops": "Holm",
        "groups": "Benjamini-Hochberg",
    }
    assert {one.test for one in mine} == {str(PairedTest.SWAP)}
    assert all(one.seed is not None and one.family is not None for one in mine)
    undefined = [one for one in mine if one.value is None]
    assert {one.outcome for one in undefined} <= {"nothing to compare"}
    assert all(
        one.p_adjusted is not None for one in mine if one.value is not None
    )


def test_costs_are_those_of_the_published_inputs(
    found: list[ExportedStatistic],
) -> None:
    mine = {
        (one.detector, one.input, one.unit): one.value
        for one in found
        if one.section == "cost"
    }
    assert mine["GPT-5", "runtime", "tokens"] == pytest.approx(1458.6, abs=0.05)
    assert mine["GPT-5", "code", "USD"] == pytest.approx(1.1, abs=0.01)
    assert ("Qwen2.5-32B-Instruct", "code", "USD") not in mine
