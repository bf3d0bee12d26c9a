"""What a new campaign is: every question of the form, and the wish that the answers make."""

from __future__ import annotations

import streamlit as st

from crane_core.annotation.draw import STRATA, Wish
from crane_core.annotation.plan import BY_DEFAULT, Design, Kind, Outcome, Overlap, Population
from crane_core.annotation.seed import fresh_seed
from crane_core.pipeline.population_choices import Choices
from crane_core.ui import keys
from crane_core.ui.words import count, experiment_words, setting_short

WIDTH = 260
STRATUM_WORDS = {"detector": "detector", "setting": "input", "library": "library", "root_cause": "root cause"}
FILTER_WORDS = {"detectors": "Detectors", "settings": "Inputs", "libraries": "Libraries", "root_causes": "Root causes"}
KIND_WORDS = {Kind.SAMPLE: "a sample, by Equation 1", Kind.ALL: "all of them"}
OUTCOME_HELP = """- **detected crash**: predicted by most runs, and the cell does crash; the study's population
- **predicted crash, right or wrong**: also false alarms on the fixed notebooks"""


def draw_population(choices: list[Choices]) -> Population:
    """Which verdicts; an empty filter asks for everything."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.selectbox(
            "Verdicts of", range(len(choices)), format_func=lambda i: _experiment(choices[i]), width=2 * WIDTH
        )
        outcome = st.segmented_control(
            "Which", list(Outcome), default=Outcome.DETECTED, required=True, format_func=str, help=OUTCOME_HELP
        )
    picked = choices[place]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        filters = {
            name: tuple(
                st.multiselect(
                    words,
                    picked.values[name],
                    placeholder="all",
                    width=WIDTH,
                    format_func=setting_short if name == "settings" else str,
                )
            )
            for name, words in FILTER_WORDS.items()
        }
    return Population(picked.benchmark, picked.experiment, outcome=Outcome(str(outcome)), **filters)


def _experiment(choices: Choices) -> str:
    return f"{choices.benchmark} · {experiment_words(choices.experiment)} ({count(choices.n_verdicts)} verdicts)"


def draw_wish(population: Population) -> Wish | None:
    """Who labels, and how; None while there is no name or nobody to label."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", placeholder="pilot", width=WIDTH, help="a-z, 0-9, dot, dash and underscore")
        title = st.text_input("Title", placeholder="as the name", width=WIDTH)
        annotators = st.text_input("Annotators", placeholder="ana, ben", width=WIDTH, help="names, with commas between")
        by = st.text_input("Made by", width=WIDTH)
    design = _design()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input("Seed", value=_seed(), step=1, width=WIDTH, help="drawn by chance; the plan keeps it")
        blind = st.toggle("Blind", value=True, help="nobody is told model or input of an item until the lock")
    names = tuple(part.strip() for part in annotators.split(",") if part.strip())
    if not name.strip() or not names:
        return None
    return Wish(name.strip(), names, population, design, int(seed), title.strip(), bool(blind), by.strip())


def _design() -> Design:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Label", list(KIND_WORDS), default=Kind.SAMPLE, required=True, format_func=lambda kind: KIND_WORDS[kind]
        )
        overlaps = list(Overlap) if kind is Kind.ALL else [Overlap.ALL, Overlap.NONE]
        overlap = st.selectbox("Who labels what", overlaps, format_func=str, width=2 * WIDTH)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        strata = st.multiselect(
            "Strata", STRATA, default=BY_DEFAULT, format_func=lambda name: STRATUM_WORDS[name], width=WIDTH
        )
        margin = st.number_input("Margin, %", 0.5, 50.0, 5.0, 0.5, format="%.1f", width=130)
        confidence = st.number_input("Confidence, %", 50.0, 99.9, 95.0, 0.5, format="%.1f", width=130)
        p = st.number_input("Expected share, %", 1.0, 99.0, 50.0, 1.0, format="%.0f", width=150)
        repeats = st.number_input("Hidden repeats, %", 0.0, 50.0, 5.0, 1.0, format="%.0f", width=150)
    return Design(
        kind=Kind(str(kind)),
        overlap=Overlap(str(overlap)),
        margin=_share(margin),
        confidence=_share(confidence),
        p=_share(p),
        strata=tuple(strata),
        repeats=_share(repeats),
    )


def _share(percent: float) -> float:
    """Percent as a share, without the dust of the division: 95.0 is exactly the 0.95 that Equation 1 knows."""
    return round(percent / 100, 6)


def _seed() -> int:
    """The seed that this session's form begins with."""
    if keys.NEW_SEED not in st.session_state:
        st.session_state[keys.NEW_SEED] = fresh_seed()
    return int(st.session_state[keys.NEW_SEED])
