"""Try a notebook: cells, cards and words, from texts of notebooks and models that are nobody's friends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from crane_core.detectors.registry import Prediction
from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.errors import CellRaisedError, CellStoppedError, DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.llm.question import Answer
from crane_core.pipeline.own_notebooks.ask_one import QuestionOutcome
from crane_core.pipeline.own_notebooks.check import (
    CheckedNotebook,
    findings,
    read_notebook,
    to_send,
)
from crane_core.prompts.reply import ReadReply
from crane_core.repair.fix import Fix
from crane_core.repair.search import RepairOutcome, TriedFix
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd
from crane_core.ui.trial.asking import ask, price_words
from crane_core.ui.trial.cells_html import (
    MAX_EARLIER,
    NEAR_CELLS,
    cell_words,
    cells_html,
)
from crane_core.ui.trial.desk import fix_html, fixed_notebook
from crane_core.ui.trial.running import (
    cells_before,
    cost_words,
    failed_words,
    installs_words,
    run_words,
)
from crane_core.ui.trial.verdict_view import (
    crash_line,
    model_html,
    rehearsal_html,
    rules_html,
)
from tests.patience import PATIENCE_S, once

TextOf = Callable[[str], str]


def cells(*codes: str) -> list[Cell]:
    last = len(codes) - 1
    roles = [
        CellRole.TARGET if place == last else CellRole.EXECUTED
        for place in range(len(codes))
    ]
    return [
        Cell("", "trip", "", place, role, code, place + 1, place)
        for place, (code, role) in enumerate(zip(codes, roles, strict=True))
    ]


def prediction(*findings: dict[str, object]) -> Prediction:
    return Prediction(bool(findings), None, json.dumps(findings))


def finding(text: str = "it") -> dict[str, object]:
    return {
        "code_line": f"2: {text}",
        "message": text,
        "exception": "KeyError",
        "fact": text,
        "remedy": text,
        "expression": text,
    }


@pytest.fixture
def checked(tmp_path: Path) -> CheckedNotebook:
    path = tmp_path / "trip.ipynb"
    made = [
        nbformat.v4.new_code_cell(code)
        for code in ("a = 1", "# why\n\nb = a", "c = b")
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return read_notebook(path)


def test_the_crash_line_is_marked_in_the_target_alone(text_of: TextOf) -> None:
    html = cells_html(cells("x = 1\ny = 2", "z = 3\nw = 4"), crash_line=2)
    assert html.count("cw-crash") == 1
    marked = html.split("cw-crash")[1]
    assert (
        "w" in text_of(f'<div class="{marked}'.split("</div>")[0] + "</div>")
        and "▶" in marked
    )
    assert html.index("cw-target") < html.index("cw-crash")


def test_empty_lines_in_a_row_are_left_out_and_counted() -> None:
    html = cells_html(cells("\n\nx = 1\n\ny = 2\n\n\n\nz = 3"), crash_line=9)
    numbers = re.findall(r"<i[^>]*>(\d+)</i>", html)
    assert numbers == ["3", "4", "5", "9"]
    assert 'title="2 empty lines above not shown">3<' in html
    assert 'title="3 empty lines above not shown">9<' in html


def test_cells_far_before_the_target_fold_away_and_are_counted(
    text_of: TextOf,
) -> None:
    codes = [f"x{n} = {n}" for n in range(MAX_EARLIER + NEAR_CELLS + 5)]
    html = cells_html(cells(*codes, "target"))
    words = text_of(html)
    assert (
        f"{MAX_EARLIER + 5:,} earlier cells" in words
        and "5 earlier cells are not shown" in words
    )
    assert "x4 = 4" not in words and "x5 = 5" in words
    assert html.count("<details") == 1 + MAX_EARLIER + NEAR_CELLS
    assert html.count(" open>") == 2


def test_cells_of_others_stay_text(hostile: str, text_of: TextOf) -> None:
    words = text_of(cells_html(cells(hostile, hostile), crash_line=1))
    assert "Target: code cell 1" in words


def test_a_finding_tells_line_reason_fact_and_remedy(text_of: TextOf) -> None:
    said = prediction(finding("write 'kg '"), finding("second"))
    words = text_of(
        rules_html(findings(said), has_state=True)
        .replace("<dl>", "")
        .replace("</dl>", "")
        .replace("<dt>", " ")
        .replace("</dt>", " ")
        .replace("<dd>", "")
        .replace("</dd>", " ")
    )
    assert "Will crash: KeyError" in words and (
        "Write 'kg ' (with a space at the end)." in words
    )
    assert crash_line(said) == 2
    assert words.count("Will crash") == 2


def test_no_finding_is_no_promise() -> None:
    assert "they never say that a cell is safe" in rules_html(
        [], has_state=True
    )
    assert "code only" in rules_html([], has_state=False)
    assert crash_line(prediction()) is None
    assert (
        crash_line(prediction({**finding(), "code_line": "somewhere"})) is None
    )


def test_findings_and_replies_of_others_stay_text(
    hostile: str, text_of: TextOf
) -> None:
    bare = ("<dl>", "</dl>", "<dt>", "</dt>", "<dd>", "</dd>")
    answer = Answer("k", hostile, None, "stop", 0.5, 1, 10, 2)
    asked = QuestionOutcome(
        hostile[:200], answer, ReadReply(True, hostile, None), 0.00001
    )
    for html in (
        rules_html([{**finding(hostile), "origin": hostile}], has_state=True),
        model_html(asked),
    ):
        assert len(html) < 60_000
        for tag in bare:
            html = html.replace(tag, "")
        assert "Will crash" in text_of(html)
    assert "less than 0.0001 USD" in model_html(asked)


def test_a_reply_that_cannot_be_read_says_why() -> None:
    answer = Answer("k", "hm", None, "stop", 0.5, 1, None, None)
    html = model_html(
        QuestionOutcome(
            "m", answer, ReadReply(None, None, "it is not JSON"), None
        )
    )
    assert (
        "No readable answer" in html
        and "it is not JSON" in html
        and "USD" not in html
    )


def test_what_a_crash_would_cost_is_told_only_where_it_is_known(
    checked: CheckedNotebook,
) -> None:
    assert cost_words(checked) == "The 2 cells before it were not run."
    assert cost_words(replace(checked, seconds_before=1.234)).startswith(
        "A crash here would cost 1.2 s of re-execution"
    )
    known = replace(checked, state=KernelState("", "", Setting.RUNTIME, "", {}))
    assert cost_words(known) == "" and cells_before(known) == "cells 0 to 1"
    assert "3.0 min" in cost_words(replace(checked, seconds_before=180.0))
    assert run_words(checked) == "Run the 2 cells before it"
    assert run_words(read_notebook(checked.path, 0)) == "Start a fresh kernel"


def test_lines_that_install_are_left_out_and_counted(
    tmp_path: Path, checked: CheckedNotebook
) -> None:
    made = [
        nbformat.v4.new_code_cell(code)
        for code in ("%pip install numpy\n!pip install pandas", "c = 1")
    ]
    path = tmp_path / "installs.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    assert (
        installs_words(read_notebook(path))
        == "Not run: 2 lines that install packages."
    )
    assert installs_words(checked) == ""


def test_a_cell_is_called_by_its_first_line_of_code(
    checked: CheckedNotebook,
) -> None:
    assert cell_words(checked.plan.cells[1]) == "Code cell 1 · b = a"


def test_remedies_on_the_page_are_the_pages_own() -> None:
    raised = CellRaisedError(
        "Code cell 0 raised FileNotFoundError: x.",
        remedy="Continue with --keep-going.",
        cell=0,
    )
    assert "--" not in failed_words(raised, is_upload=True)
    assert "An upload contains only the notebook" in failed_words(
        raised, is_upload=True
    )
    assert "An upload contains only the notebook" not in failed_words(
        raised, is_upload=False
    )
    stopped = CellStoppedError(
        "Code cell 0 ran longer than 600 s.",
        remedy="Allow more with --timeout-s.",
        cell=0,
    )
    assert "python -m crane_core check" in failed_words(
        stopped, is_upload=False
    )


def test_the_price_is_told_before_anything_is_sent(
    checked: CheckedNotebook,
) -> None:
    tokens = to_send(checked, checked.settings[0]).tokens
    here = price_words(tokens, Endpoint("m*del", "http://127.0.0.1:1/v1"))
    assert (
        f"{tokens.n:,} tokens" in here
        and r"m\*del" in here
        and "price is unknown" in here
    )
    assert "price is unknown" in price_words(
        tokens, Endpoint("unheard-of", "https://models.example/v1")
    )
    assert "No model is set" in price_words(tokens, None)


def test_a_question_is_called_back_while_the_model_thinks(
    checked: CheckedNotebook,
) -> None:
    with fake_server(FakePlan(latency_s=2 * PATIENCE_S)) as address:
        setting = checked.settings[0]
        asking = ask(
            checked,
            setting,
            to_send(checked, setting),
            Endpoint("slow", address),
        )
        assert asking.outcome is None
        asking.stop.set()
        once(lambda: asking.outcome)
    assert isinstance(asking.outcome, DetectorError)
    assert "cancelled" in str(asking.outcome)


def test_a_rehearsal_is_labelled_as_executed_and_escaped() -> None:
    html = rehearsal_html(
        Rehearsal(
            RehearsalEnd.CRASH,
            2.0,
            0.1,
            "KeyError",
            "<b>south</b>",
            2,
            "beds['<i>']",
        )
    )
    assert "<b>" not in html and "<i>" not in html
    assert (
        "Rehearsed in a copy of the kernel" in html
        and "Crashed: KeyError" in html
        and "&lt;b&gt;south" in html
    )
    assert "cw-alarm" in html
    late = rehearsal_html(Rehearsal(RehearsalEnd.STILL_RUNNING, 2.0, 2.0))
    assert "Still running after 2 s" in late and "cw-calm" in late


def test_a_fix_is_a_card_with_a_diff_and_a_notebook_to_download(
    tmp_path: Path,
) -> None:
    cells = [
        nbformat.v4.new_code_cell(code) for code in ("x = 1", "y = '<b>' + x")
    ]
    path = tmp_path / "trip.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    through = Rehearsal(RehearsalEnd.RAN_THROUGH, 2.0, result="y is a <str>")
    fix = Fix("y = '<b>' + str(x)", "Make <i>x</i> a text.")
    found = RepairOutcome((TriedFix(fix, through),), n_failed=2)
    checked = replace(read_notebook(path, 1), repair=found)
    html = fix_html(checked, found.shown[0])
    assert "<b>" not in html and "<i>" not in html and "<str>" not in html
    assert "Ran through; y is a &lt;str&gt;; the cells after" in html
    assert html.count("<del>- ") == html.count("<ins>+ ") == 1
    made = nbformat.reads(fixed_notebook(checked, fix.source).decode(), 4)
    assert [cell.source for cell in made.cells] == ["x = 1", fix.source]
    assert path.read_bytes().replace(b"+ x", b"+ str(x)") == fixed_notebook(
        checked, fix.source
    )
