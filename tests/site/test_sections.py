"""Sections of the site on the published study: the finding that the app tells, and its chart inside the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from markupsafe import Markup

from crane_core.domain import DetectorKind
from crane_core.pipeline.audit import at_the_terminal
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.exported_statistic import Judging
from crane_core.pipeline.results.study_plan import TEMPLATE, register
from crane_core.site.ablations import cost_blocks, drops_blocks
from crane_core.site.blocks import finding
from crane_core.site.material import Collected, source_of
from crane_core.site.questions import (
    choices_blocks,
    time_blocks,
    together_blocks,
)
from crane_core.site.results import (
    one_model_blocks,
    plan_blocks,
    worth_blocks,
)

STUDY = "crane-llm-2025-10"


def told(blocks: Iterable[Markup]) -> str:
    """The section as one text, in which a chart stands inline and wants nothing from elsewhere."""
    text = "".join(blocks)
    assert "<svg" in text
    assert "<img" not in text
    return text


def test_emphasis_is_the_only_markup_of_a_finding() -> None:
    assert finding("**a <b>** c") == "<p><strong>a &lt;b&gt;</strong> c</p>"


def test_drops_of_the_study(study: Collected) -> None:
    text = told(drops_blocks(study, source_of(study, "junobench", STUDY)))
    assert (
        "<strong>Against runtime state, of 3 comparisons of accuracy, none is a gain, 1 is a loss and 2 are "
        in text
    )
    assert "without evidence. Losses: −8.1 pp for Qwen" in text
    assert "Among the changes that are only printed, the largest is" in text
    assert "Holm-adjusted over all rows" in text


def test_tokens_of_the_study_against_accuracy(study: Collected) -> None:
    text = told(cost_blocks(study, source_of(study, "junobench", STUDY)))
    assert "<strong>Highest accuracy for its tokens:</strong>" in text
    assert "1,459 tokens" in text


def main_of(study: Collected, kind: DetectorKind) -> Judging:
    """The study's answers of this kind of detector, judged by the main annotator."""
    of = (STUDY, kind)
    return next(
        one
        for one in study.material.judgings
        if (one.experiment, one.kind) == of and one.is_main
    )


def test_time_saved_in_the_study(study: Collected) -> None:
    text = told(time_blocks(study, main_of(study, DetectorKind.LLM)))
    assert (
        'id="time-crane-llm-2025-10-llm">Does asking before execution save time?</h3>'
        in text
    )
    assert (
        "<strong>GPT-5 +RT saves 833 s over 111 crashes</strong> (1,103 s if"
        in text
    )
    assert not list(
        time_blocks(study, main_of(study, DetectorKind.ANALYZER))
    ), "nobody timed analyzers"


def test_specification_curve_of_the_study(study: Collected) -> None:
    text = told(choices_blocks(study, main_of(study, DetectorKind.LLM)))
    assert ">Does the conclusion depend on the choices?</h3>" in text
    assert (
        "<strong>Of 39 tests (one or two of each detector in 9 readings of these answers), 24 find a gain"
        in text
    )
    assert (
        "<li>Gemini 2.5 Flash: of 13 tests, 5 find a gain, none finds a loss and 8 find no evidence;"
        in text
    )


def test_combinations_of_the_study(study: Collected) -> None:
    text = told(together_blocks(study))
    assert '<h2 id="together">Are combined detectors better?</h2>' in text
    assert "Gains: GPT-5 −RT, Qwen2.5-32B-Instruct +RT." in text
    assert "<td>80.6%</td>" in text
    assert text.count('<h3 id="together-junobench-') == 1, (
        "what ships beside the study stands with it"
    )


def test_worth_of_alarms_in_the_study(study: Collected) -> None:
    text = told(worth_blocks(study, main_of(study, DetectorKind.LLM)))
    assert 'id="worth-crane-llm-2025-10-llm">What are its alarms' in text
    assert "<strong>If 5% of cells crash, " in text
    assert "a crash costs 10 minutes, a look 30 seconds" in text


def test_a_registered_plan_stands_beside_what_no_plan_names(
    study: Collected, tmp_path: Path
) -> None:
    assert not list(plan_blocks(study))
    folder = DataFolder(tmp_path)
    register(folder, "first", TEMPLATE, 0, at_the_terminal())
    planned = study._replace(material=Material(study.material.store, folder))
    text = "".join(plan_blocks(planned))
    assert '<h2 id="plan">What was planned, and did it hold?</h2>' in text
    assert "before its first answer" in text
    assert "Exploratory, in no registered plan:" in text
    assert ": Gemini 2.5 Flash, +RT against −RT" in text
    assert ": GPT-5, +RT against −RT" not in text


def test_every_method_stands_beside_the_others(study: Collected) -> None:
    text = "".join(one_model_blocks(study, main_of(study, DetectorKind.LLM)))
    assert ">Does every method give the same answer?</h3>" in text
    assert "Odds ratio, GEE" in text
    # Of 13 tests of the specification curve 5 find a gain for Gemini.
    assert "5 gain, 0 loss of 13" in text
    assert (
        "<strong>One model of all answers puts the gain of a detector at +"
        in text
    )


@pytest.mark.slow
def test_results_of_the_site_have_the_choices_of_each_experiment(
    site: Path,
) -> None:
    text = (site / "results.html").read_text("utf-8")
    assert "Does the conclusion depend on the choices?</h3>" in text
    assert "of these answers), none finds a gain" in text


def test_ablations_of_the_site_begin_with_drops(site: Path) -> None:
    text = (site / "ablations.html").read_text("utf-8")
    assert (
        "<strong>Against runtime state, the one comparison of accuracy is without evidence.</strong>"
        in text
    )
    assert "change of accuracy" in text
