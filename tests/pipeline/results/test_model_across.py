"""The model over all detectors on the published answers: against tables counted here and statsmodels' formula."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from crane_core.pipeline.results.measures import Credit, VoteRule, gain_table
from crane_core.pipeline.results.model_across import SAMPLED, model_across
from crane_core.stats.gee import Unfit


def test_detection_alone_is_the_2x2_table_of_the_votes(
    models: pd.DataFrame,
) -> None:
    found = model_across(
        models, rule=VoteRule.MAJORITY, credit=Credit.DETECTION
    )
    right = (models["n_crash"] > models["n_safe"]) == models["truth"]
    counts = right.groupby([models["detector"], models["setting"]]).agg(
        ["sum", "size"]
    )
    assert (found.why_not, found.df, found.n_cases) == ("", 2, 111)
    assert found.ratios["n"].tolist() == [222] * 3
    for row in found.ratios.itertuples():
        (r0, n0), (r1, n1) = (
            counts.loc[(row.detector, setting)]
            for setting in ("code", "runtime")
        )
        assert row.odds_ratio == pytest.approx(
            r1 * (n0 - r0) / ((n1 - r1) * r0), rel=1e-6
        )
        assert row.low < row.odds_ratio < row.high


@pytest.mark.parametrize(
    ("rule", "credit"),
    [(VoteRule.MAJORITY, Credit.STRICT), (VoteRule.MEAN, Credit.HALF)],
)
def test_shares_and_credits_give_statsmodels_wald_test(
    models: pd.DataFrame, rule: VoteRule, credit: Credit
) -> None:
    found = model_across(models, rule=rule, credit=credit)
    half = {"correct": 1.0, "partial": 0.5 if credit is Credit.HALF else 0.0}
    said = models["n_crash"] / (models["n_crash"] + models["n_safe"])
    said = said if rule is VoteRule.MEAN else (said > 0.5).astype(float)
    y = np.where(
        models["truth"], said * models["human"].map(half).fillna(0.0), 1 - said
    )
    frame = models.assign(y=y, t=(models["setting"] == "runtime").astype(float))
    fit = smf.gee(
        "y ~ C(detector) * t", "case_id", frame, family=sm.families.Binomial()
    ).fit(cov_type="bias_reduced")
    terms = ", ".join(
        f"{name} = 0" for name in fit.params.index if ":t" in name
    )
    test = fit.wald_test(terms, scalar=True, use_f=False)
    assert found.chi2 == pytest.approx(float(test.statistic), rel=1e-5)
    assert found.p_value == pytest.approx(float(test.pvalue), rel=1e-5)
    gains = gain_table(models, rule=rule, credit=credit).set_index("detector")
    accuracy = found.ratios.set_index("detector")[["without", "with_"]]
    assert accuracy.to_numpy() == pytest.approx(
        gains.loc[accuracy.index, ["without", "with_"]].to_numpy()
    )


def test_one_detector_has_nothing_to_differ_from(models: pd.DataFrame) -> None:
    alone = model_across(
        models[models["detector"] == "gpt-5"],
        rule=VoteRule.MAJORITY,
        credit=Credit.STRICT,
    )
    assert alone.why_not == Unfit.ONE_GROUP
    assert alone.ratios[["odds_ratio", "low", "high"]].isna().all().all()
    code_only = models[models["setting"] == "code"]
    assert model_across(
        code_only, rule=VoteRule.MAJORITY, credit=Credit.STRICT
    ).ratios.empty


def test_an_analyzer_that_hardly_heeds_runtime_state_is_named(
    study: pd.DataFrame,
) -> None:
    analyzers = study[study["detector_kind"] == "analyzer"]
    found = model_across(
        analyzers, rule=VoteRule.MAJORITY, credit=Credit.DETECTION
    )
    assert found.why_not == Unfit.FEW_CHANGED
    assert "pylint" in found.at


def test_a_sample_of_labels_leaves_unknown_who_is_right(
    models: pd.DataFrame,
) -> None:
    some = models.assign(
        label_stratum="all", human=models["human"].where(models.index % 2 == 0)
    )
    found = model_across(some, rule=VoteRule.MAJORITY, credit=Credit.STRICT)
    assert found.why_not == SAMPLED
    assert np.isnan(found.p_value)
