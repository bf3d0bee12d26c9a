"""What is told of a plan before it is stored: the study's own sample, and what its items weigh."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import statsmodels.api as sm
from statsmodels.formula.api import ols

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Overlap,
    Plan,
    Population,
    plan_from_json,
)
from crane_core.cli import main
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import drawn_plan, population
from crane_core.pipeline.campaigns.clustering import ASSUMED_RHO, clustering
from crane_core.pipeline.campaigns.plan_outline import (
    as_json,
    in_words,
    outline,
)
from crane_core.pipeline.campaigns.population_choices import (
    check_asked,
    population_choices,
    usual_experiment,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.stats.design_effect import design_effect
from crane_core.storage import labels
from crane_core.storage.store import Store

STUDY = Population("junobench", "crane-llm-2025-10")
OURS = Population("minibench", "ours")
SEED = 20_261_121_077


@pytest.mark.slow
def test_the_studys_own_sample_is_told_as_the_paper_has_it(
    study_store: Store,
) -> None:
    # Paper, 4.5 and table 1: 218 of 501 by Equation 1, 40/44/31/33/35/39 = 222 after rounding up.
    plan = drawn_plan(
        study_store, CampaignRequest("pilot", ("ana", "ben"), STUDY, seed=SEED)
    )
    told = outline(plan, clustering(study_store, plan))
    assert "501 detected crashes" in told.sentences[0]
    assert (
        "A margin of 5% with 95% confidence and an expected share of 50% needs 218"
        in told.sentences[1]
    )
    assert told.size.startswith("222 items of ")
    assert told.size.endswith(
        " for new cases, about 3.9 h for each of 2 annotators"
    )
    assert "222 are drawn" in told.sentences[1]
    assert [(row.population, row.drawn, row.twice_or_more) for row in told.strata] == [
        (90, 40, 40), (99, 44, 44), (79, 35, 35), (88, 39, 39), (71, 31, 31), (74, 33, 33),
    ]  # fmt: skip
    assert [row.inclusion_probability for row in told.strata] == [
        n / of for of, n, _ in [r[1:4] for r in told.strata]
    ]
    assert [(row.items, row.repeats) for row in told.load] == [
        (222, 11),
        (222, 11),
    ]
    assert told.load[0].hours == pytest.approx(233 * 60 / 3600)
    assert told.remarks == ()


@pytest.mark.slow
def test_the_published_labels_tell_how_alike_verdicts_of_a_case_are(
    study_store: Store,
) -> None:
    plan = drawn_plan(
        study_store, CampaignRequest("pilot", ("ana",), STUDY, seed=SEED)
    )
    weight = clustering(study_store, plan)
    assert weight.likeness is not None
    assert weight.likeness.source == "published human"
    assert (weight.likeness.rho.n, weight.likeness.rho.n_clusters) == (501, 108)
    assert weight.likeness.rho.value == pytest.approx(
        anova_rho(study_store, plan)
    )
    assert (
        weight.likeness.rho.low
        < weight.likeness.rho.value
        < weight.likeness.rho.high
    )
    (entry,) = weight.weights
    sizes = [len(group) for group in cases_of(plan).values()]
    assert entry.effect == design_effect(sizes, weight.likeness.rho.value)
    assert weight.n_cases == len(sizes)
    assert weight.margin_here < 0.05 < weight.margin_apart < entry.margin
    told = outline(plan, weight).dependence
    assert f"222 items belong to {len(sizes)} cases" in told[0]
    assert (
        f"the effective sample size is {entry.effect.n_effective:.0f} "
        in told[2]
    )
    assert f"±{entry.margin:.1%} instead of ±6.6%" in told[2]


def cases_of(plan: Plan) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for item in plan.items:
        groups.setdefault(item.verdict.case_id, []).append(item.item)
    return groups


def anova_rho(store: Store, plan: Plan) -> float:
    """The textbook way: one-way analysis of variance by statsmodels over the published human labels."""
    verdicts, _ = population(store, plan.population)
    case_of = {verdict.key: verdict.case_id for verdict in verdicts}
    frame = labels.verdict_labels(store.cursor())
    frame = frame[frame["annotator"] == "published human"]
    key = list(
        zip(
            *(
                frame[c]
                for c in (
                    "benchmark",
                    "instance_id",
                    "detector",
                    "setting",
                    "experiment",
                )
            ),
            strict=True,
        )
    )
    frame = frame.assign(case=[case_of.get(k) for k in key]).dropna(
        subset=["case"]
    )
    frame = frame.assign(correct=(frame["label"] == "correct").astype(float))
    table = sm.stats.anova_lm(ols("correct ~ C(case)", data=frame).fit())
    between, within = table["mean_sq"]
    sizes = frame["case"].value_counts()
    m0 = (len(frame) - (sizes**2).sum() / len(frame)) / (len(sizes) - 1)
    return float((between - within) / (between + (m0 - 1) * within))


def test_without_labels_a_rho_is_assumed_and_said_to_be(store: Store) -> None:
    plan = drawn_plan(
        store,
        CampaignRequest(
            "pilot", ("ana",), OURS, Design(kind=DrawKind.ALL), seed=SEED
        ),
    )
    weight = clustering(store, plan)
    assert weight.likeness is None
    # Twelve cases of four verdicts each: deff = 1 + 3 rho.
    assert [(entry.rho, entry.effect.deff) for entry in weight.weights] == [
        (rho, pytest.approx(1 + 3 * rho)) for rho in ASSUMED_RHO
    ]
    told = outline(plan, weight)
    assert told.sentences[1] == "Design: all 48 are labelled."
    assert weight.margin_here == 0
    # 1.96 sqrt(0.25 deff / 48) with deff 1.3 and 2.5; 48 items and 2 repeats at a minute each.
    assert told.size == (
        "48 items of 12 cases, margin ±0.0% for these 48 verdicts, ±16.1% to ±22.4% for new cases, "
        "about 0.8 h for one annotator"
    )
    assert told.dependence[2].startswith(
        "No human labels exist yet to estimate the correlation"
    )
    assert (
        "case of 0.50, the effective sample size is 19 (design effect 2.50)"
        in told.dependence[5]
    )


def test_items_of_different_cases_are_said_to_be_independent(
    store: Store,
) -> None:
    wish = CampaignRequest(
        "pilot",
        ("ana",),
        replace(OURS, settings=("code",), detectors=("heron",)),
        Design(kind=DrawKind.ALL),
    )
    plan = drawn_plan(store, wish)
    [told] = outline(plan, clustering(store, plan)).dependence
    assert told.startswith(
        "Each of the 12 items is another case, so the items are independent. For the 12 verdicts"
    )
    assert (
        "±0.0%; for new cases of this kind it is ±28.3%." in told
    )  # 1.96 sqrt(0.25 / 12)
    text = in_words(plan, outline(plan, clustering(store, plan)))
    assert (
        text.startswith("Campaign pilot\n")
        and "ana: 12 items and 0 hidden repeats" in text
    )


def test_a_second_sample_is_told_per_stratum(store: Store) -> None:
    design = Design(kind=DrawKind.ALL, overlap=Overlap.SAMPLE, margin=0.2)
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana", "ben"), OURS, design, seed=SEED)
    )
    told = outline(plan, clustering(store, plan))
    # Equation 1 with E = 0.2 and N = 48: 46.1 / (0.04 * 47 + 0.9604) = 16.2, so 17; of 12 in each stratum, 5.
    assert "needs 17 labelled twice" in told.sentences[1]
    assert [row.twice_or_more for row in told.strata] == [5, 5, 5, 5]
    assert [row.items for row in told.load] == [48, 20]


def test_remarks_warn_of_a_seed_that_can_be_guessed_and_of_missing_repeats(
    store: Store,
) -> None:
    wish = CampaignRequest(
        "pilot",
        ("ana",),
        replace(OURS, settings=("code",), detectors=("heron",)),
        seed=7,
    )
    plan = drawn_plan(store, wish)
    remarks = outline(plan, clustering(store, plan)).remarks
    assert [remark[:30] for remark in remarks] == [
        "A seed this short can be guess",
        "No hidden repeats for ana: too",
    ]
    assert (
        "settings code" in outline(plan, clustering(store, plan)).sentences[0]
    )


def test_terminal_and_json_tell_the_same_numbers(store: Store) -> None:
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana", "ben"), OURS, seed=SEED)
    )
    weight = clustering(store, plan)
    told = outline(plan, weight)
    text, body = in_words(plan, told), as_json(plan, told, weight)
    assert (body["items"], body["required"], body["population_size"]) == (
        len(plan.items),
        plan.required,
        48,
    )
    for row in body["strata"]:
        line = next(
            line
            for line in text.splitlines()
            if line.startswith(row["stratum"])
        )
        counts = [
            str(row[name]) for name in ("population", "drawn", "twice_or_more")
        ]
        assert line.split()[-4:] == [
            *counts,
            f"{row['inclusion_probability']:.4f}",
        ]
    assert all(
        sentence in text for sentence in (*told.sentences, *told.dependence)
    )


def test_a_misspelt_filter_is_refused_and_what_there_is_is_named(
    store: Store,
) -> None:
    with pytest.raises(
        CampaignError,
        match=r"'gpt5' is not among the detectors of minibench, ours.*egret, heron",
    ):
        check_asked(store, replace(OURS, detectors=("heron", "gpt5")))
    with pytest.raises(
        CampaignError, match=r"No model has verdicts.*minibench ours"
    ):
        check_asked(store, Population("minibench", "theirs"))
    check_asked(store, replace(OURS, detectors=("heron",), settings=("code",)))
    assert {
        (entry.benchmark, entry.experiment)
        for entry in population_choices(store)
    } >= {("minibench", "ours")}


def test_what_can_be_labelled_comes_first_and_the_only_experiment_need_not_be_named(
    store: Store,
) -> None:
    known = population_choices(store)
    assert (known[0].experiment, known[0].has_texts) == ("ours", True)
    assert not any(entry.has_texts for entry in known[1:])
    assert usual_experiment(store, "minibench") == "ours"
    assert (
        usual_experiment(store, "junobench")
        == usual_experiment(store, "dream")
        == "crane-llm-2025-10"
    )


def test_several_experiments_of_another_benchmark_are_named_with_the_option(
    answered: DataFolder, tmp_path: Path
) -> None:
    said = {
        "benchmark": "minibench",
        "instance": "numpy_1_reproduced",
        "detector": "heron",
    }
    line = said | {
        "setting": "code",
        "index": 1,
        "crashes": True,
        "experiment": "night",
    }
    table = tmp_path / "night.jsonl"
    table.write_text(json.dumps(line) + "\n")
    assert main(["--data", str(answered.path), "import", str(table)]) == 0
    store = prepare(answered)
    try:
        with pytest.raises(
            CampaignError,
            match=r"'minibench' in 2 experiments.*--experiment: ours, night\.",
        ):
            usual_experiment(store, "minibench")
    finally:
        store.close()


def test_a_plan_names_the_gate_of_its_judges(store: Store) -> None:
    design = Design(kind=DrawKind.ALL, repeats=0, judge_gate=0.85)
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana",), OURS, design, seed=7)
    )
    sentences = outline(plan, clustering(store, plan)).sentences
    (line,) = [line for line in sentences if line.startswith("Judges:")]
    assert line.endswith("reach 85%.")
    assert plan_from_json(plan.to_json()).design.judge_gate == 0.85


def test_a_plan_says_that_its_texts_are_plain(store: Store) -> None:
    design = Design(kind=DrawKind.ALL, repeats=0, plain=True)
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana",), OURS, design, seed=7)
    )
    sentences = outline(plan, clustering(store, plan)).sentences
    (line,) = [line for line in sentences if line.startswith("Texts:")]
    assert "line breaks) are made alike. The style" in line


def test_a_plan_by_case_says_what_it_saves_and_costs(store: Store) -> None:
    def told(*, by_case: bool) -> list[str]:
        design = Design(kind=DrawKind.ALL, repeats=0, by_case=by_case)
        wish = CampaignRequest("pilot", ("ana",), OURS, design, seed=7)
        plan = drawn_plan(store, wish)
        sentences = outline(plan, clustering(store, plan)).sentences
        return [line for line in sentences if line.startswith("Order:")]

    (line,) = told(by_case=True)
    n_cases = len({one.case for one in population(store, OURS).verdicts})
    assert f"begins a case {n_cases} times" in line
    assert "a difference of 10 points on the same cases becomes 9." in line
    assert told(by_case=False) == []
