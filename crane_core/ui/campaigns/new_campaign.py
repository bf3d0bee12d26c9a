"""A new campaign: described, shown as a plan, and only then stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape

import streamlit as st

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_check import MOST_BYTES, labels_from_toml
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import Plan, Population
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import campaigns, population_choices
from crane_core.pipeline.campaigns.clustering import Clustering, clustering
from crane_core.pipeline.campaigns.gold import Looks
from crane_core.pipeline.campaigns.label_frame import judges_of_verdicts
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.campaigns.plan_outline import Outline, outline
from crane_core.ui import data, keys
from crane_core.ui.campaigns import request_form
from crane_core.ui.campaigns.gold_form import draw_gold_choice
from crane_core.ui.campaigns.plan_view import draw_outline, titles_of
from crane_core.ui.campaigns.shown_after_form import (
    ShownAfterAnswers,
    draw_shown_after,
    with_shown_after,
)
from crane_core.ui.label_view import label_html
from crane_core.ui.navigation import link, show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require
from crane_core.ui.words import count, literal

HELP = "TOML with two to seven labels; docs/lead/campaign.md explains it and has an example"


def draw_labels() -> LabelSet | None:
    """The set; None, after saying what is wrong with it, while the pasted file is not one."""
    with st.expander("Labels other than correct, partial, wrong"):
        text = st.text_area(
            "Label file",
            placeholder="empty: the study's labels",
            max_chars=MOST_BYTES,
            help=HELP,
        )
        if not text.strip():
            return study_labels()
        try:
            labels = labels_from_toml(text)
        except ValueError as error:
            st.error(literal(f"The label file cannot be used: {error}."))
            return None
        st.html(_preview(labels))
        if told := standing_words(labels):
            st.caption(literal(told))
    return labels


def _preview(labels: LabelSet) -> str:
    """Each label in its colour, with its key and reasons."""
    words = labels.reason_words
    rows = "".join(
        f"<tr><td><kbd>{escape(label.key)}</kbd></td><td>{label_html(label.code, labels)}</td>"
        f'<td class="cw-dim">{escape(", ".join(words[code] for code in label.reasons))}</td></tr>'
        for label in labels.labels
    )
    return f'<div class="cw-scroll" tabindex="0"><table class="cw-labels">{rows}</table></div>'


@data.kept(data.answers)
def _choices() -> list[population_choices.PopulationChoices]:
    return population_choices.population_choices(data.store(), data.verdicts())


@data.kept(data.answers, 4)
def _found(population: Population) -> campaigns.MatchingVerdicts:
    return campaigns.population(data.store(), population, data.verdicts())


@data.kept(data.revision, 4)
def _judges(population: Population) -> list[str]:
    return judges_of_verdicts(data.store(), _found(population).verdicts)


@data.kept(data.answers, 16)
def _drawn(
    request: CampaignRequest, shown_after: ShownAfterAnswers
) -> tuple[Plan, Clustering]:
    found = _found(request.population)
    plan = with_shown_after(
        campaigns.drawn_plan(data.store(), request, found), shown_after
    )
    return plan, clustering(data.store(), plan, found)


def draw_new() -> None:
    """Three steps, and beside them the resulting plan with the button that stores it."""
    choices = _choices()
    if not choices:
        st.info(
            "No model answers are loaded. Import predictions, or fetch the published archive."
        )
        link("data", "Open Data")
        return
    on_phones = st.container(key="plan_on_phones")
    with st.container(key=keys.BESIDE_EACH_OTHER):
        steps, beside = st.columns([1, 1], gap="large")
    with steps:
        with _step("1. What is labelled?"):
            population = request_form.draw_population(choices)
            verdicts, left_out = _found(population)
            n = len(verdicts)
            if n == 0:
                _draw_nothing(left_out)
                return
            left = (
                f"; {count(left_out)} more have no text here"
                if left_out
                else ""
            )
            st.caption(f"{count(n)} verdicts can be labelled{left}.")
            labels = draw_labels()
        with _step("2. Who labels?"):
            who = request_form.draw_who()
        with _step("3. How sure?"):
            design, seed = request_form.draw_design()
            looks = Looks(labels or study_labels(), design.texts, who.blind)
            answers = draw_gold_choice(population, looks, seed)
            shown_after = draw_shown_after(_judges(population))
    if labels is None or answers is None:
        return
    # It stays in sight while the form beside it is filled in; on a phone it is below the form, and its size above.
    with (
        beside,
        st.container(key="resulting_plan", border=True),
        refusals_shown(),
    ):
        request = replace(
            request_form.request_of(population, who, design, seed, labels),
            gold=answers.gold,
            gold_feedback=answers.feedback,
        )
        plan, weight = _drawn(request, shown_after)
        told = outline(plan, weight, titles_of(population))
        on_phones.markdown(f"The plan: {literal(told.size)}.")
        _draw_plan(plan, told, refusal=who.refusal)


@contextmanager
def _step(title: str) -> Iterator[None]:
    with st.container(border=True):
        st.markdown(f"**{title}**")
        yield


def _draw_nothing(left_out: int) -> None:
    if left_out:
        st.info(
            f"{count(left_out)} verdicts match, but their texts are not loaded: the app ships facts of the published "
            "study, not its texts. Labelling a diagnosis needs them; fetching takes a minute."
        )
        link("data", "Fetch or import the texts on the Data page")
    else:
        st.info("No verdict matches. Remove a filter.")


def _draw_plan(plan: Plan, told: Outline, *, refusal: str) -> None:
    """The plan; while names are refused, its size and strata alone, and nothing can be created."""
    st.markdown("**The plan**")
    draw_outline(told, with_people=not refusal)
    with st.container(horizontal=True, vertical_alignment="center"):
        is_pressed = st.button(
            "Create campaign", type="primary", disabled=bool(refusal)
        )
        if refusal:
            st.caption(refusal)
    if is_pressed:
        require(Role.LEAD)
        campaigns.keep_campaign(data.folder(), plan)
        request_form.end_draft()
        show_here(campaign=plan.campaign)
        st.rerun()
