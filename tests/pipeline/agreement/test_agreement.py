"""Agreement as tidy frames: what is compared, what is left out and told, oracles for every value, published figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from sklearn.metrics import confusion_matrix as matrix_oracle

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Design, Plan, Population
from crane_core.annotation.plan import DrawKind as Draw
from crane_core.domain import Label
from crane_core.pipeline.agreement.agreement import (
    COEFFICIENTS,
    KAPPA,
    NO_ORDER,
    PERCENT,
    ComparedVerdicts,
    Items,
    agreement_by,
    agreement_table,
    agreement_with_judges,
    common_items,
    confusions,
    differing,
    judge_consistency,
    pairwise,
    self_agreement,
    usual_pair,
)
from crane_core.pipeline.agreement.judges_beside import judge_differs
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    lock_campaign,
    open_blind_campaigns,
)
from crane_core.pipeline.campaigns.label_frame import (
    COLUMNS,
    KEY,
    LabellerKind,
    repeat_frame,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.judging.judges import (
    judge_passes,
    labels_with_pooled_judges,
)
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.stats.agreement import Why

DIAGNOSES = ["correct", "partial", "wrong"]
LEVEL = {
    "Krippendorff's alpha, nominal": "nominal",
    "Krippendorff's alpha, ordinal": "ordinal",
}
N_CASES = 30
DETECTORS = {"gpt-5": "GPT-5", "qwen": "Qwen"}


def verdicts_of(n_cases: int = N_CASES, **columns: object) -> pd.DataFrame:
    """Detected crashes: a case per row and detector."""
    rows = [
        {
            "benchmark": "mine",
            "instance_id": f"c{case}_reproduced",
            "detector": name,
            "setting": "code",
        }
        | {
            "experiment": "e",
            "case_id": f"c{case}",
            "detector_title": title,
            "detector_kind": "llm",
            "truth": True,
        }
        | {
            "library_group": ("torch", "numpy", "pandas")[case % 3],
            "root_cause": "data",
            "n_crash": 4,
            "n_safe": 1,
        }
        for case in range(n_cases)
        for name, title in DETECTORS.items()
    ]
    return pd.DataFrame(rows).assign(**columns)


def labels_of(
    verdicts: pd.DataFrame,
    kind: LabellerKind = LabellerKind.HUMAN,
    **said: list[str | None],
) -> pd.DataFrame:
    """A label frame: what each annotator says of the verdicts in their order; None means no label."""
    nobody = {
        "kind": str(kind),
        "campaign": None,
        "provenance": None,
        "why": None,
        "weight": 1.0,
    }
    frames = [
        verdicts[KEY].assign(annotator=name, label=labels, **nobody)
        for name, labels in said.items()
    ]
    everything = pd.concat(frames, ignore_index=True)
    return everything.loc[everything["label"].notna(), COLUMNS]


def diagnoses_of(
    labels: pd.DataFrame, verdicts: pd.DataFrame, annotators: Sequence[str]
) -> Items:
    return common_items(
        labelled_verdicts(labels, verdicts),
        annotators,
        ComparedVerdicts.DIAGNOSES,
    )


def guesses(n: int, seed: int, scale: list[str] = DIAGNOSES) -> list[str]:
    return [
        str(label) for label in np.random.default_rng(seed).choice(scale, n)
    ]


def noisy(
    labels: list[str], seed: int, scale: list[str] = DIAGNOSES
) -> list[str]:
    """The same labels but a third of them drawn again."""
    rng = np.random.default_rng(seed)
    return [
        str(rng.choice(scale)) if rng.random() < 1 / 3 else label
        for label in labels
    ]


def by_name(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return {row["coefficient"]: row for row in rows}


@pytest.fixture
def pair() -> tuple[pd.DataFrame, pd.DataFrame, list[str], list[str]]:
    verdicts = verdicts_of()
    first = guesses(len(verdicts), seed=1)
    second = noisy(first, seed=2)
    return verdicts, labels_of(verdicts, ana=first, ben=second), first, second


def test_every_coefficient_of_two_annotators_agrees_with_its_oracle(
    pair: Any,
) -> None:
    verdicts, labels, first, second = pair
    table = by_name(
        agreement_table(diagnoses_of(labels, verdicts, ["ana", "ben"]))
    )
    assert list(table) == list(COEFFICIENTS)
    assert {
        (row["n"], row["n_cases"], row["why"]) for row in table.values()
    } == {(60, 30, None)}
    assert all(
        row["low"] < row["value"] < row["high"] for row in table.values()
    )
    assert table[KAPPA]["value"] == pytest.approx(
        cohen_kappa_score(first, second)
    )
    linear = table["Cohen's kappa, linear weights"]["value"]
    assert linear == pytest.approx(
        cohen_kappa_score(first, second, labels=DIAGNOSES, weights="linear")
    )
    assert table[PERCENT]["value"] == pytest.approx(
        np.mean(np.array(first) == np.array(second))
    )
    coded = [
        [DIAGNOSES.index(label) for label in labels]
        for labels in (first, second)
    ]
    for name, level in LEVEL.items():
        assert table[name]["value"] == pytest.approx(
            krippendorff.alpha(coded, level_of_measurement=level)
        )


def test_of_three_annotators_only_what_two_labelled_counts_and_kappa_says_why_not() -> (
    None
):
    verdicts = verdicts_of()
    first = guesses(len(verdicts), seed=3)
    said: dict[str, list[str | None]] = {
        "ana": [*first],
        "ben": [*noisy(first, 4)[:40], *[None] * 20],
        "cyd": [None] * 10 + [*noisy(first, 5)[10:35]] + [None] * 25,
    }
    items = common_items(
        labelled_verdicts(labels_of(verdicts, **said), verdicts),
        list(said),
        ComparedVerdicts.DIAGNOSES,
    )
    table = by_name(agreement_table(items))
    assert len(items.facts) == 40
    assert (
        table[KAPPA]["why"]
        == "it needs exactly two annotators, and 3 are compared"
    )
    assert math.isnan(table[KAPPA]["value"])
    coded = [
        [
            np.nan if label is None else DIAGNOSES.index(label)
            for label in labels
        ]
        for labels in said.values()
    ]
    for name, level in LEVEL.items():
        assert table[name]["n"] == 40
        assert table[name]["value"] == pytest.approx(
            krippendorff.alpha(coded, level_of_measurement=level)
        )


def test_diagnoses_are_those_of_crashes_that_an_llm_predicted() -> None:
    verdicts = verdicts_of(6)
    verdicts.loc[0, ["n_crash", "n_safe"]] = [2, 3]
    verdicts.loc[1, ["n_crash", "n_safe"]] = [2, 2]
    verdicts.loc[2, "detector_kind"] = "analyzer"
    verdicts.loc[3, "truth"] = False
    labels = labels_of(verdicts, ana=["correct"] * 12, ben=["correct"] * 12)
    assert len(diagnoses_of(labels, verdicts, ["ana", "ben"]).facts) == 8
    assert (
        len(
            common_items(
                labelled_verdicts(labels, verdicts),
                ["ana", "ben"],
                ComparedVerdicts.ALL,
            ).facts
        )
        == 12
    )


def test_labels_outside_of_the_scale_are_counted_and_left_out() -> None:
    verdicts = verdicts_of(3)
    said: dict[str, list[str | None]] = {
        "ana": [
            "correct",
            "wrong",
            "wrong",
            "partial",
            "misdetected",
            "correct",
        ],
        "judge": [
            "correct",
            "misdetected",
            "misdetected",
            "unverifiable",
            "correct",
            None,
        ],
    }
    items = common_items(
        labelled_verdicts(labels_of(verdicts, **said), verdicts),
        list(said),
        ComparedVerdicts.DIAGNOSES,
    )
    assert len(items.facts) == 1
    told = {
        (row.annotator, row.label): row.n
        for row in items.off_scale.itertuples()
    }
    assert told == {
        ("ana", "misdetected"): 1,
        ("judge", "misdetected"): 2,
        ("judge", "unverifiable"): 1,
    }
    everything = common_items(
        labelled_verdicts(labels_of(verdicts, **said), verdicts),
        list(said),
        ComparedVerdicts.ALL,
    )
    assert len(everything.facts) == 5
    assert everything.off_scale.empty


def test_each_two_of_three_have_their_kappa(pair: Any) -> None:
    verdicts, _, first, second = pair
    third = noisy(second, seed=8)
    labels = labels_of(verdicts, ana=first, ben=second, cem=third)
    table = pairwise(diagnoses_of(labels, verdicts, ["ana", "ben", "cem"]))
    assert table["pair"].tolist() == [
        "ana and ben",
        "ana and cem",
        "ben and cem",
    ]
    oracle = [
        cohen_kappa_score(*two)
        for two in ((first, second), (first, third), (second, third))
    ]
    assert table["value"].tolist() == pytest.approx(oracle)
    assert table["n"].tolist() == [60, 60, 60]


def test_all_verdicts_have_no_order_so_coefficients_that_need_one_say_so() -> (
    None
):
    verdicts = verdicts_of()
    five = [str(label) for label in Label]
    first = guesses(len(verdicts), seed=6, scale=five)
    second = noisy(first, 7, five)
    table = by_name(
        agreement_table(
            common_items(
                labelled_verdicts(
                    labels_of(verdicts, a=first, b=second), verdicts
                ),
                ["a", "b"],
                ComparedVerdicts.ALL,
            )
        )
    )
    ordered = {name for name, asked in COEFFICIENTS.items() if asked.ordered}
    assert len(ordered) == 4
    assert {
        name for name, row in table.items() if row["why"] == NO_ORDER
    } == ordered
    assert all(math.isnan(table[name]["value"]) for name in ordered)
    assert table[KAPPA]["value"] == pytest.approx(
        cohen_kappa_score(first, second)
    )


def test_a_group_is_the_coefficient_of_its_part_and_degenerate_ones_say_why(
    pair: Any,
) -> None:
    verdicts, _, first, second = pair
    torch = [library == "torch" for library in verdicts["library_group"]]
    first = [
        "correct" if is_torch else label
        for is_torch, label in zip(torch, first, strict=True)
    ]
    second = [
        "correct" if is_torch else label
        for is_torch, label in zip(torch, second, strict=True)
    ]
    items = common_items(
        labelled_verdicts(labels_of(verdicts, ana=first, ben=second), verdicts),
        ["ana", "ben"],
        ComparedVerdicts.DIAGNOSES,
    )
    table = agreement_by(items, KAPPA, "library_group").set_index(
        "library_group"
    )
    assert table["n"].sum() == 60
    assert (
        math.isnan(table.loc["torch", "value"]),
        table.loc["torch", "why"],
    ) == (
        True,
        Why.NO_VARIATION,
    )
    for library in ("numpy", "pandas"):
        mine = [
            place
            for place, name in enumerate(verdicts["library_group"])
            if name == library
        ]
        expected = cohen_kappa_score(
            [first[place] for place in mine], [second[place] for place in mine]
        )
        assert table.loc[library, "value"] == pytest.approx(expected)
    inputs = agreement_by(items, KAPPA, "setting")
    whole = agreement_table(items).set_index("coefficient").loc[KAPPA]
    assert inputs[
        ["setting", "n", "value", "low", "high"]
    ].to_numpy().tolist() == [["code", 60, *whole[["value", "low", "high"]]]]
    detectors = agreement_by(items, PERCENT, "detector_title")
    assert detectors["detector_title"].tolist() == list(DETECTORS.values())
    assert detectors["n"].tolist() == [30, 30]


def test_the_matrix_has_the_first_annotator_in_its_rows(pair: Any) -> None:
    verdicts, labels, first, second = pair
    counts = confusions(diagnoses_of(labels, verdicts, ["ben", "ana"]))
    assert (
        counts.to_numpy().tolist()
        == matrix_oracle(second, first, labels=DIAGNOSES).tolist()
    )
    assert (counts.index.name, counts.columns.name) == ("ben", "ana")
    assert list(counts.columns) == DIAGNOSES


def test_differing_are_the_items_that_two_label_differently(pair: Any) -> None:
    verdicts, labels, first, second = pair
    unlike = differing(diagnoses_of(labels, verdicts, ["ana", "ben"]))
    expected = [
        place
        for place, (a, b) in enumerate(zip(first, second, strict=True))
        if a != b
    ]
    key = ["case_id", "detector"]
    assert (
        unlike[key].to_numpy().tolist()
        == verdicts.loc[expected, key].to_numpy().tolist()
    )
    assert unlike["ana"].tolist() == [first[place] for place in expected]
    assert unlike["ben"].tolist() == [second[place] for place in expected]


def test_without_anything_in_common_every_coefficient_says_so(
    pair: Any,
) -> None:
    verdicts, labels, *_ = pair
    half = labels[
        (labels["annotator"] == "ana") == (labels["detector"] == "qwen")
    ]
    items = diagnoses_of(half, verdicts, ["ana", "ben"])
    assert set(agreement_table(items)["why"]) == {str(Why.NO_OVERLAP)}
    assert confusions(items).to_numpy().sum() == 0
    assert agreement_by(items, KAPPA, "setting").empty
    assert differing(items).empty


def test_some_of_the_annotators_are_as_if_asked_alone(pair: Any) -> None:
    verdicts, labels, first, _ = pair
    more = pd.concat([labels, labels_of(verdicts, cyd=noisy(first, 9))])
    all_three = diagnoses_of(more, verdicts, ["ana", "ben", "cyd"])
    alone = diagnoses_of(labels, verdicts, ["ben", "ana"])
    pd.testing.assert_frame_equal(
        agreement_table(all_three.among(["ben", "ana"])),
        agreement_table(alone),
    )


def test_self_agreement_by_hand() -> None:
    """Four repeats of ana: three alike. Margins (2, 1, 1) and (2, 0, 2): expected agreement 6/16, kappa 0.6."""
    first, again = (
        ["correct", "correct", "wrong", "partial"],
        ["correct", "correct", "wrong", "wrong"],
    )
    repeats = pd.DataFrame(
        {"first": first, "again": again, "case_id": list("abcd")}
    ).assign(campaign="pilot", annotator="pilot: ana", benchmark="mine")
    ben = repeats.head(1).assign(annotator="pilot: ben")
    table = self_agreement(
        pd.concat([repeats, ben]), {"pilot": study_labels()}
    ).set_index(["annotator", "coefficient"])
    assert table.loc[
        ("pilot: ana", KAPPA), ["value", "n", "n_cases"]
    ].tolist() == [
        pytest.approx(0.6),
        4,
        4,
    ]
    assert table.loc[("pilot: ana", PERCENT), "value"] == 0.75
    assert table.loc[("pilot: ben", KAPPA), "why"] == Why.NO_VARIATION
    assert table.loc[
        ("pilot: ben", PERCENT), ["value", "low", "high"]
    ].tolist() == [
        1.0,
        0.0,
        1.0,
    ]
    assert self_agreement(repeats.head(0), {}).empty


def passes_of(judge: str, *passes: tuple[int, str]) -> pd.DataFrame:
    rows = [
        (judge, time, order, f"{judge} {time} {order}")
        for time, order in passes
    ]
    return pd.DataFrame(
        rows, columns=["judge", "repetition", "presentation", "annotator"]
    )


def test_a_judge_is_held_against_its_repetitions_and_its_other_order() -> None:
    verdicts = verdicts_of()
    passes = passes_of("j", (1, "normal"), (2, "normal"), (1, "reversed"))
    lone = passes_of("k", (1, "normal"))
    labels = guesses(len(verdicts), seed=11)
    said = {
        name: noisy(labels, seed)
        for seed, name in enumerate([*passes["annotator"], *lone["annotator"]])
    }
    items = common_items(
        labelled_verdicts(
            labels_of(verdicts, LabellerKind.JUDGE, **said), verdicts
        ),
        list(said),
        ComparedVerdicts.DIAGNOSES,
    )
    table = judge_consistency(items, pd.concat([passes, lone]))
    kappa = table[table["coefficient"] == KAPPA].set_index("compared")
    assert set(table["judge"]) == {"j"}
    times, orders = (
        "2 repetitions, normal order",
        "normal and reversed order, repetition 1",
    )
    assert list(kappa.index) == [times, orders]
    first, second, other = (said[name] for name in passes["annotator"])
    assert kappa.loc[times, "value"] == pytest.approx(
        cohen_kappa_score(first, second)
    )
    assert kappa.loc[orders, "value"] == pytest.approx(
        cohen_kappa_score(first, other)
    )


def test_the_usual_pair_is_of_the_newest_campaign_that_has_one() -> None:
    verdicts = verdicts_of(4)
    half = [None] * 4 + ["correct"] * 4
    newest = labels_of(
        verdicts,
        LabellerKind.ANNOTATOR,
        ana=["correct"] * 4 + [None] * 4,
        ben=half,
    ).assign(campaign="newest")
    older = labels_of(
        verdicts,
        LabellerKind.ANNOTATOR,
        x=half,
        y=["wrong"] * 8,
        z=["wrong"] * 8,
    ).assign(campaign="older")
    human = labels_of(
        verdicts,
        LabellerKind.HUMAN,
        **{"published human": half, "another": half},
    )
    judge = labels_of(
        verdicts, LabellerKind.JUDGE, **{"judge, 1": half, "judge, 2": half}
    )
    assert usual_pair(pd.concat([human, judge, newest, older])) == ["y", "z"]
    assert usual_pair(pd.concat([human, judge, newest])) == [
        "published human",
        "judge, 1",
    ]
    both = pd.concat([human, judge, older])
    assert usual_pair(both, blind={"older"}) == ["published human", "judge, 1"]
    assert usual_pair(older, blind={"older"}) == []
    assert usual_pair(human) == ["published human", "another"]
    assert usual_pair(judge) == ["judge, 1", "judge, 2"]
    assert usual_pair(human.head(1)) == ["published human"]
    assert usual_pair(human.head(0)) == []


def label(
    folder: DataFolder,
    plan: Plan,
    annotator: str,
    labels: dict[str, str],
    showing: int = 1,
) -> None:
    acts = [
        {
            "event": uuid4().hex,
            "action": "label",
            "item": item,
            "showing": showing,
            "label": said,
        }
        for item, said in labels.items()
    ]
    assert LabelStore(folder, plan.campaign).take(annotator, acts).refused == {}


def test_annotators_of_a_campaign_are_compared_like_everybody(
    answered: DataFolder,
) -> None:
    store = prepare(answered)
    try:
        wish = CampaignRequest(
            "pilot",
            ("ana", "ben"),
            Population("minibench", "ours"),
            Design(kind=Draw.ALL),
            seed=5,
        )
        plan = drawn_plan(store, wish)
        keep_campaign(answered, plan)
        names = [item.item for item in plan.items]
        first = dict(zip(names, guesses(len(names), seed=12), strict=True))
        second = dict(zip(names, noisy(list(first.values()), 13), strict=True))
        label(answered, plan, "ana", first)
        label(answered, plan, "ben", second)
        labels, verdicts = (
            labels_with_pooled_judges(store, answered),
            verdict_frame(store),
        )
        found = diagnoses_of(labels, verdicts, ["pilot: ana", "pilot: ben"])
        expected = cohen_kappa_score(
            list(first.values()), list(second.values())
        )
        assert by_name(agreement_table(found))[KAPPA]["value"] == pytest.approx(
            expected
        )
        assert usual_pair(labels) == ["pilot: ana", "pilot: ben"]
        assert open_blind_campaigns(answered) == {"pilot": ("ana", "ben")}
        lock_campaign(answered, "pilot", by="ana")
        assert open_blind_campaigns(answered) == {}
        assert repeat_frame(answered).empty
    finally:
        store.close()


@dataclass
class Published:
    labels: pd.DataFrame
    verdicts: pd.DataFrame
    passes: pd.DataFrame


@pytest.fixture(scope="module")
def published(
    crane_llm_archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Published]:
    """Labels, verdicts and judges of the published archive."""
    folder = DataFolder(tmp_path_factory.mktemp("published"))
    import_paths([crane_llm_archive], folder)
    store = prepare(folder)
    yield Published(
        labels_with_pooled_judges(store, folder),
        verdict_frame(store),
        judge_passes(store),
    )
    store.close()


JUDGE = "published judge, all repetitions"
ORDERS_AGREE = {
    "Gemini 2.5 Flash": 0.668918918918919,
    "Qwen2.5-32B-Instruct": 0.7635135135135135,
    "GPT-5": 0.7387387387387387,
    "pylint": 0.9301801801801802,
    "pyright": 0.795045045045045,
}
"""agreement_rate_between_judges.xlsx of the study."""
HUMAN_AND_JUDGE_AGREE = {
    "Gemini 2.5 Flash": (0.786036036036036, 0.5990990990990991),
    "Qwen2.5-32B-Instruct": (0.8716216216216216, 0.7432432432432432),
    "GPT-5": (0.8761261261261262, 0.6846846846846847),
    "pylint": (0.9144144144144144, 0.8986486486486487),
    "pyright": (0.6238738738738738, 0.6486486486486487),
}
"""results_summary.xlsx of the study, sheet Results_summary: normal and reversed order."""


def percent_by_detector(
    published: Published, *annotators: str
) -> dict[str, float]:
    items = common_items(
        labelled_verdicts(published.labels, published.verdicts),
        annotators,
        ComparedVerdicts.ALL,
    )
    table = agreement_by(items, PERCENT, "detector_title")
    assert (table["n"] == 444).all()
    return dict(zip(table["detector_title"], table["value"], strict=True))


@pytest.mark.slow
def test_the_judges_two_orders_agree_as_the_study_printed(
    published: Published,
) -> None:
    assert percent_by_detector(
        published, JUDGE, f"{JUDGE}, reversed"
    ) == pytest.approx(ORDERS_AGREE, abs=1e-12)


def test_people_and_judge_agree_as_the_study_printed(
    published: Published,
) -> None:
    for order, name in enumerate((JUDGE, f"{JUDGE}, reversed")):
        expected = {
            detector: both[order]
            for detector, both in HUMAN_AND_JUDGE_AGREE.items()
        }
        assert percent_by_detector(
            published, "published human", name
        ) == pytest.approx(expected, abs=1e-12)


def test_every_pass_of_the_judge_has_its_row(published: Published) -> None:
    names = published.passes["annotator"].tolist()
    assert len(names) == 12
    items = common_items(
        labelled_verdicts(published.labels, published.verdicts),
        ["published human", *names],
        ComparedVerdicts.ALL,
    )
    against = agreement_with_judges(items, "published human", names)
    assert against["judge"].tolist() == [
        name for name in names for _ in (KAPPA, PERCENT)
    ]
    assert (against["n"] == 2220).all()
    itself = judge_consistency(items, published.passes)
    assert itself["compared"].nunique() == 2 + 6
    pooled = itself[
        itself["compared"].str.endswith(
            "most frequent label of all repetitions"
        )
    ].set_index("coefficient")
    assert pooled.loc[PERCENT, "value"] == pytest.approx(1730 / 2220)


def test_the_default_of_the_published_archive_is_people_against_the_judges_first_pass(
    published: Published,
) -> None:
    pair = usual_pair(published.labels)
    assert pair == ["published human", "published judge, repetition 1"]
    items = diagnoses_of(published.labels, published.verdicts, pair)
    off_scale = [tuple(row) for row in items.off_scale.to_numpy()]
    assert (len(items.facts), off_scale) == (
        404,
        [("published judge, repetition 1", "misdetected", 97)],
    )
    differs = judge_differs(
        labelled_verdicts(published.labels, published.verdicts),
        "published human",
        ["published judge, repetition 1"],
    )
    assert differs[["n_differ", "n"]].to_numpy().tolist() == [
        [61, 404],
        [158, 501],
    ]
