"""Agreement: how far do people agree with each other, with LLM judges, and with themselves?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.agreement.coefficients import (
    draw_answer,
    draw_coefficients,
    draw_matrix,
    tab_words,
    title_words,
)
from crane_core.ui.agreement.computed import draw_choice
from crane_core.ui.agreement.groups import draw_differences, draw_groups
from crane_core.ui.agreement.judges import (
    draw_consistency,
    draw_powered,
    draw_repeats,
    draw_with_judges,
)
from crane_core.ui.agreement.label_model_view import draw_label_model
from crane_core.ui.frame import page
from crane_core.ui.headline import draw_headline

with page():
    head = st.container(key=keys.HEAD)  # its height stands, see style.css
    chosen = draw_choice()
    with head:
        draw_headline(title_words(chosen), tab=tab_words(chosen))
    if chosen is not None:
        with st.container(key="coefficients"):
            with st.container():
                is_shown = draw_answer(chosen)
                if is_shown:
                    draw_coefficients(chosen)
            if is_shown:
                with st.container():
                    draw_matrix(chosen)
                with st.container():
                    draw_differences(chosen)
        with st.container(key="parts_of_agreement"):
            with st.container():
                draw_consistency(chosen)
                if is_shown:
                    st.header("Where do they agree more?", anchor="groups")
                    draw_groups(chosen)
                draw_label_model()
            with st.container():
                st.header(
                    "How often does the judge differ from a person?",
                    anchor="judges",
                )
                draw_with_judges(chosen)
                draw_powered(chosen)
                st.header(
                    "Do annotators agree with themselves?", anchor="repeats"
                )
                draw_repeats()
