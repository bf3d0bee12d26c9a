"""Answers that are invalid: a form that takes one out with a reason, and what was taken out of a run."""

import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.maintenance import invalidate
from crane_core.storage.answers import RunKey
from crane_core.storage.invalidated import AnswerKey
from crane_core.ui import data
from crane_core.ui.inventory_view import change, may_change, restoring
from crane_core.ui.words import count, literal, moment


def draw_invalidate(run: RunKey, instance_id: str, run_index: int) -> None:
    """A form for one answer; nothing for those who may not."""
    if not may_change(Listed.ANSWER):
        return
    key = AnswerKey(*run, instance_id, run_index)
    place = "_".join(map(str, key))
    with st.popover(
        f"Invalidate answer {run_index}",
        key=f"invalid_{place}",
        type="tertiary",
    ):
        st.markdown(
            "Leave this answer, and labels of it, out of every page, statistic and export? It is kept, and can be"
            " restored."
        )
        reason = st.text_input(
            "Reason", max_chars=invalidate.LONGEST_REASON, key=f"reason_{place}"
        )
        if st.button("Invalidate", key=f"invalidate_{place}", type="primary"):
            change(
                Listed.ANSWER,
                lambda by: invalidate.invalidate(
                    data.folder(), [key], reason, by=by
                ),
            )


def draw_invalidated(run: RunKey, instance_id: str = "") -> None:
    """What was taken out of a run, or of its answers to one instance: by whom, when and why, each with a way back."""
    acts = invalidate.invalidated(data.folder(), run, instance_id)
    if not acts:
        return
    with st.expander(f"Invalidated answers ({count(len(acts))})"):
        for act in acts:
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                key=f"invalidated_{act.name}",
            ):
                if may_change(Listed.ANSWER) and st.button(
                    "Restore", key=f"valid_{act.name}"
                ):
                    change(Listed.ANSWER, restoring(Listed.ANSWER, act.name))
                st.caption(
                    literal(
                        f"{act.held}: {act.reason} ({act.acted_by}, {moment(act.acted_at)})"
                    ),
                    width="stretch",
                )
