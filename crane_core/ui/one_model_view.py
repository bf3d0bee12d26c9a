"""What is a gain of few cases worth? One model of all answers beside each group by itself."""

import streamlit as st

from crane_core.pipeline.results.one_model import ModelOfAll, model_of_all
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.ui import answers_words, data, one_model_words
from crane_core.ui.answers_words import MethodAnswers, readable_answers
from crane_core.ui.chart_box import draw_method
from crane_core.ui.gains_view import compared
from crane_core.ui.model_across_view import across_ratios
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.specification_view import curve_and_errors
from crane_core.ui.words import literal


@data.kept(data.answers, 16, copied=True)
def _model(chosen: ResultChoice) -> ModelOfAll:
    rows = chosen.rows()
    return model_of_all(
        rows[rows["setting"].isin(chosen.inputs)],
        rule=chosen.rule,
        credit=chosen.credit,
        inputs=chosen.inputs,
    )


def draw_one_model(chosen: ResultChoice) -> None:
    """The section: every method side by side, then the model's finding, its gains, and the same by GEE."""
    # The smallest effect of interest changes nothing here, and must not cause another fit.
    found = _model(chosen._replace(bound=SMALLEST_EFFECT))
    comparison = compared(chosen).comparison
    ratios = across_ratios(chosen)
    if not comparison.empty:
        st.header(answers_words.TITLE, anchor="answers")
        answers = MethodAnswers(
            comparison, ratios, found, *curve_and_errors(chosen)
        )
        st.html(rows_html(readable_answers(answers)))
        draw_method(literal(answers_words.ABOUT))
    st.header(one_model_words.TITLE, anchor="one-model")
    st.markdown(one_model_words.finding(found))
    if found.why_not:
        return
    st.html(rows_html(one_model_words.readable_gains(found)))
    st.html(rows_html(one_model_words.readable_ratios(found, ratios)))
    draw_method(literal(one_model_words.ABOUT))
