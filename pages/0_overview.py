"""Overview: what did the study find, how sure is it, and where to go on?"""

from crane_core.ui.frame import page
from crane_core.ui.overview_example import draw_example
from crane_core.ui.overview_view import (
    draw_answer,
    draw_head,
    draw_together_finding,
    draw_ways,
)

with page():
    chosen = draw_head()
    draw_answer(chosen)
    draw_example()
    draw_together_finding(chosen)
    draw_ways()
