"""What is known of each model? The tab of Results on release dates, cut-offs, and notebooks from before and after."""

import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.llm.model_dates import KnownModels
from crane_core.pipeline.results.beside import with_shipped
from crane_core.pipeline.results.by_date import ByDate, by_date
from crane_core.ui import by_date_words, data
from crane_core.ui.caption import counted
from crane_core.ui.chart_box import draw_method
from crane_core.ui.navigation import link
from crane_core.ui.outcome_words import smaller_sentence
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import literal


def draw_by_date(chosen: ResultChoice) -> None:
    """The section: what is stated of each model, what is missing, and the comparison where dates are known."""
    st.header(by_date_words.TITLE, anchor="dates")
    found = _found(chosen)
    if found.models.empty:
        st.info("No language model is among the detectors that are shown.")
        return
    benchmark = data.benchmark_title(chosen.benchmark)
    sentences = by_date_words.missing(found, benchmark)
    models = by_date_words.readable_models(found)
    stated_at = by_date_words.STATED_AT
    models[stated_at] = models[stated_at].map(by_date_words.source_html)
    st.html(rows_html(models, finished=[stated_at]))
    is_dated = found.models["dated"].any()
    # Notes on the table first, then what to do about it.
    for sentence in sentences if is_dated else sentences[1:]:
        st.markdown(literal(sentence))
    if not is_dated:
        # The title of the page has said why.
        why = f"{by_date_words.title(found, benchmark)}."
        to_do = literal(sentences[0].removeprefix(why).lstrip())
        st.markdown(to_do.replace(r"cases\.csv", "`cases.csv`"))
        link("data", "Import cases with their dates on Data")
    if len(found.table):
        st.html(rows_html(by_date_words.readable_by_date(found)))
        if small := smaller_sentence(found.table):
            st.caption(small)
    how = counted(chosen.rule, chosen.credit, chosen.annotator)
    draw_method(literal(f"{by_date_words.ABOUT} {how}"))


def dates_title(chosen: ResultChoice) -> str | None:
    """What the comparison of dates finds, or why there is none; None where no language model is shown."""
    found = _found(chosen)
    if found.models.empty:
        return None
    return by_date_words.title(found, data.benchmark_title(chosen.benchmark))


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
