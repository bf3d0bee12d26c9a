"""What is known of each model? The tab of Results on release dates, cut-offs, and notebooks from before and after.

The page and the site have its words.
"""

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.llm.model_dates import KnownModels
from crane_core.pipeline.results.beside import with_shipped
from crane_core.pipeline.results.by_date import GAIN, SIDES, ByDate, by_date
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, words
from crane_core.ui.caption import counted
from crane_core.ui.chart_box import draw_method
from crane_core.ui.outcome_words import of_comparisons, smaller_sentence
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import literal

TITLE = "What is known of each model"
ABOUT = (
    "The training data of a model end at its cut-off; where its maker states none, its release is taken, which came "
    "later. A case is after that date if all days that its own date may mean are. Lower accuracy after it is what a "
    "memorised benchmark would look like, but does not prove it: newer notebooks may also be harder. 95% intervals "
    "by case; p of a permutation test by case, in which the dates are shuffled, Holm-adjusted over the rows."
)
NOT_STATED = "not stated"


def draw_by_date(chosen: ResultChoice) -> None:
    """The section: what is stated of each model, what is missing, and the comparison where dates are known."""
    st.header(TITLE, anchor="dates")
    found = _found(chosen)
    if found.models.empty:
        st.info("No language model is among the detectors that are shown.")
        return
    title = data.benchmark_title(chosen.benchmark)
    for sentence in missing(found, title):
        st.markdown(literal(sentence))
    st.html(rows_html(readable_models(found)))
    if len(found.table):
        st.markdown(lead(found))
        st.html(rows_html(readable_by_date(found)))
        if small := smaller_sentence(found.table):
            st.caption(small)
    how = counted(chosen.rule, chosen.credit, chosen.annotator)
    draw_method(literal(f"{ABOUT} {how}"))


def _found(chosen: ResultChoice) -> ByDate:
    # The file of the user may change at any time, so it is read at each visit.
    known = KnownModels(data.folder().path)
    verdicts = data.verdicts()
    shown = [*with_shipped(chosen.experiment), *chosen.beside]
    is_meant = verdicts["benchmark"] == chosen.benchmark
    is_meant &= verdicts["experiment"].isin(shown)
    is_meant &= verdicts["detector_kind"] == DetectorKind.LLM
    rows = data.judged(verdicts[is_meant], chosen.annotator)
    return by_date(
        rows,
        data.dated_cases(chosen.benchmark),
        known,
        rule=chosen.rule,
        credit=chosen.credit,
        inputs=chosen.inputs,
        bound=chosen.bound,
    )


def missing(found: ByDate, title: str) -> list[str]:
    """What is missing for the comparison, and what to do about it; title: of the benchmark."""
    models = found.models
    is_unknown = models["released"].isna() & models["cutoff"].isna()
    unknown = list(dict.fromkeys(models.loc[is_unknown, "detector_title"]))
    no_cutoff = models["cutoff"].isna() & ~is_unknown
    released = list(dict.fromkeys(models.loc[no_cutoff, "detector_title"]))
    sentences = []
    n_dated = models["dated"].max()
    if not n_dated:
        sentences.append(
            f"No case of {title} has a date, so accuracy before and after a cut-off cannot be compared. If you know "
            "when the notebooks were written, state it in the column created of cases.csv, and import the folder again."
        )
    elif models["undated"].any():
        most = int(models["undated"].max())
        sentences.append(f"Cases without a date are left out: {most}.")
    if unknown:
        sentences.append(
            f"Neither release nor cut-off is known of {words.listed(unknown)}. If you know one, add it to "
            "models.toml in the data folder."
        )
    if released:
        sentences.append(
            f"The maker states no cut-off of {words.listed(released)}; the release is taken in its place."
        )
    if n_dated and found.table.empty:
        sentences.append(
            "No model has cases on both sides of its date, so nothing can be compared."
        )
    return sentences


def lead(found: ByDate) -> str:
    """How many rows are what, in Markdown; no name of anybody is in it."""
    outcomes = found.table["outcome"].tolist()
    return f"**After the cut-off against before: {of_comparisons(outcomes)}.**"


def readable_models(found: ByDate) -> pd.DataFrame:
    """A row per model as people read it."""
    return pd.DataFrame(
        {
            "Model": row["detector_title"],
            "Released": row["released"] or NOT_STATED,
            "Cut-off": row["cutoff"] or NOT_STATED,
            "Cases before": _count(row["before"]),
            "Cases after": _count(row["after"]),
            "Without a date": _count(row["undated"]),
            "Stated at": row["source"] or words.NOTHING,
        }
        for row in as_rows(found.models)
    )


def readable_by_date(found: ByDate) -> pd.DataFrame:
    """A row per model and measure as people read it."""
    return pd.DataFrame(
        {
            "Model": row["detector_title"],
            "Measure": "gain"
            if row["measure"] == GAIN
            else f"accuracy {words.setting_short(row['measure'])}",
            "Before": _side(row, SIDES[0]),
            "After": _side(row, SIDES[1]),
            "After − before": words.points(row["difference"]),
            "95% interval": words.points_interval(row["low"], row["high"]),
            "p (Holm)": words.p_value(row["p_holm"]),
            "Outcome": row["outcome"],
            "Cases before": row["before_n_cases"],
            "Cases after": row["after_n_cases"],
        }
        for row in as_rows(found.table)
    )


def _count(n: float | None) -> str:
    return words.NOTHING if n is None else str(int(n))


def _side(row: dict[str, Any], side: str) -> str:
    value, low, high = (
        row[f"{side}_{end}"] for end in ("value", "low", "high")
    )
    if row["measure"] == GAIN:
        return f"{words.points(value)} ({words.points_interval(low, high)})"
    return f"{words.percent(value)} ({words.interval(low, high)})"
