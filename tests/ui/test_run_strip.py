"""What detectors said as HTML: a square per run, the vote against the truth, reasons counted once and cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from crane_core.domain import Label, Setting, Version
from crane_core.ui.run_strip import MAX_REASON, Answers, Strip, strips_html

TextOf = Callable[[str], str]


def answer(index: int, said: object = None, **more: Any) -> dict[str, Any]:
    plain = {"run_index": index, "crashes": said, "unanswered": None, "reasoning": None, "diagnostics": None}
    return plain | more


def strip(crashing: Answers | None, fixed: Answers | None = None, title: str = "GPT 5", setting: str = "code") -> str:
    sides = {Version.REPRODUCED: crashing, Version.FIXED: fixed}
    return strips_html([Strip(title, setting, {version: side for version, side in sides.items() if side})])


def test_runs_of_one_model_are_told_apart_by_their_experiment(text_of: TextOf) -> None:
    strips = [Strip("GPT 5", "code", {}, experiment=name) for name in ("gpt-5-code-1", "<gpt-5-code-2>")]
    shown = text_of(strips_html(strips))
    assert shown.index("gpt-5-code-1") < shown.index("<gpt-5-code-2>")


def test_a_square_per_run(text_of: TextOf) -> None:
    runs = [answer(1, True), answer(2, False), answer(3, None, unanswered="not JSON")]
    html = strip(Answers(runs, "tie", None))
    text_of(html)
    assert [html.count(f"cw-run-{kind}") for kind in ("crash", "safe", "none")] == [1, 1, 1]
    assert 'title="run 3: not JSON"' in html


@pytest.mark.parametrize(
    ("vote", "on_crashing", "on_fixed"),
    [("crash", "crash ✓", "crash ✗"), ("safe", "no crash ✗", "no crash ✓"), ("tie", "tie", "tie")],
)
def test_the_vote_stands_against_the_truth(text_of: TextOf, vote: str, on_crashing: str, on_fixed: str) -> None:
    assert on_crashing in text_of(strip(Answers([], vote, None)))
    fixed = text_of(strip(None, Answers([], vote, None)))
    assert on_fixed in fixed
    assert "not asked" in fixed


@pytest.mark.parametrize("label", Label)
def test_what_people_said_stands_at_the_crashing_notebook(text_of: TextOf, label: Label) -> None:
    shown = text_of(strip(Answers([], "crash", str(label)), Answers([], "safe", str(label))))
    assert sum(word in shown for word in ("correct", "partial", "wrong", "not detected", "unverifiable")) == 1


def test_same_reasons_stand_once_with_their_count(text_of: TextOf) -> None:
    runs = [answer(i, True, reasoning="The index is out of range.") for i in (1, 2)] + [
        answer(3, True, reasoning="No.")
    ]
    shown = text_of(strip(Answers(runs, "crash", None)))
    assert shown.count("The index is out of range.") == 1
    assert "(2 runs)" in shown
    assert "2 texts" in shown


def test_diagnostics_of_an_analyzer_are_sentences(text_of: TextOf) -> None:
    found = json.dumps([{"symbol": "no-member", "message": "no <b> here", "code_line": "x.y"}, "plain", 7])
    shown = text_of(strip(Answers([answer(1, True, diagnostics=found)], "crash", None)))
    assert "no <b> here [no-member] at x.y" in shown
    assert "plain" in shown


@pytest.mark.parametrize("place", ["reasoning", "unanswered", "title", "diagnostics"])
def test_hostile_texts_are_text_and_bounded(text_of: TextOf, hostile: str, place: str) -> None:
    value = json.dumps([{"message": hostile, "symbol": hostile}]) if place == "diagnostics" else hostile
    title = hostile[:200] if place == "title" else "GPT 5"
    runs = [answer(1, None if place == "unanswered" else True, **({} if place == "title" else {place: value}))]
    html = strip(Answers(runs, "crash", None), title=title)
    text_of(html)
    assert "<script" not in html
    assert len(html) < 20 * MAX_REASON


@pytest.mark.parametrize("setting", Setting)
def test_every_setting_has_words(text_of: TextOf, setting: Setting) -> None:
    assert "RT" in text_of(strip(None, setting=str(setting)))
