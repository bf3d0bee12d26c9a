"""The title of Results: what the chosen answers say, for every reading of them. Knows no widget.

The planned test decides the words (`gains_words.headline`); where two inputs cannot be compared, the title says what
was measured instead.
"""

from collections.abc import Callable

import pandas as pd

from crane_core.domain import DetectorKind
from crane_core.ui import data
from crane_core.ui.board_html import lead_words
from crane_core.ui.by_date_view import dates_title
from crane_core.ui.executed_view import repair_title, what_ran, what_was_fixed
from crane_core.ui.five_runs_view import votes_title
from crane_core.ui.gains_view import compared
from crane_core.ui.gains_words import headline
from crane_core.ui.leaderboard_view import board_of
from crane_core.ui.one_input_view import each_input, single_title
from crane_core.ui.one_model_view import methods_title
from crane_core.ui.result_switches import STUDY, ResultChoice
from crane_core.ui.specification_view import choices_title
from crane_core.ui.study_view import claims_title
from crane_core.ui.together_view import together_title
from crane_core.ui.words import KIND_WORDS, count

PAGE = "Results"
NO_ANSWERS = "No detector has answered yet"
OF_PART: dict[str | None, Callable[[ResultChoice], str | None]] = {
    "Leaderboard": lambda chosen: lead_words(board_of(chosen)),
    "Combinations": together_title,
    "Robustness": choices_title,
    "Stability": votes_title,
    "One model": methods_title,
    "Dates": dates_title,
    "Paper's claims": lambda _: claims_title(),
}
"""Parts that answer another question than the page: their titles, None where they have no answer."""


def results_title(chosen: ResultChoice | None, part: str | None = None) -> str:
    """The answer in a sentence; it says how many detectors lose as well as how many gain.

    part: what is seen; some parts answer another question: the leaderboard says who is first.
    """
    if chosen is None:
        return NO_ANSWERS
    own = OF_PART[part](chosen) if part in OF_PART else None
    if own is not None:
        return own
    if chosen.kind is DetectorKind.REHEARSAL:
        return rehearsal_title(what_ran(chosen))
    if chosen.kind is DetectorKind.REPAIR:
        return repair_title(what_was_fixed(chosen))
    comparison = compared(chosen).comparison
    if comparison.empty or comparison["difference"].isna().all():
        return single_title(each_input(chosen), chosen.kind)
    return headline(comparison, chosen.kind, chosen.inputs, of="")


def tab_words(chosen: ResultChoice | None) -> str:
    """What the browser's tab says: of the study the page's name, else of which detectors and benchmark."""
    if chosen is None:
        return PAGE
    is_study = chosen.experiment == STUDY and chosen.kind is DetectorKind.LLM
    if is_study:
        return PAGE
    benchmark = data.benchmark_titles()[chosen.benchmark]
    return f"{PAGE} of {KIND_WORDS[chosen.kind]} on {benchmark}"


def rehearsal_title(found: pd.DataFrame) -> str:
    """How many rehearsed targets did what the notebook claims; found: of `rehearsed.rehearsed`."""
    with_verdict = found["n"].sum()
    if not with_verdict:
        return "No rehearsed target gave a verdict"
    n_as_recorded = round(float((found["value"] * found["n"]).sum()))
    of = count(int(with_verdict))
    return f"Executed in a copy, {count(n_as_recorded)} of {of} target cells did what was recorded"
