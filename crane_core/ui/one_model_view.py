"""What is a gain of few cases worth? One model of all answers beside each group by itself."""

import streamlit as st

from crane_core.pipeline.results.model_across import ModelOfAll, model_of_all
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.ui import answers_words, data, one_model_words
from crane_core.ui.answers_words import MethodAnswers
from crane_core.ui.chart_box import draw_method
from crane_core.ui.gains_view import compared
from crane_core.ui.grid import grid
from crane_core.ui.model_across_view import across_ratios, noun
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.specification_view import curve_and_errors
from crane_core.ui.words import literal

FIRST = ["Group", "By", "Cases", "Observed", "Model", "95% interval"]
"""Columns of the gains that are open."""


@data.kept(data.answers, 16, copied=True)
def _model(chosen: ResultChoice) -> ModelOfAll:
    rows = chosen.rows()
    found = model_of_all(
        rows[rows["setting"].isin(chosen.inputs)],
        rule=chosen.rule,
        credit=chosen.credit,
        inputs=chosen.inputs,
    )
    # The largest gain of each grouping first.
    ordered = found.gains.sort_values(["by", "value"], ascending=[True, False])
    return found._replace(gains=ordered)


def draw_one_model(chosen: ResultChoice) -> None:
    """The section: whether the methods agree, then the model's finding and its gains; all other figures fold."""
    methods = _methods(chosen)
    answers = answers_words.answers_of(methods)
    found, about = methods.model, []
    if not answers.empty:
        st.header(answers_words.TITLE, anchor="answers")
        st.markdown(answers_words.finding(answers, noun(chosen)))
        fades = answers_words.beside(answers, "look")
        shown = answers_words.beside(answers, "text")
        shown["Method"] = answers_words.with_meanings(shown["Method"])
        st.html(
            rows_html(
                shown,
                looks={str(name): list(fades[name]) for name in fades},
                finished=["Method"],
                css="cw-each",
            )
        )
        about.append(answers_words.ABOUT)
    st.header(one_model_words.TITLE, anchor="one-model")
    st.markdown(one_model_words.finding(found))
    if not found.why_not:
        shown = one_model_words.readable_gains(found)
        looks = one_model_words.gain_looks(found)
        st.html(rows_html(shown[FIRST], looks=looks, css="cw-many cw-worth"))
        about.append(one_model_words.ABOUT)
        with st.expander("All figures of the model"):
            grid(shown)
            ratios = one_model_words.readable_ratios(found, methods.ratios)
            st.html(rows_html(ratios))
    if about:
        draw_method(*map(literal, about))


def methods_title(chosen: ResultChoice) -> str | None:
    """Whether the methods agree, in a sentence; None where no detector has both inputs."""
    answers = answers_words.answers_of(_methods(chosen))
    return answers_words.title(answers, noun(chosen))


def _methods(chosen: ResultChoice) -> MethodAnswers:
    # The smallest effect of interest changes nothing in the model, and must not cause another fit.
    return MethodAnswers(
        compared(chosen).comparison,
        across_ratios(chosen),
        _model(chosen._replace(bound=SMALLEST_EFFECT)),
        *curve_and_errors(chosen),
    )
