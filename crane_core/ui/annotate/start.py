"""Where an annotator begins: campaigns and who labels in them, practice, an example. Progress is not shown here.

Practice is the same desk with ten example items, each with the guideline's answer at once. Nothing is kept.
"""

from html import escape
from typing import Any

import streamlit as st

from crane_core.annotation.guideline import guideline
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Plan
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.campaigns.cards import (
    MINIBENCH,
    PracticeItem,
    evidence,
    practice_card,
    practice_items,
)
from crane_core.pipeline.campaigns.plan_outline import workload
from crane_core.ui import code_html, data, keys
from crane_core.ui.annotate import card_html
from crane_core.ui.annotate.component import draw_component, what_was_sent
from crane_core.ui.guideline_view import draw_guideline
from crane_core.ui.headline import draw_headline
from crane_core.ui.label_view import for_desk, label_html
from crane_core.ui.navigation import link, show_here, turn, turn_to_main
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may, visitor
from crane_core.ui.words import count, literal


def draw_start() -> None:
    """The campaigns one can label in, and what comes before the first label."""
    names = campaigns.campaign_names(data.folder())
    draw_headline(
        "Label diagnoses: is the reason right?"
        if names
        else "No campaign yet: practise on ten items",
        tab="Annotate",
    )
    st.markdown(
        "A detector predicted a crash, and the cell does crash. Label its **reason** *correct*, *partial* or *wrong*, "
        "one key or tap each. You do not see which model wrote a text or what input it had. Agreement and Results "
        "count these labels."
    )
    if names:
        _draw_campaigns(names)
    elif not may(Role.LEAD):
        st.info("There is no campaign yet. Ask your lead to create one.")
    with st.container(horizontal=True, vertical_alignment="center"):
        show_practice = turn if names else turn_to_main
        show_practice("Practice first: ten items with feedback", practice="1")
        _draw_guideline()
        if not names and may(Role.LEAD):
            link("campaigns", "Create a campaign")
    st.header("An example", anchor="example")
    st.html(_example_html(practice_items()[0]))


def _draw_campaigns(names: list[str]) -> None:
    """A card for each in which the visitor labels, or may."""
    person = visitor()
    shown: list[campaigns.Kept] = []
    for name in names:
        with refusals_shown():
            kept = campaigns.kept_campaign(data.folder(), name)
            if not person.is_known or person.name in kept.plan.present:
                shown.append(kept)
    # In a locked campaign there is nothing left to do.
    shown.sort(key=lambda kept: kept.lock is not None)
    if not person.is_known:
        st.caption(
            "Choose your name to begin or to continue. Not listed? Ask the lead of the campaign."
        )
    with st.container(key="cards_of_desks"):
        for kept in shown:
            _campaign(kept, person)
    if person.is_known and not shown:
        st.info(
            literal(
                f"No campaign has {person.name} as an annotator. Ask your lead."
            )
        )


def _example_html(item: PracticeItem) -> str:
    """An item as the desk shows it, with its blanks marked, its keys, and the guideline's answer folded."""
    labels = study_labels()
    label, why = (
        label_html(str(item.label), labels),
        code_html.prose_html(item.why),
    )
    card = card_html.card_html(practice_card(data.store(), item))
    shown = code_html.explained_blanks(code_html.marked_blanks(card))
    keys_html = '<span class="cw-dim">Your label:</span> ' + " · ".join(
        f"<kbd>{escape(one.key)}</kbd> {label_html(one.code, labels)}"
        for one in labels.labels
    )
    return (
        f'{card_html.card_style()}<div class="cw-specimen">{shown}<p>{keys_html}</p>'
        f"<details><summary>Correct, partial or wrong? Open what the guideline says</summary>"
        f"<p>{label}: {why}</p></details></div>"
    )


def _draw_guideline() -> None:
    """The guideline of the study, folded."""
    with st.popover("Guideline", width="content"):
        draw_guideline(guideline())


def _campaign(kept: campaigns.Kept, person: Visitor) -> None:
    plan = kept.plan
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{literal(plan.title)}**")
        st.caption(
            f"Locked {kept.lock.locked_at[:10]}."
            if kept.lock
            else _work_words(plan)
        )
        if person.is_known:
            turn_to_main(
                "Continue where you stopped",
                campaign=plan.campaign,
                annotator=person.name,
            )
            return
        with st.container(horizontal=True, gap="small"):
            for annotator in plan.present:
                turn_to_main(
                    literal(annotator),
                    campaign=plan.campaign,
                    annotator=annotator,
                )


def _work_words(plan: Plan) -> str:
    """What who has least and most will label, repeats included as on the desk, and the hours that the plan expects."""
    load = [
        (row.items + row.repeats, row.hours)
        for row in workload(plan)
        if row.annotator in plan.present
    ]
    if not load:
        return ""
    ends = min(load), max(load)
    sizes = dict.fromkeys(count(size) for size, _ in ends)
    hours = dict.fromkeys(f"{one:.1f}" for _, one in ends)
    return f"{' to '.join(sizes)} diagnoses for each annotator, about {' to '.join(hours)} h."


def draw_practice() -> None:
    """The practice screen."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key="desk_head",
    ):
        draw_headline("Practice", tab="Practice · Annotate", width="content")
        st.caption("ten diagnoses of the example notebooks", width="stretch")
        _draw_guideline()
        st.button(
            "All campaigns", icon=":material/arrow_back:", on_click=show_here
        )
    _desk()


@st.fragment
def _desk() -> None:
    wanted = what_was_sent(keys.PRACTICE_DESK).get("evidence")
    draw_component(_round(wanted), key=keys.PRACTICE_DESK, on_sent=lambda: None)


def _round(wanted: object) -> dict[str, Any]:
    items = practice_items()
    names = [f"practice-{place}" for place in range(1, len(items) + 1)]
    cards = {
        name: card_html.card_html(practice_card(data.store(), item))
        for name, item in zip(names, items, strict=True)
    }
    answers = {
        name: {"label": str(item.label), "why": code_html.prose_html(item.why)}
        for name, item in zip(names, items, strict=True)
    }
    shown = dict(zip(names, items, strict=True)).get(str(wanted))
    return {
        "queue": names,
        "undo": [],
        "labels": {},
        "reasons": {},
        "flags": [],
        "notes": {},
        "cards": cards,
        "practice": answers,
        "done": 0,
        "total": len(items),
        "saved": [],
        "refused": {},
        "label_set": for_desk(study_labels()),
        "evidence": {
            "id": wanted,
            "html": card_html.evidence_html(
                evidence(data.store(), MINIBENCH, shown.case_id)
            ),
        }
        if shown
        else None,
    }
