"""Who labels from now on, for the lead: the main round, people who come and go, items labelled again."""

from collections.abc import Callable, Mapping

import streamlit as st

from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import PeopleChange, is_main_open
from crane_core.annotation.rounds import Round
from crane_core.domain import AuditAction
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import rounds
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.label_frame import (
    judges_of_verdicts,
    labels_of_judge,
)
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui import data
from crane_core.ui.access import note_act
from crane_core.ui.label_view import label_words
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import count, literal, names_typed

WIDTH = 260
KEEPS = "leaves; open items go to the others"
HANDS = "stays, and hands open items to the others"


def draw_people(status: CampaignStatus) -> None:
    """What has changed so far, and the forms to change more; a locked campaign can only be labelled again."""
    plan = status.plan
    for entry in plan.rounds:
        st.caption(
            literal(
                f"{entry.at[:10]}, {entry.by}: {rounds.round_words(entry)}."
            )
        )
    if missing := status.n_unassigned:
        st.warning(
            f"{count(missing)} labels that the design asks for have nobody to give them. Add people."
        )
    if status.lock is None:
        if not is_main_open(plan):
            _draw_main(plan)
        if status.n_undrawn:
            _draw_second(plan, status.n_undrawn)
    with st.container(key="folds_of_people"):
        if status.lock is None:
            with st.expander("Add annotators"):
                _draw_add(plan)
            with st.expander("Somebody leaves or is replaced"):
                _draw_leave(plan)
        with st.expander("Label items again"):
            _draw_again(plan, is_locked=status.lock is not None)


def _draw_main(plan: Plan) -> None:
    st.markdown(
        f"Everybody labels the {count(len(plan.calibration))} calibration items now. Compare the labels, improve the "
        "guideline, then open the main round."
    )
    with st.form("main", border=False):
        by, why = _signature()
        pressed = st.form_submit_button("Open the main round", type="primary")
    if pressed:
        _keep(
            lambda: rounds.open_main(
                data.folder(), plan.campaign, by=by, why=why
            )
        )


def _draw_second(plan: Plan, n_undrawn: int) -> None:
    st.markdown(
        f"{count(n_undrawn)} items with a first label wait for the draw of second labels: "
        f"{plan.design.second_share:.0%} of them, uncertain ones more often. Small batches learn from earlier ones."
    )
    judges = _judges(plan.campaign)
    with st.form("second", border=False):
        judge = (
            st.selectbox(
                "LLM judge",
                judges,
                index=None,
                placeholder="none",
                help="items that it labelled otherwise are drawn more often, if earlier second labels differed there",
                width=WIDTH,
            )
            if judges
            else None
        )
        by, why = _signature()
        pressed = st.form_submit_button("Draw second labels")
    if pressed:
        _keep(
            lambda: rounds.draw_second(
                data.folder(),
                plan.campaign,
                by=by,
                why=why,
                judge=labels_of_judge(data.store(), plan, judge)
                if judge
                else None,
            )
        )


@data.kept(data.revision, 4)
def _judges(campaign: str) -> list[str]:
    items = kept_campaign(data.folder(), campaign).plan.items
    return judges_of_verdicts(data.store(), [item.verdict for item in items])


def _draw_add(plan: Plan) -> None:
    with st.form("add", border=False):
        roles = configured_roles()
        if roles is not None:
            free = [
                name for name in roles.annotators() if name not in plan.present
            ]
            names = tuple(st.multiselect("New annotators", free, width=WIDTH))
        else:
            typed = st.text_input(
                "New annotators", placeholder="eva, finn", width=WIDTH
            )
            names = names_typed(typed)
        by, why = _signature()
        pressed = st.form_submit_button("Add")
    if pressed:
        _keep(
            lambda: rounds.change_people(
                data.folder(),
                plan.campaign,
                PeopleChange(add=names),
                by=by,
                why=why,
            )
        )


def _draw_leave(plan: Plan) -> None:
    with st.form("leave", border=False):
        name = st.selectbox("Annotator", plan.present, width=WIDTH)
        what = st.radio("What happens", [KEEPS, HANDS])
        successor = st.text_input(
            "Taken over by",
            placeholder="the others",
            width=WIDTH,
            help="one name, or nobody",
        )
        by, why = _signature()
        pressed = st.form_submit_button("Change")
    if pressed:
        heir = successor.strip()
        change = (
            PeopleChange(hand_back=(name,))
            if what == HANDS
            else PeopleChange(remove=(name,))
        )
        if heir:
            change = PeopleChange(replace={name: heir})
        _keep(
            lambda: rounds.change_people(
                data.folder(), plan.campaign, change, by=by, why=why
            )
        )


def _draw_again(plan: Plan, *, is_locked: bool) -> None:
    with st.form("again", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            labels = st.multiselect(
                "With label",
                plan.labels.codes,
                format_func=lambda code: label_words(code, plan.labels),
                width=WIDTH,
                placeholder="any",
            )
            reasons = _draw_reasons(plan.labels.reason_words)
        is_older = st.checkbox("Only labels given under an older guideline")
        is_flagged = st.checkbox("Only flagged items")
        by, why = _signature()
        pressed = st.form_submit_button(
            "Open the campaign and label again" if is_locked else "Label again"
        )
    st.caption(
        "Annotators who labelled them see these items again, before all others. The export keeps the old labels."
    )
    if pressed:
        older = plan.guideline if is_older else ""
        which = rounds.Which((), tuple(labels), reasons, older, is_flagged)

        def open_again() -> Round:
            opened = rounds.label_again(
                data.folder(), plan.campaign, which, by=by, why=why
            )
            if is_locked:
                note_act(
                    AuditAction.OPEN_AGAIN,
                    f"campaign {plan.campaign}",
                    f"by {by}",
                )
            return opened

        _keep(open_again)


def _draw_reasons(words: Mapping[str, str]) -> tuple[str, ...]:
    """Codes of reasons; empty where the campaign's labels have none."""
    if not words:
        return ()
    chosen = st.multiselect(
        "With reason",
        list(words),
        format_func=lambda code: words[code],
        width=WIDTH,
        placeholder="any",
    )
    return tuple(chosen)


def _signature() -> tuple[str, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = visitor().name or st.text_input("Changed by", width=180)
        why = st.text_input("Why", placeholder="optional", width=WIDTH)
    return by.strip(), why.strip()


def _keep(change: Callable[[], Round]) -> None:
    with refusals_shown():
        require(Role.LEAD)
        change()
        st.rerun()
