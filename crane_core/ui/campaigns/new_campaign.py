"""A new campaign: described in three steps, shown as a plan, and only then stored.

The steps ask what is labelled, by whom, with which precision; and which labels of a table or of an LLM judge annotators
see after their own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import NamedTuple

import streamlit as st

from crane_core.annotation import plan
from crane_core.annotation.draw import STRATA, CampaignRequest, fresh_seed
from crane_core.annotation.label_check import MOST_BYTES, labels_from_toml
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import Plan, Population
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import campaigns, gold, population_choices
from crane_core.pipeline.campaigns.clustering import Clustering, clustering
from crane_core.pipeline.campaigns.gold import Looks
from crane_core.pipeline.campaigns.label_frame import judges_of_verdicts
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.campaigns.plan_outline import Outline, outline
from crane_core.pipeline.campaigns.population_choices import PopulationChoices
from crane_core.ui import data, keys
from crane_core.ui.campaigns.gold_form import TABLE_HELP, draw_gold_choice
from crane_core.ui.campaigns.plan_view import draw_outline, titles_of
from crane_core.ui.label_view import label_html
from crane_core.ui.navigation import link, show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import (
    count,
    experiment_words,
    literal,
    names_typed,
    sentence_case,
    setting_short,
)

SENTENCE = (
    "After each label the annotator reads this other one: for training. Later labels may follow it; the plan says what "
    "that costs."
)


class ShownAfterAnswers(NamedTuple):
    """A table with its file name, or the name of a judge; all empty: nothing is shown."""

    table: bytes = b""
    name: str = ""
    judge: str = ""


def draw_shown_after(judges: Sequence[str]) -> ShownAfterAnswers:
    """What the lead chose; a table goes before a judge. judges: those with labels of the population."""
    with st.expander("Labels shown after one's own"):
        st.caption(SENTENCE)
        table = st.file_uploader(
            "Labels from a file",
            type="csv",
            help=TABLE_HELP,
            max_upload_size=gold.MOST_BYTES >> 20,
        )
        judge = st.selectbox(
            "Or of an LLM judge",
            judges,
            index=None,
            placeholder="none" if judges else "none has labels here",
            disabled=table is not None or not judges,
        )
    if table is not None:
        return ShownAfterAnswers(table.getvalue(), table.name)
    return ShownAfterAnswers(judge=judge or "")


def with_shown_after(plan: Plan, chosen: ShownAfterAnswers) -> Plan:
    """The plan with these labels. Raises CampaignError if they have none for its items."""
    if not any(chosen):
        return plan
    shown = (
        gold.shown_after(data.store(), plan, chosen.judge)
        if chosen.judge
        else gold.shown_after_of_table(
            data.store(), plan, chosen.table, chosen.name
        )
    )
    return replace(plan, shown_after=shown)


PREVIEW = "preview"
MOST_DRAFTS = 100
"""Leads whose drafts are remembered at once."""
STRATUM_WORDS = {
    "detector": "detector",
    "setting": "input",
    "library": "library",
    "root_cause": "root cause",
}
FILTER_WORDS = {
    "detectors": "Detectors",
    "settings": "Inputs",
    "libraries": "Libraries",
    "root_causes": "Root causes",
}
KIND_WORDS = {
    plan.DrawKind.SAMPLE: "a sample, sized by margin",
    plan.DrawKind.ALL: "all of them",
}
OUTCOME_WORDS = {
    plan.PopulationOutcome.DETECTED: "detected crashes",
    plan.PopulationOutcome.PREDICTED: "all predicted crashes",
}
OVERLAP_WORDS = {
    plan.Overlap.ALL: "every annotator, every item",
    plan.Overlap.SAMPLE: "first all, others a sample",
    plan.Overlap.SOME: "some annotators per item",
    plan.Overlap.NONE: "one annotator per item",
    plan.Overlap.ADAPTIVE: "one, and a second if uncertain",
}
"""Short enough for the field on a phone."""
OVERLAP_HELP = "\n".join(
    f"- **{words}**: {overlap}" for overlap, words in OVERLAP_WORDS.items()
)
OUTCOME_HELP = """- **detected crashes**: predicted by most answers, and the cell does crash; the study's population
- **all predicted crashes**: false alarms on the fixed notebooks, too"""
ALL_TEXTS_HELP = """Off: each item shows the text of one answer, drawn at random. On: all different texts, each with its
number of answers; how many there are can reveal the model."""

BY_CASE_HELP = """On: items of one case follow each other and have the same annotators, so its ground truth is read
once. Where a text is nearly the one before, the desk offers the same label. The plan says what this costs."""
PLAIN_HELP = """On: quotes, dashes, emphasis, lists and line breaks of all texts are made alike, so that fewer of them
reveal their model. Words and length stay."""
GATE_HELP = """A model that judges counts as certified for this campaign where the lower bounds of its sensitivity and
specificity reach this (`judge tune`). Named here, it is chosen before anybody knows how the judge does."""
CALIBRATION_HELP = """Every annotator labels these items first. You compare the labels, improve the guideline, and open
the main round."""


class Who(NamedTuple):
    """The second step's answers; a name and annotators may still be missing.

    refusal: why no campaign can be created yet, "" if it can.
    """

    name: str
    annotators: tuple[str, ...]
    title: str
    by: str
    blind: bool
    refusal: str


def draw_population(choices: list[PopulationChoices]) -> plan.Population:
    """Which verdicts; an empty filter asks for everything."""
    place = st.selectbox(
        "Results of",
        range(len(choices)),
        format_func=lambda i: _experiment(choices[i]),
    )
    outcome = st.segmented_control(
        "Which crashes",
        list(plan.PopulationOutcome),
        default=plan.PopulationOutcome.DETECTED,
        required=True,
        format_func=lambda outcome: OUTCOME_WORDS[outcome],
        help=OUTCOME_HELP,
    )
    picked = choices[place]
    with st.container(key="fields_population"):
        filters = {
            name: tuple(
                st.multiselect(
                    words,
                    picked.values[name],
                    placeholder="all",
                    format_func=setting_short if name == "settings" else str,
                )
            )
            for name, words in FILTER_WORDS.items()
        }
    return plan.Population(
        picked.benchmark,
        picked.experiment,
        outcome=plan.PopulationOutcome(str(outcome)),
        **filters,
    )


def _experiment(choices: PopulationChoices) -> str:
    title = data.benchmark_titles()[choices.benchmark]
    return f"{title} · {experiment_words(choices.experiment)}"


def draw_who() -> Who:
    """Name and annotators, and below them what is wrong with them; the rest is folded away."""
    with st.container(key="fields_who"):
        name = st.text_input(
            "Name",
            placeholder="e.g. round-2",
            help="a-z, 0-9, dot, dash and underscore",
        ).strip()
        names = _draw_annotators()
    refusal = _refusal_of_names(name, names)
    blind = st.toggle(
        "Blind",
        value=True,
        help="nobody sees the model or the input of an item until the lock",
    )
    with (
        st.expander("Title and creator"),
        st.container(key="fields_title"),
    ):
        title = st.text_input("Title", placeholder="same as the name")
        by = visitor().name or st.text_input("Created by")
    return Who(
        name="" if refusal else name,
        annotators=names,
        title=title.strip(),
        by=by.strip(),
        blind=bool(blind),
        refusal=refusal,
    )


def _refusal_of_names(name: str, annotators: tuple[str, ...]) -> str:
    """Why name and annotators cannot be used yet, "" if they can; what is wrong with them is drawn here."""
    missing = [
        words
        for words, given in (("a name", name), ("annotators", annotators))
        if not given
    ]
    if missing:
        return f"Enter {' and '.join(missing)} in [step 2](#who)."
    try:
        plan.check_name(name, "a campaign")
        for annotator in annotators:
            plan.check_name(annotator, "an annotator")
    except ValueError as error:
        st.error(f"{literal(sentence_case(str(error)))}.")
        return "Correct the names in [step 2](#who)."
    return ""


def _draw_annotators() -> tuple[str, ...]:
    """Names: chosen from the people who may label here, if the server knows them; else typed."""
    roles = configured_roles()
    if roles is not None:
        return tuple(
            st.multiselect(
                "Annotators",
                roles.annotators(),
                help="people of the roles file",
            )
        )
    typed = st.text_input(
        "Annotators",
        placeholder="e.g. ana, ben",
        help="names, with commas between",
    )
    return names_typed(typed)


def draw_design() -> tuple[plan.Design, int]:
    """How many are labelled and how often, and the seed; what has a default is folded away."""
    kind = st.segmented_control(
        "How many items",
        list(KIND_WORDS),
        default=plan.DrawKind.SAMPLE,
        required=True,
        format_func=lambda kind: KIND_WORDS[kind],
    )
    with st.container(key="fields_size"):
        margin = st.number_input(
            "Margin, %", 0.5, 50.0, 5.0, 0.5, format="%.1f"
        )
        confidence = st.number_input(
            "Confidence, %", 50.0, 99.9, 95.0, 0.5, format="%.1f"
        )
    overlap = st.selectbox(
        "Who labels what",
        list(plan.Overlap),
        format_func=OVERLAP_WORDS.__getitem__,
        help=OVERLAP_HELP,
    )
    with st.container(key="fields_overlap"):
        per_item = (
            st.number_input("Annotators per item", 1, 100, 2)
            if overlap is plan.Overlap.SOME
            else 2
        )
        second = (
            st.number_input("Second labels, %", 1.0, 100.0, 25.0, width=150)
            if overlap is plan.Overlap.ADAPTIVE
            else plan.Design().second_share * 100
        )
        first = st.number_input(
            "Calibration items", 0, 10_000, 0, help=CALIBRATION_HELP
        )
    with st.container(horizontal=True):
        by_case = st.toggle("Order by case", help=BY_CASE_HELP, width="content")
        all_texts = st.toggle(
            "Show all texts of an item", help=ALL_TEXTS_HELP, width="content"
        )
        plain = st.toggle("Plain texts", help=PLAIN_HELP, width="content")
    with (
        st.expander("Strata, repeats, judges and seed"),
        st.container(key="fields_strata"),
    ):
        strata = st.multiselect(
            "Strata",
            STRATA,
            default=plan.BY_DEFAULT,
            format_func=lambda name: STRATUM_WORDS[name],
        )
        p = st.number_input(
            "Expected share, %", 1.0, 99.0, 50.0, 1.0, format="%.0f"
        )
        repeats = st.number_input(
            "Hidden repeats, %", 0.0, 50.0, 5.0, 1.0, format="%.0f"
        )
        gate = st.number_input(
            "Gate for judges, %",
            plan.GUESSING * 100 + 1,
            100.0,
            plan.Design().judge_gate * 100,
            1.0,
            format="%.0f",
            help=GATE_HELP,
        )
        seed = st.number_input(
            "Seed",
            value=_seed(),
            step=1,
            help="drawn at random; stored in the plan. Until you create the campaign, your visits have the same one.",
        )
        st.button("Draw again", on_click=_draw_again)
    design = plan.Design(
        kind=plan.DrawKind(str(kind)),
        overlap=plan.Overlap(str(overlap)),
        margin=_share(margin),
        confidence=_share(confidence),
        p=_share(p),
        strata=tuple(strata),
        repeats=_share(repeats),
        texts=plan.Texts.ALL if all_texts else plan.Texts.ONE,
        per_item=int(per_item),
        second_share=_share(second),
        calibration=int(first),
        by_case=bool(by_case),
        plain=bool(plain),
        judge_gate=_share(gate),
    )
    return design, int(seed)


def request_of(
    population: plan.Population,
    who: Who,
    design: plan.Design,
    seed: int,
    labels: LabelSet,
) -> CampaignRequest:
    """The request; placeholders replace a missing name or annotators, so that the plan's size can be shown."""
    stand_ins = tuple(
        f"annotator{place}" for place in range(1, max(2, design.per_item) + 1)
    )
    name, annotators = who.name or PREVIEW, who.annotators or stand_ins
    return CampaignRequest(
        name,
        annotators,
        population,
        design,
        seed,
        who.title,
        who.blind,
        who.by,
        labels,
    )


def _share(percent: float) -> float:
    """Percent as a share without rounding error: 95.0 becomes exactly the 0.95 of Equation 1."""
    return round(percent / 100, 6)


def _seed() -> int:
    """The seed that this lead's form begins with; in an address it would tell what a blind item hides."""
    drafts = _drafts()
    if len(drafts) > MOST_DRAFTS:
        drafts.pop(next(iter(drafts)))
    return drafts.setdefault(_drafter(), fresh_seed())


def _folder() -> str:
    return str(data.folder().path)


@data.kept(_folder, 16)
def _drafts() -> dict[str, int]:
    """The seed of every lead's draft, kept between visits; a campaign that is created ends its draft."""
    return {}


def _drafter() -> str:
    """Who drafts: who is logged in; without logins the browser, as far as it differs from others."""
    browser = st.context.headers.get("User-Agent") or ""
    return visitor().email or f"{st.context.ip_address} {browser[:200]}"


def end_draft() -> None:
    """Have the next campaign of this lead begin with another seed."""
    _drafts().pop(_drafter(), None)


def _draw_again() -> None:
    _drafts()[_drafter()] = fresh_seed()


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
        steps, beside = st.columns([1, 1], gap="small")
    with steps:
        with _step("1. What is labelled?", anchor="what"):
            population = draw_population(choices)
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
        with _step("2. Who labels?", anchor="who"):
            who = draw_who()
        with _step("3. How sure?", anchor="sure"):
            design, seed = draw_design()
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
            request_of(population, who, design, seed, labels),
            gold=answers.gold,
            gold_feedback=answers.feedback,
        )
        plan, weight = _drawn(request, shown_after)
        told = outline(plan, weight, titles_of(population))
        on_phones.markdown(f"The plan: {literal(told.size)}.")
        _draw_plan(plan, told, refusal=who.refusal)


@contextmanager
def _step(title: str, *, anchor: str) -> Iterator[None]:
    with st.container(border=True):
        st.header(title, anchor=anchor)
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
    st.header("The plan", anchor="plan")
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
        end_draft()
        show_here(campaign=plan.campaign)
        st.rerun()
