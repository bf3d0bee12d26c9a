"""The three steps of a new campaign: what is labelled, by whom, with which precision; and the resulting request."""

from typing import NamedTuple

import streamlit as st

from crane_core.annotation import plan
from crane_core.annotation.draw import STRATA, CampaignRequest, fresh_seed
from crane_core.annotation.label_set import LabelSet
from crane_core.identity.roles import configured_roles
from crane_core.pipeline.campaigns.population_choices import PopulationChoices
from crane_core.ui import data
from crane_core.ui.visit import visitor
from crane_core.ui.words import (
    experiment_words,
    literal,
    names_typed,
    sentence_case,
    setting_short,
)

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
        return f"Enter {' and '.join(missing)} in step 2."
    try:
        plan.check_name(name, "a campaign")
        for annotator in annotators:
            plan.check_name(annotator, "an annotator")
    except ValueError as error:
        st.error(f"{literal(sentence_case(str(error)))}.")
        return "Correct the names in step 2."
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
