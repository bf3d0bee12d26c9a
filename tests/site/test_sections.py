"""Sections of the site on the published study: the finding that the app tells, and its chart inside the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from crane_core.site.blocks import finding
from crane_core.site.costs import cost_blocks
from crane_core.site.drops import drops_blocks
from crane_core.site.material import Collected, source_of

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
    assert "<strong>Against runtime state, accuracy changes beyond chance by −8.1 pp for Qwen" in text
    assert "Of what is only printed, the largest change is" in text
    assert "Holm-adjusted over every row" in text


def test_tokens_of_the_study_against_accuracy(study: Collected) -> None:
    text = told(cost_blocks(study, source_of(study, "junobench", STUDY)))
    assert "<strong>For its tokens nothing has a higher accuracy than" in text
    assert "1,459 tokens" in text


def test_ablations_of_the_site_begin_with_drops(site: Path) -> None:
    text = (site / "ablations.html").read_text("utf-8")
    assert "<strong>No input changes accuracy beyond chance against runtime state" in text
    assert "change of accuracy" in text
