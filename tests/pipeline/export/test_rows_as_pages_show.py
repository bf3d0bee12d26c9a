"""Models, runs, tables, claims and agreement as exported: the values of their own functions, with n and method."""

from __future__ import annotations

from itertools import combinations

import pytest

from crane_core.domain import Setting
from crane_core.pipeline.agreement import exported_agreement
from crane_core.pipeline.agreement.agreement import (
    PERCENT,
    ComparedVerdicts,
    agreement_table,
    common_items,
)
from crane_core.pipeline.agreement.judges_beside import judge_powered
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.claims import claims
from crane_core.pipeline.claims.claims import (
    checked_claims,
    loaded_from,
    published_claims,
)
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import five_runs
from crane_core.pipeline.results.exported_statistic import RATE_INTERVAL
from crane_core.pipeline.results.five_runs import (
    answers_by_run,
    run_table,
    vote_table,
)
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.model_across import (
    exported_across,
    model_across,
)
from crane_core.pipeline.results.run_list import exported_runs, run_list
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

from .conftest import holds, only


def test_models_over_all_detectors(study_models: Material) -> None:
    mine = list(exported_across(study_models))
    found = model_across(
        study_models.verdicts, rule=VoteRule.MAJORITY, credit=Credit.STRICT
    )
    of = {"runs": VoteRule.MAJORITY, "credit": Credit.STRICT}
    for row in as_rows(found.ratios):
        one = only(
            mine,
            **of,
            detector=row["detector_title"],
            statistic="odds ratio of runtime state",
        )
        assert holds(one, row, "odds_ratio")
    test = only(mine, **of, statistic="chi-squared of runtime state x detector")
    assert (test.value, test.p, test.n_cases) == (
        found.chi2,
        found.p_value,
        found.n_cases,
    )


def test_runs_and_votes(study_models: Material) -> None:
    mine = list(five_runs.exported_five_runs(study_models))
    by_run = answers_by_run(
        study_models.store, "junobench", "crane-llm-2025-10"
    )
    table = run_table(study_models.verdicts, by_run)
    votes = vote_table(study_models.verdicts)
    for row in as_rows(table[table["measure"] == "all answers right"]):
        one = only(
            mine,
            statistic="all answers right",
            detector=row["detector_title"],
            input=row["setting"],
        )
        assert holds(one, row)
    four = as_rows(
        votes[(votes["votes"] == 4) & (votes["detector_title"] == "GPT-5")]
    )[0]
    name = "real crashes among 4 of 5 crash votes"
    one = only(
        mine, statistic=name, detector="GPT-5", input=five_runs.ALL_INPUTS
    )
    assert holds(one, four)
    seeds = {
        row.seed
        for row in mine
        if row.statistic == "share of variance between instances"
    }
    assert None not in seeds


def test_every_cell_of_the_tables(study_models: Material) -> None:
    mine = list(claims.exported_tables(study_models))
    known = study_tables(study_models.verdicts, study_models.numbers)
    assert len(mine) == sum(len(table.cells) for table in known.values())
    cell = next(cell for cell in known["2a"].cells if cell.ours is not None)
    one = only(mine, by="table 2a", group=cell.row, statistic=cell.column)
    assert (one.value, one.stated, one.n, one.unit) == (
        float(cell.ours or 0),
        cell.printed,
        cell.n,
        cell.unit,
    )
    assert {
        row.page
        for row in mine
        if row.by in {"table 4a", "table 4b", "table 5"}
    } == {"Ablations"}


def test_every_claim_with_its_verdict(study_models: Material) -> None:
    mine = list(claims.exported_claims(study_models))
    loaded = loaded_from(
        study_models.store,
        study_models.verdicts,
        study_models.numbers,
        study_models.labels,
    )
    checked = checked_claims(loaded, published_claims())
    assert {str(row.group).split(", ")[0] for row in mine} == {
        one.claim.id for one in checked
    }
    for one in checked:
        rows = [
            row for row in mine if str(row.group).split(", ")[0] == one.claim.id
        ]
        assert [row.value for row in rows] == [
            float(e.value) for e in one.estimates
        ] or (not one.estimates)
        assert all(str(row.note).startswith(str(one.verdict)) for row in rows)
        assert {row.stated for row in rows} == {one.claim.stated or None}


def test_agreement_of_runs(study_models: Material) -> None:
    mine = list(exported_runs(study_models))
    table = as_rows(run_list(study_models.store, study_models.verdicts))
    assert [row.value for row in mine] == [
        row["agreement"] for row in table if row["agreement"] is not None
    ]


def test_without_two_annotators_there_is_no_coefficient(
    study_models: Material,
) -> None:
    assert list(exported_agreement.exported_agreement(study_models)) == []


@pytest.fixture(scope="module")
def with_judges(study_store: Store, prepared_folder: DataFolder) -> Material:
    return Material(study_store, prepared_folder)


@pytest.mark.parametrize(
    "groupings",
    [
        pytest.param(("setting",), id="one"),
        pytest.param(None, marks=pytest.mark.slow, id="all"),
    ],
)
def test_coefficients_groups_judges_and_powered_estimates(
    with_judges: Material,
    groupings: tuple[str, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every grouping, or one: each has its own bootstrap of every group."""
    if groupings is not None:
        monkeypatch.setattr(exported_agreement, "GROUPINGS", groupings)
    mine = list(exported_agreement.exported_agreement(with_judges))
    assert {row.section for row in mine} == {
        "coefficients",
        "groups",
        "judges",
        "consistency",
    }
    people = (
        with_judges.labels.query("kind == 'human'")["annotator"]
        .unique()
        .tolist()
    )
    pairs = list(combinations(people, 2))
    assert pairs
    for pair in pairs:
        items = common_items(
            labelled_verdicts(with_judges.labels, with_judges.verdicts),
            pair,
            ComparedVerdicts.DIAGNOSES,
        )
        for row in (
            as_rows(agreement_table(items)) if not items.facts.empty else []
        ):
            of = {
                "runs": ComparedVerdicts.DIAGNOSES,
                "judged_by": " and ".join(pair),
            }
            one = only(
                mine, section="coefficients", statistic=row["coefficient"], **of
            )
            assert holds(one, row)
            method = (
                RATE_INTERVAL
                if row["coefficient"] == PERCENT
                else exported_agreement.BOOTSTRAP
            )
            assert one.interval_method == (
                None if row["low"] is None else method
            )
    assert {row.input for row in mine} == {None}
    assert Setting.CODE in {row.group for row in mine if row.by == "setting"}


def test_powered_estimates_are_of_both(with_judges: Material) -> None:
    """The study's people labelled all that its judge did, so half of their labels are taken away here."""
    labels = with_judges.labels
    material = Material(with_judges.store, with_judges.folder)
    material.__dict__["labels"] = labels.drop(
        labels.index[labels["annotator"] == PUBLISHED_HUMAN][::2]
    )
    passes = exported_agreement.judge_passes(material.store)
    labelled = labelled_verdicts(material.labels, material.verdicts)
    mine = list(exported_agreement._powered(material, labelled, passes))
    judge = "published judge, all repetitions"
    [row] = as_rows(judge_powered(labelled, "published human", [judge]))
    one = only(
        mine,
        statistic="correct diagnoses, with the judge",
        judged_by=f"published human and {judge}",
    )
    assert holds(one, row)
