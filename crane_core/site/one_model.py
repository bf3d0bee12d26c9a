"""The section of the site on one model of all answers: gains of groups beside the same under partial pooling."""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.pipeline.export.exported_statistic import Judging
from crane_core.pipeline.results import measures
from crane_core.pipeline.results.model_across import model_across
from crane_core.pipeline.results.one_model import model_of_all
from crane_core.site.blocks import finding, folded, heading, paragraph
from crane_core.site.material import Collected, name_of
from crane_core.site.numbers import readable_table
from crane_core.site.questions import curve_and_errors
from crane_core.stats.gee import Unfit
from crane_core.ui import answers_words, one_model_words
from crane_core.ui.words import count


def one_model_blocks(
    collected: Collected, judging: Judging
) -> Iterator[Markup]:
    """By a correct diagnosis where there are labels; empty where no detector has both inputs."""
    credit = judging.usual_credit
    found = model_of_all(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    if found.why_not == Unfit.ONE_GROUP:
        return
    by_gee = model_across(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    curve, errors = curve_and_errors(collected, judging)
    comparison = measures.gain_table(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    answers = answers_words.MethodAnswers(
        comparison, by_gee.ratios, found, curve, errors
    )
    yield heading(answers_words.TITLE, 3, f"answers-{name_of(judging)}")
    yield readable_table(answers_words.readable_answers(answers))
    yield paragraph(answers_words.ABOUT, "cw-dim")
    anchor = f"one-model-{name_of(judging)}"
    yield heading(one_model_words.TITLE, 3, anchor)
    yield finding(one_model_words.finding(found))
    if found.why_not:
        return
    yield readable_table(one_model_words.readable_ratios(found, by_gee.ratios))
    shown = one_model_words.readable_gains(found)
    yield folded(f"{count(len(shown))} gains", [readable_table(shown)])
    yield paragraph(one_model_words.ABOUT, "cw-dim")
