"""Agreement: how far do people agree with each other, with LLM judges, and with themselves?"""

import streamlit as st

from crane_core.ui.agreement.coefficients import (
    draw_answer,
    draw_coefficients,
    draw_matrix,
)
from crane_core.ui.agreement.computed import draw_choice
from crane_core.ui.agreement.groups import draw_differences, draw_groups
from crane_core.ui.agreement.judges import (
    draw_consistency,
    draw_differs,
    draw_powered,
    draw_repeats,
    draw_with_judges,
)
from crane_core.ui.frame import page

with page():
    st.title("Agreement")
    chosen = draw_choice()
    if chosen is not None:
        if draw_answer(chosen):
            with st.container(horizontal=True, gap="large"):
                with st.container(width=580):
                    draw_coefficients(chosen)
                with st.container(width=640):
                    draw_matrix(chosen)
            draw_differences(chosen)
            st.subheader("By group", anchor="groups")
            draw_groups(chosen)
        st.subheader("People and LLM judges", anchor="judges")
        draw_with_judges(chosen)
        draw_differs(chosen)
        draw_powered(chosen)
        st.subheader("Judge consistency", anchor="consistency")
        draw_consistency(chosen)
        st.subheader("Annotator consistency", anchor="repeats")
        draw_repeats()
