"""Do the detectors differ in how much they gain? One sentence, one forest chart, and what the model assumes."""

import pandas as pd
import streamlit as st

from crane_core.charts.odds import odds
from crane_core.charts.theme import in_order
from crane_core.domain import DetectorKind
from crane_core.pipeline.results.measures import WITH_STATE
from crane_core.pipeline.results.model_across import (
    SAMPLED,
    ModelAcross,
    model_across,
)
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import LEAST_CHANGED, Unfit
from crane_core.stats.power import ALPHA
from crane_core.ui import data, words
from crane_core.ui.caption import sampled
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import ResultChoice

REASONS = {
    Unfit.ONE_GROUP: "only one detector has answers with both inputs.",
    Unfit.FEW_CLUSTERS: "the cases are too few for the model{at}.",
    Unfit.SEPARATED: "with one of the inputs every answer{at} is right, or every answer is wrong, so its odds are "
    "infinite or 0.",
    Unfit.FEW_CHANGED: f"the other input changes the outcome{{at}} in fewer than {LEAST_CHANGED} cases, too few for an "
    "interval that holds.",
    Unfit.NO_VARIANCE: "two detectors are right about the same instances, so their difference does not vary.",
    SAMPLED: "the labels of a sample stand for others, so it is unknown which instance is right.",
}
ASSUMES = (
    "An odds ratio of 2 means that {other} instead of {base} doubles the odds of being right, which is fewer "
    "percentage points for a detector that is nearly always right.\n\n"
    "The model (logistic regression by GEE) says right or wrong by input and detector. It assumes that cases "
    "are independent of each other; answers about one case may depend on each other in any way. Not adjusted for "
    "other tests."
)


@data.kept(data.answers, 16, copied=True)
def _across(chosen: ResultChoice) -> ModelAcross:
    asked = chosen.rows()
    asked = asked[asked["setting"].isin(chosen.inputs)]
    return model_across(
        asked, rule=chosen.rule, credit=chosen.credit, inputs=chosen.inputs
    )


def across_ratios(chosen: ResultChoice) -> pd.DataFrame:
    """The odds ratios of `model_across`, for the page of another model."""
    return _across(chosen).ratios


def draw_model_across(chosen: ResultChoice) -> None:
    """The finding and its chart, or why there is none; nothing if no detector has both inputs."""
    found = _across(chosen)
    if found.ratios.empty and found.why_not == Unfit.ONE_GROUP:
        return
    who = f"{noun(chosen)}s"
    st.header(f"Do the {who} differ in how much they gain?", anchor="across")
    st.markdown(finding(found, who))
    if figure := across_figure(chosen):
        draw_figure(figure)


def noun(chosen: ResultChoice) -> str:
    """What a detector of these is called."""
    is_of_models = chosen.kind == DetectorKind.LLM and not chosen.beside
    return "model" if is_of_models else "detector"


def across_figure(chosen: ResultChoice) -> ChartFigure | None:
    """The odds ratios; None where the model cannot be fitted."""
    found = _across(chosen)
    if found.why_not:
        return None
    titles = in_order(found.ratios["detector_title"].tolist())
    rows = found.ratios.set_index("detector_title", drop=False).loc[titles]
    drawn = rows.assign(
        label=[
            words.with_n(row["detector_title"], row["n"], row["n"])
            for row in as_rows(rows)
        ],
        text=rows["odds_ratio"].map(words.coefficient),
    )
    numbers = rows.assign(chi2=found.chi2, df=found.df, p_value=found.p_value)
    base, other = (words.setting_short(setting) for setting in chosen.inputs)
    name = (
        "odds_ratios"
        if chosen.inputs == WITH_STATE
        else f"odds_ratios_{'_to_'.join(chosen.inputs)}"
    )
    note = ASSUMES.format(base=base, other=other)
    return ChartFigure(
        name,
        [finished(odds, drawn)],
        shown=_readable(rows, base, other),
        numbers=numbers,
        caption=chosen.captioned(
            finding(found, f"{noun(chosen)}s"), note, sampled(rows)
        ),
        note=note,
    )


def finding(found: ModelAcross, who: str) -> str:
    """The answer in a sentence; `who` names the detectors in the plural."""
    if found.why_not:
        at = f" of {' and '.join(found.at)}" if found.at else ""
        return (
            f"No model over all {who}: {REASONS[found.why_not].format(at=at)}"
        )
    said = (
        f"The {who} differ"
        if found.p_value < ALPHA
        else f"No evidence that the {who} differ"
    )
    return (
        f"**{said} in how much they gain, p {words.p_words(found.p_value)}** (Wald test of input × "
        f"detector: χ² = {found.chi2:.2f}, {found.df} {'degree' if found.df == 1 else 'degrees'} of freedom, "
        f"{words.count(found.n_cases)} cases)."
    )


def _readable(ratios: pd.DataFrame, base: str, other: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            f"Accuracy {base}": words.percent(row["without"]),
            f"Accuracy {other}": words.percent(row["with_"]),
            "Difference": words.points(row["with_"] - row["without"]),
            "Odds ratio": words.coefficient(row["odds_ratio"]),
            "95% interval": words.coefficient_interval(row["low"], row["high"]),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(ratios)
    )
