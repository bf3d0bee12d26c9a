"""Results by another annotator's labels: whole campaigns give the published numbers, samples estimate them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Item,
    LabelledVerdict,
    Overlap,
    Plan,
    Population,
    Stratum,
)
from crane_core.annotation.redeal import PeopleChange
from crane_core.domain import Label
from crane_core.importers.crane_llm_workbooks import SETTLED
from crane_core.pipeline.campaigns.campaigns import (
    asked_for,
    keep_campaign,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.label_frame import COLUMNS, KEY, label_frame
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.rounds import change_people, open_main
from crane_core.pipeline.export import all_statistics
from crane_core.pipeline.judging.judged import (
    Coverage,
    annotators_of,
    coverage,
    judged_by,
    locked_campaigns,
)
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import comparisons
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.results.measures import (
    Credit,
    VoteRule,
    change_table,
    gain_table,
    label_weights,
    rate_table,
    scored,
)
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.pipeline.study.table_cells import CellStatus
from crane_core.stats.rates import RATES, total
from crane_core.storage.store import Store, open_store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

STUDY = Population("junobench", "crane-llm-2025-10")
BY = ["detector", "setting"]
STRICT: dict[str, Any] = {"rule": VoteRule.MAJORITY, "credit": Credit.STRICT}
DETECTION: dict[str, Any] = {
    "rule": VoteRule.MAJORITY,
    "credit": Credit.DETECTION,
}


@pytest.fixture(scope="module")
def diagnoses(verdicts: pd.DataFrame) -> list[LabelledVerdict]:
    """The study's 501."""
    columns = [*KEY, "case_id", "library", "root_cause"]
    found = [
        LabelledVerdict(**row)
        for row in as_rows(asked_for(verdicts, STUDY)[columns])
    ]
    assert len(found) == 501
    return found


def models(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[
        (frame["experiment"] == STUDY.experiment)
        & (frame["detector_kind"] == "llm")
    ]


def plan_of(
    diagnoses: list[LabelledVerdict],
    design: Design,
    *,
    seed: int = 1,
    population: Population = STUDY,
) -> Plan:
    wish = CampaignRequest(
        "pilot", ("ana", "ben"), population, design, seed=seed
    )
    return draw_plan(
        wish,
        diagnoses,
        guideline="g",
        created_at="2026-11-21T09:00:00+00:00",
        left_out=0,
    )


def finals(
    plan: Plan, verdicts: pd.DataFrame, provenance: str = "unanimous"
) -> pd.DataFrame:
    """Final outcomes of every item, as the published human says."""
    human = verdicts.set_index(KEY)["human"]
    rows = [
        (
            *item.verdict.key,
            "pilot: final",
            "final",
            human[item.verdict.key],
            "pilot",
            provenance,
            None,
            1.0,
        )
        for item in plan.items
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def by_finals(plan: Plan, verdicts: pd.DataFrame) -> pd.DataFrame:
    return judged_by(verdicts, finals(plan, verdicts), "pilot: final", plan)


@pytest.fixture
def played(
    folder: DataFolder, diagnoses: list[LabelledVerdict]
) -> Iterator[tuple[Store, DataFolder, Plan]]:
    """A campaign over everything whose annotators say what the published human says; not locked yet."""
    store = open_store(folder.database)
    plan = plan_of(diagnoses, Design(kind=DrawKind.ALL))
    label_as_published(store, folder, plan)
    yield store, folder, plan
    store.close()


def label_as_published(store: Store, folder: DataFolder, plan: Plan) -> None:
    human = verdict_frame(store).set_index(KEY)["human"]
    keep_campaign(folder, plan)
    for annotator in plan.annotators:
        acts = [
            {
                "event": uuid4().hex,
                "action": "label",
                "item": item.item,
                "showing": 1,
            }
            | {"label": human[item.verdict.key]}
            for item in plan.items
        ]
        assert LabelStore(folder, "pilot").take(annotator, acts).refused == {}


@pytest.mark.slow
def test_exported_rows_judged_by_a_sample_say_so(
    folder: DataFolder,
    diagnoses: list[LabelledVerdict],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = open_store(folder.database)
    plan = plan_of(diagnoses, Design(repeats=0))
    label_as_published(store, folder, plan)
    lock_campaign(folder, "pilot", by="ana")
    monkeypatch.setattr(
        all_statistics, "KINDS", {"gains": comparisons.exported_gains}
    )
    rows = all_statistics.all_statistics(Material(store, folder))["gains"]
    store.close()
    sampled = [row for row in rows if row.judged_by == "pilot: final"]
    assert sampled
    said = f"judged by a sample: {len(plan.items)} of 501 detected crashes of the experiment have a label, and each"
    assert all(said in (row.note or "") for row in sampled)
    assert any((row.note or "").startswith("no test: ") for row in sampled), (
        "a note of its own stays in front"
    )
    others = [row for row in rows if row.judged_by != "pilot: final"]
    assert others
    assert not any("sample" in (row.note or "") for row in others)


@pytest.mark.slow
def test_a_campaign_over_everything_with_the_published_labels_gives_the_published_numbers(
    played: tuple[Store, DataFolder, Plan],
) -> None:
    store, folder, plan = played
    lock_campaign(folder, "pilot", by="ana")
    published = verdict_frame(store)
    judged = judged_by(
        published, label_frame(store, folder), "pilot: final", plan
    )
    tables = study_tables(
        judged[judged["detector_kind"] == "llm"], printed_numbers(store)
    )
    assert [cell.status for cell in tables["2a"].cells] == [
        CellStatus.EQUAL
    ] * 24
    assert coverage(models(judged)) == Coverage(
        501, 501, 0, 0, {"unanimous": 501}
    )
    ours, theirs = models(judged), models(published)
    for rule, credit in [
        (rule, credit)
        for rule in (VoteRule.MAJORITY, VoteRule.ALL)
        for credit in Credit
    ]:
        asked: dict[str, Any] = {"rule": rule, "credit": credit}
        for rate in RATES:
            pd.testing.assert_frame_equal(
                rate_table(ours, by=BY, rate=rate, **asked),
                rate_table(theirs, by=BY, rate=rate, **asked),
            )
        pd.testing.assert_frame_equal(
            gain_table(ours, **asked), gain_table(theirs, **asked)
        )
    by_library: dict[str, Any] = {
        "by": "library_group",
        "rate": "Recall",
        **STRICT,
    }
    pd.testing.assert_frame_equal(
        change_table(ours, **by_library), change_table(theirs, **by_library)
    )


def test_final_outcomes_are_offered_after_the_lock_and_where_they_have_labels(
    played: tuple[Store, DataFolder, Plan],
) -> None:
    store, folder, _ = played
    frame, labels = verdict_frame(store), label_frame(store, folder)
    offered = annotators_of(labels, models(frame), locked_campaigns(folder))
    assert offered == [PUBLISHED_HUMAN]
    lock_campaign(folder, "pilot", by="ana")
    locked = locked_campaigns(folder)
    assert locked == {"pilot"}
    assert annotators_of(labels, models(frame), locked) == [
        PUBLISHED_HUMAN,
        "pilot: final",
    ]
    analyzers = frame[
        (frame["detector_kind"] == "analyzer")
        & (frame["experiment"] == STUDY.experiment)
    ]
    assert annotators_of(labels, analyzers, locked) == [PUBLISHED_HUMAN]
    assert (
        annotators_of(
            labels, frame[frame["experiment"] == "junobench-construct"], locked
        )
        == []
    )
    differing = (
        labels[labels["annotator"] == PUBLISHED_HUMAN]
        .head(9)
        .assign(annotator=f"{SETTLED}@1a2b3c4")
    )
    assert annotators_of(differing, models(frame), locked) == []


def test_the_published_human_of_the_label_frame_is_the_verdict_frames(
    embedded_store: Store, verdicts: pd.DataFrame, prepared_folder: DataFolder
) -> None:
    judged = judged_by(
        verdicts, label_frame(embedded_store, prepared_folder), PUBLISHED_HUMAN
    )
    assert (
        judged["human"].fillna("-").tolist()
        == verdicts["human"].fillna("-").tolist()
    )
    assert judged["label_stratum"].isna().all()
    rest = list(verdicts.columns.drop(["human", "provenance"]))
    pd.testing.assert_frame_equal(judged[rest], verdicts[rest])
    assert judged["provenance"].isna().all()
    assert (
        coverage(models(judged))
        == coverage(models(verdicts))
        == Coverage(501, 501, 0, 0, {})
    )


def estimates(
    frame: pd.DataFrame, rule: VoteRule
) -> dict[tuple[str, str, str], float]:
    """Every rate of every model and setting, end to end. All of the 111 crashes are accounted for."""
    found = {}
    for group, rows in models(frame).groupby(BY):
        parts = scored(rows, rule, Credit.STRICT).parts
        assert parts is not None
        assert RATES["Recall"](total(parts)).whole + total(
            parts
        ).left_out == pytest.approx(111)
        found |= {
            (*map(str, group), name): rate(parts).value
            for name, rate in RATES.items()
        }
    return found


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(
            rule, marks=() if rule is VoteRule.MAJORITY else pytest.mark.slow
        )
        for rule in VoteRule
    ],
)
def test_samples_of_222_estimate_the_whole_without_bias(
    rule: VoteRule, verdicts: pd.DataFrame, diagnoses: list[LabelledVerdict]
) -> None:
    truth = estimates(verdicts, rule)
    weighted, left_out = [], []
    for seed in range(12):
        plan = plan_of(diagnoses, Design(), seed=seed)
        assert len(plan.items) == 222
        labels = finals(plan, verdicts)
        weighted.append(
            estimates(judged_by(verdicts, labels, "pilot: final", plan), rule)
        )
        left_out.append(
            estimates(judged_by(verdicts, labels, "pilot: final"), rule)
        )
    for place, value in truth.items():
        found = np.array([estimate[place] for estimate in weighted])
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - value) < 4 * error + 0.001, place
        if place[2] == "Recall":
            assert (
                np.mean([estimate[place] for estimate in left_out])
                < value - 0.03
            ), place


@pytest.mark.parametrize("rule", VoteRule)
def test_a_sample_knows_how_many_crashes_each_group_has(
    rule: VoteRule, verdicts: pd.DataFrame, diagnoses: list[LabelledVerdict]
) -> None:
    plan = plan_of(diagnoses, Design())
    judged = models(by_finals(plan, verdicts))
    for by in (BY, ["library_group", *BY]):
        asked: dict[str, Any] = {"by": by, "rate": "Recall", "rule": rule}
        known = rate_table(
            models(verdicts), credit=Credit.DETECTION, **asked
        ).set_index(by)["whole"]
        for credit in (Credit.STRICT, Credit.HALF):
            found = rate_table(judged, credit=credit, **asked).set_index(by)
            covered = found[found["value"].notna()]
            assert len(covered) > 0.9 * len(known)
            assert covered["whole"].tolist() == pytest.approx(
                known[covered.index].tolist()
            )
            assert (covered["part"] <= covered["whole"] + 1e-9).all()


TEAM = ("ana", "ben", "cleo", "dan")


def said_by(
    folder: DataFolder, campaign: str, who: str, n: int, human: pd.Series[str]
) -> None:
    """The next n items of this person's order get the label of the published human."""
    desk = LabelStore(folder, campaign)
    coming = desk.journal(who).upcoming(n)
    acts = [
        {
            "event": uuid4().hex,
            "action": "label",
            "item": showing.item,
            "showing": showing.showing,
        }
        | {"label": human[desk.plan.item(showing.item).verdict.key]}
        for showing in coming
    ]
    assert desk.take(who, acts).refused == {}


@pytest.mark.slow
def test_labels_weigh_by_their_stratum_after_a_redeal(
    folder: DataFolder, diagnoses: list[LabelledVerdict]
) -> None:
    """Each item by two of four; one leaves, one joins, and some items stay open: each stratum still stands for all."""
    store = open_store(folder.database)
    verdicts = verdict_frame(store)
    human = verdicts.set_index(KEY)["human"]
    design = Design(
        margin=0.06,
        strata=("library",),
        overlap=Overlap.SOME,
        per_item=2,
        calibration=6,
        repeats=0.0,
    )
    for seed in range(16):
        wish = CampaignRequest(f"team-{seed}", TEAM, STUDY, design, seed=seed)
        plan = draw_plan(
            wish,
            diagnoses,
            guideline="g",
            created_at="2026-11-21T09:00:00+00:00",
            left_out=0,
        )
        keep_campaign(folder, plan)
        for who in TEAM:
            said_by(folder, plan.campaign, who, 6, human)
        open_main(folder, plan.campaign, by="lead")
        for who in TEAM:
            said_by(folder, plan.campaign, who, 15, human)
        change_people(
            folder,
            plan.campaign,
            PeopleChange(add=("eva",), remove=("ben",)),
            by="lead",
        )
        for who in ("ana", "cleo", "dan", "eva"):
            said_by(folder, plan.campaign, who, 50 if seed else 1_000, human)
        lock_campaign(folder, plan.campaign, by="lead")
    labels = label_frame(store, folder)
    store.close()
    truth = _recall(models(verdicts))
    found = []
    for seed in range(16):
        plan = kept_campaign(folder, f"team-{seed}").plan
        judged = models(
            judged_by(verdicts, labels, f"team-{seed}: final", plan)
        )
        weight = pd.Series(
            label_weights(judged, VoteRule.MAJORITY), judged.index
        )
        is_labelled = judged["label_stratum"].notna() & judged["human"].notna()
        n_of = {
            f"drawn: {stratum.name}": stratum.population
            for stratum in plan.strata
        }
        assert weight.groupby(
            judged["label_stratum"]
        ).sum().to_dict() == pytest.approx(n_of)
        if seed == 0:
            of_item = {
                item.verdict.key: 1 / item.inclusion_probability
                for item in plan.items
            }
            keys = judged.loc[is_labelled, KEY].itertuples(
                index=False, name=None
            )
            assert dict(
                zip(keys, weight[is_labelled], strict=True)
            ) == pytest.approx(of_item)
            assert max(of_item.values()) > 1.2 * min(of_item.values())
        else:
            assert len(plan.items) // 2 < is_labelled.sum() < len(plan.items), (
                "some stayed open"
            )
        found.append(_recall(judged))
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 3 * error
    assert error < 0.02


def _recall(rows: pd.DataFrame) -> float:
    parts = scored(rows, VoteRule.MAJORITY, Credit.STRICT).parts
    assert parts is not None
    return RATES["Recall"](total(parts)).value


def test_intervals_of_samples_cover_what_all_labels_would_give(
    verdicts: pd.DataFrame, diagnoses: list[LabelledVerdict]
) -> None:
    asked: dict[str, Any] = {"by": BY, "rate": "F1", **STRICT}
    truth = rate_table(models(verdicts), **asked).set_index(BY)["value"]
    covered = []
    for seed in range(1_000, 1_012):
        plan = plan_of(diagnoses, Design(), seed=seed)
        table = rate_table(
            models(by_finals(plan, verdicts)),
            **asked,
        )
        table = table.set_index(BY)
        covered += ((table["low"] <= truth) & (truth <= table["high"])).tolist()
        assert (table["n_labelled"] < table["n_to_label"]).all()
    assert len(covered) == 72
    assert np.mean(covered) >= 0.95


def test_with_a_sample_nobody_knows_who_wins_which_instance(
    verdicts: pd.DataFrame, diagnoses: list[LabelledVerdict]
) -> None:
    plan = plan_of(diagnoses, Design())
    judged = models(by_finals(plan, verdicts))
    gains = gain_table(judged, **STRICT)
    assert (
        gains[
            [
                "gained",
                "lost",
                "p_value",
                "p_by_case",
                "p_holm",
                "detectable",
                "test",
            ]
        ]
        .isna()
        .all()
        .all()
    )
    assert (gains["low"] < gains["difference"]).all() and (
        gains["difference"] < gains["high"]
    ).all()
    theirs = gain_table(models(verdicts), **DETECTION)
    pd.testing.assert_frame_equal(gain_table(judged, **DETECTION), theirs)
    assert coverage(judged) == Coverage(501, 222, 0, 0, {"unanimous": 222})


def small(*rows: tuple[str, str, str, bool, int]) -> pd.DataFrame:
    """case, detector, setting, whether it crashes, runs of five that predict a crash."""
    frame = pd.DataFrame(
        rows, columns=["case_id", "detector", "setting", "truth", "n_crash"]
    )
    version = frame["truth"].map({True: "reproduced", False: "fixed"})
    return frame.assign(
        benchmark="mine",
        experiment="e",
        instance_id=frame["case_id"] + "_" + version,
        detector_kind="llm",
        detector_title=frame["detector"],
        n_safe=5 - frame["n_crash"],
        library="torch",
        root_cause=None,
        human=None,
        label_stratum=None,
        provenance=None,
    )


FRAME = [
    *(("a", "x", "code", crashes, 5) for crashes in (True, False)),
    *((case, "x", "code", True, 4) for case in "bcd"),
    ("e", "x", "code", True, 1),
    ("a", "x", "runtime", True, 5),
    ("b", "x", "runtime", True, 3),
    *((case, "y", "code", True, 5) for case in "ab"),
]


def small_plan(**design: Any) -> Plan:
    """Drawn from the verdicts of detector x."""
    frame = asked_for(small(*FRAME), Population("mine", "e", detectors=("x",)))
    verdicts = [
        LabelledVerdict(**row)
        for row in as_rows(frame[[*KEY, "case_id", "library", "root_cause"]])
    ]
    return plan_of(
        verdicts,
        Design(kind=DrawKind.ALL, **design),
        population=Population("mine", "e", detectors=("x",)),
    )


def small_labels(plan: Plan, said: dict[tuple[str, str], str]) -> pd.DataFrame:
    """Finals of some of the items, by case and setting."""
    rows = [
        (
            *item.verdict.key,
            "pilot: final",
            "final",
            label,
            "pilot",
            "single",
            None,
            1.0,
        )
        for item in plan.items
        if (label := said.get((item.verdict.case_id, item.verdict.setting)))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_weights_by_hand() -> None:
    plan = small_plan()
    labels = small_labels(
        plan,
        {
            ("a", "code"): "correct",
            ("b", "code"): "wrong",
            ("a", "runtime"): "correct",
        },
    )
    judged = judged_by(small(*FRAME), labels, "pilot: final", plan)
    judged["weight"] = label_weights(judged, VoteRule.MAJORITY)
    rows = judged.set_index(["detector", "setting", "instance_id"])["weight"]
    assert rows["x", "code"].to_dict() == {
        "a_reproduced": 2.0, "b_reproduced": 2.0, "c_reproduced": 0.0, "d_reproduced": 0.0,
        "a_fixed": 1.0, "e_reproduced": 1.0,
    }  # fmt: skip
    assert rows["x", "runtime"].tolist() == [2.0, 0.0]
    assert rows["y", "code"].isna().all()
    assert judged.loc[judged["case_id"] == "e", "human"].tolist() == [
        Label.MISDETECTED
    ]
    assert coverage(judged) == Coverage(8, 3, 2, 3, {"single": 3})


def test_rates_by_hand() -> None:
    """x, code: of four detected crashes half are correct, one crash was missed, one alarm is false: 2 of 5 found."""
    plan = small_plan()
    labels = small_labels(
        plan,
        {
            ("a", "code"): "correct",
            ("b", "code"): "partial",
            ("a", "runtime"): "correct",
        },
    )
    judged = judged_by(small(*FRAME), labels, "pilot: final", plan)
    recall = rate_table(judged, by=BY, rate="Recall", **STRICT).set_index(BY)
    code = recall.loc[("x", "code")]
    assert (code["part"], code["whole"], code["value"]) == (2.0, 5.0, 0.4)
    assert (
        code["n"],
        code["n_labelled"],
        code["n_to_label"],
        code["left_out"],
    ) == (
        3,
        2,
        4,
        0,
    )
    precision = rate_table(judged, by=BY, rate="Precision", **STRICT).set_index(
        BY
    )
    assert precision.loc[("x", "code"), ["part", "whole"]].tolist() == [
        2.0,
        3.0,
    ]
    half = rate_table(
        judged, by=BY, rate="Recall", rule=VoteRule.MAJORITY, credit=Credit.HALF
    ).set_index(BY)
    assert half.loc[("x", "code"), "value"] == pytest.approx(3 / 5)
    everyone = rate_table(
        judged, by=BY, rate="Recall", rule=VoteRule.ALL, credit=Credit.STRICT
    ).set_index(BY)
    assert everyone.loc[("x", "code"), ["part", "whole"]].tolist() == [1.0, 5.0]


def test_what_no_label_stands_for_has_no_rate_and_no_gain() -> None:
    plan = small_plan(strata=("detector", "setting"))
    labels = small_labels(plan, {("a", "code"): "correct"})
    judged = judged_by(small(*FRAME), labels, "pilot: final", plan)
    table = rate_table(judged, by=BY, rate="Accuracy", **STRICT).set_index(BY)
    assert table["value"].notna().tolist() == [True, False, False]
    assert table.loc[
        ("y", "code"), ["n", "n_labelled", "n_to_label"]
    ].tolist() == [
        0,
        0,
        2,
    ]
    [gain] = gain_table(judged, **STRICT).to_dict("records")
    assert gain["n"] == 0
    assert np.isnan(
        [
            gain[name]
            for name in (
                "without",
                "with_",
                "difference",
                "low",
                "high",
                "gained",
            )
        ]
    ).all()
    found = rate_table(judged, by=BY, rate="Accuracy", **DETECTION)
    assert found["value"].notna().all()


def test_without_strata_a_label_stands_for_all_of_the_slice() -> None:
    plan = small_plan(strata=())
    labels = small_labels(
        plan, {("a", "code"): "correct", ("b", "runtime"): "wrong"}
    )
    judged = judged_by(small(*FRAME), labels, "pilot: final", plan)
    of_x = judged[judged["detector"] == "x"]
    assert sorted(label_weights(of_x, VoteRule.MAJORITY)) == [0.0] * 4 + [
        1.0,
        1.0,
        3.0,
        3.0,
    ]
    recall = rate_table(of_x, by=BY, rate="Recall", **STRICT)
    assert recall[["part", "whole"]].to_numpy().tolist() == [
        [4.0, 5.0],
        [0.0, 2.0],
    ]


def test_items_of_a_plan_that_nobody_loaded_change_nothing() -> None:
    plan = small_plan()
    labels = small_labels(
        plan,
        {
            ("a", "code"): "correct",
            ("b", "code"): "wrong",
            ("a", "runtime"): "correct",
        },
    )
    elsewhere = replace(
        plan.items[0].verdict, instance_id="zz_reproduced", case_id="zz"
    )
    more = replace(
        plan,
        items=(*plan.items, Item("f" * 12, elsewhere, 0, 1.0)),
        strata=(*plan.strata, Stratum("s", 1, 1, 0)),
    )
    extra = pd.concat(
        [labels, labels.head(1).assign(instance_id="zz_reproduced")]
    )
    expected = judged_by(small(*FRAME), labels, "pilot: final", plan)
    pd.testing.assert_frame_equal(
        judged_by(small(*FRAME), extra, "pilot: final", more), expected
    )
