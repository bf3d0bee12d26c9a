"""Overview: what did the study find, how sure is it, and where to go on?"""

import streamlit as st

from crane_core.ui.frame import page
from crane_core.ui.leaderboard_view import draw_top
from crane_core.ui.overview_example import draw_example
from crane_core.ui.overview_view import (
    draw_answer,
    draw_head,
    draw_sources,
    draw_together_finding,
    draw_ways,
)
from crane_core.ui.specification_view import (
    draw_judge_caveat,
    has_several_judges,
)
from crane_core.ui.story_view import asked_step, draw_story, draw_story_link


def draw_overview() -> None:
    """The whole page."""
    chosen = draw_head()
    draw_story_link()
    draw_answer(chosen)
    has_caveat = chosen is not None and has_several_judges()
    with st.container(key="support"):
        *left, right = st.columns(1 + has_caveat, gap="large")
    # It is filled last: every reading of the answers takes longer than the rest of the page.
    caveat = left[0].container(key="caveat") if left else None
    with right:
        draw_sources(chosen)
    draw_example()
    if chosen is not None:
        draw_top(chosen)
    draw_together_finding(chosen)
    draw_ways()
    if chosen is not None and caveat is not None:
        with caveat:
            draw_judge_caveat(chosen)


with page():
    if step := asked_step():
        draw_story(step)
    else:
        draw_overview()
