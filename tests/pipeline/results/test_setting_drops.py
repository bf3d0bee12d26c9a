"""What each input changes against a reference: on the published answers by hand, and one family of tests."""

from __future__ import annotations

import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from crane_core.domain import Setting
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import PairedTest
from crane_core.pipeline.results.setting_drops import (
    drop_table,
    drops_by,
    reference_of,
    runs_of,
    sources,
)
from crane_core.stats.outcome import Outcome
from crane_core.storage.store import Store

STUDY = "crane-llm-2025-10"


@pytest.fixture(scope="module")
def frame(embedded_store: Store) -> pd.DataFrame:
    return verdict_frame(embedded_store)


@pytest.fixture(scope="module")
def shipped(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[
        (frame["benchmark"] == "minibench") & (frame["experiment"] == "shipped")
    ]


def right(rows: pd.DataFrame) -> pd.DataFrame:
    """Right or wrong per instance (rows) and setting (columns), counted here without the code under test."""
    said = rows["n_crash"] * 2 > rows["n_crash"] + rows["n_safe"]
    return rows.assign(right=said == rows["truth"]).pivot(
        index="instance_id", columns="setting", values="right"
    )


def test_drops_are_those_of_right_and_wrong_counted_by_hand(
    shipped: pd.DataFrame,
) -> None:
    table = drop_table(shipped, reference=Setting.RUNTIME, rate="Accuracy")
    assert len(table) == 3 * 2
    for row in table.to_dict("records"):
        wide = right(shipped[shipped["detector"] == row["detector"]]).astype(
            bool
        )
        with_it, without = wide[row["setting"]], wide["runtime"]
        assert (row["n"], row["n_cases"]) == (80, 40)
        assert row["difference"] == pytest.approx(
            with_it.mean() - without.mean()
        )
        assert (row["reference"], row["value"]) == pytest.approx(
            (without.mean(), with_it.mean())
        )
        assert (row["gained"], row["lost"]) == (
            (with_it & ~without).sum(),
            (without & ~with_it).sum(),
        )
        counts = pd.crosstab(without, with_it).reindex(
            index=[False, True], columns=[False, True], fill_value=0
        )
        assert row["p_value"] == pytest.approx(
            mcnemar(counts.to_numpy(), exact=True).pvalue
        )
        assert row["low"] < row["difference"] < row["high"]


def test_all_rows_are_one_family(shipped: pd.DataFrame) -> None:
    table = drop_table(shipped, reference=Setting.RUNTIME, rate="Accuracy")
    for raw, adjusted in (
        ("p_value", "p_holm"),
        ("p_by_case", "p_by_case_holm"),
    ):
        assert table[adjusted].tolist() == pytest.approx(
            multipletests(table[raw], method="holm")[1]
        )


def test_f1_is_tested_by_swapping_and_decided_by_the_adjusted_test(
    shipped: pd.DataFrame,
) -> None:
    table = drop_table(shipped, reference=Setting.RUNTIME, rate="F1")
    assert set(table["test"]) == {PairedTest.SWAP}
    assert table["p_value"].between(0, 1).all()
    assert table["p_holm"].tolist() == pytest.approx(
        multipletests(table["p_value"], method="holm")[1]
    )
    assert table["gained"].isna().all()
    is_found = table["outcome"].isin([Outcome.GAIN, Outcome.LOSS])
    assert is_found.tolist() == (table["p_holm"] < 0.05).tolist()


def test_groups_add_up_to_the_whole(shipped: pd.DataFrame) -> None:
    whole = drop_table(shipped, reference=Setting.RUNTIME, rate="Accuracy")
    whole = whole[whole["setting"] == "code"].set_index("detector")[
        ["n", "gained", "lost"]
    ]
    for by in ("library_group", "root_cause"):
        groups = drops_by(
            shipped,
            by=by,
            reference=Setting.RUNTIME,
            setting=Setting.CODE,
            rate="Accuracy",
        )
        sums = groups.groupby("detector")[["n", "gained", "lost"]].sum()
        assert (sums.loc[whole.index] == whole).all().all()
        expected = multipletests(groups["p_value"], method="fdr_bh")[1]
        assert groups["p_bh"].tolist() == pytest.approx(expected)


def test_the_reference_is_the_full_state_of_the_study_where_somebody_was_asked_with_it(
    shipped: pd.DataFrame,
) -> None:
    assert reference_of(shipped) == Setting.RUNTIME
    assert (
        reference_of(shipped[shipped["setting"] != "runtime"])
        == Setting.RUNTIME_PLUS
    )


def runs(*rows: tuple[str, str, int, str]) -> pd.DataFrame:
    """Rows of `run_list`: experiment, setting, n_answers, started_at."""
    columns = ["experiment", "setting", "n_answers", "started_at"]
    return pd.DataFrame(rows, columns=columns).assign(
        benchmark="mine", detector="heron", is_job=True
    )


def verdicts(ran: pd.DataFrame) -> pd.DataFrame:
    asked = ran[["benchmark", "detector", "setting", "experiment"]]
    return asked.assign(instance_id="a", n_crash=1, n_safe=0)


def test_inputs_without_a_common_instance_are_no_source() -> None:
    """Each of two inputs was asked about another instance; or about the same, and one has no answer."""
    ran = runs(
        ("code-1", "code", 1, "2026-01-01"),
        ("v-1", "runtime-V", 1, "2026-01-01"),
    )
    shared = verdicts(ran)
    assert sources(shared, ran, "mine") == [OWN]
    imported = ran.assign(is_job=False)
    one_import = shared.assign(experiment="theirs")
    assert sources(one_import, imported, "mine") == ["theirs"]
    for apart in (
        shared.assign(instance_id=["a", "b"]),
        shared.assign(n_crash=[1, 0]),
    ):
        assert sources(apart, ran, "mine") == []
        assert (
            sources(apart.assign(experiment="theirs"), imported, "mine") == []
        )
        assert runs_of(apart, ran, "mine", OWN).rows.empty


@pytest.mark.parametrize(
    ("settings", "instances", "expected"),
    [
        (
            ["runtime", "code", "runtime+"],
            ["a", "b", "b"],
            Setting.RUNTIME_PLUS,
        ),
        (
            ["runtime-S", "runtime-V", "runtime-R"],
            ["a", "a", "b"],
            Setting.RUNTIME_WITHOUT_V,
        ),
        (["runtime", "code", "runtime+"], ["a", "a", "a"], Setting.RUNTIME),
    ],
)
def test_the_reference_shares_an_instance(
    settings: list[str], instances: list[str], expected: Setting
) -> None:
    rows = pd.DataFrame(
        {
            "detector": "heron",
            "setting": settings,
            "instance_id": instances,
            "n_crash": 1,
            "n_safe": 0,
        }
    )
    assert reference_of(rows) == expected


def test_own_runs_of_several_settings_are_one_detector_and_the_largest_last_one_counts() -> (
    None
):
    ran = runs(
        ("code-1", "code", 10, "2026-01-01"), ("code-2", "code", 10, "2026-01-02"), ("code-3", "code", 4, "2026-01-03"),
        ("v-1", "runtime-V", 10, "2026-01-01"),
    )  # fmt: skip
    found = runs_of(verdicts(ran), ran, "mine", OWN)
    assert sorted(found.rows["experiment"]) == ["code-2", "v-1"]
    assert found.n_left_out == 2
    assert sources(verdicts(ran), ran, "mine") == [OWN]
    alone = ran[ran["setting"] == "code"]
    assert sources(verdicts(alone), alone, "mine") == []


def test_an_imported_experiment_has_what_ships_beside_it(
    frame: pd.DataFrame,
) -> None:
    none = runs().astype({"is_job": bool})
    assert sources(frame, none, "junobench") == [STUDY]
    rows = runs_of(frame, none, "junobench", STUDY).rows
    assert rows["setting"].value_counts().to_dict() == {
        "code": 6 * 222,
        "runtime": 6 * 222,
    }
