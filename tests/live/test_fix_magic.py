"""`%%crane fix` in a real shell of IPython: the fix is shown, becomes the next cell, and the kernel stays as it was."""

from __future__ import annotations

import pytest

from crane_core.live.fixes import LiveFixes, fixes_of, fixes_told
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.repair.fix import EarlierCell, Fix, Proposals
from crane_core.repair.search import RepairOutcome, TriedFix
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd
from tests.live.shell import Shell

THROUGH = Rehearsal(RehearsalEnd.RAN_THROUGH, 2.0)


@pytest.fixture
def shell(lasting: Shell, capsys: pytest.CaptureFixture[str]) -> Shell:
    lasting.begin(capsys)
    lasting.run("ages = {'north': 3}\nparts = ['1', '2']")
    return lasting


@pytest.mark.slow
def test_a_fix_is_shown_and_becomes_the_next_cell(shell: Shell) -> None:
    said = shell.run("%%crane fix\nn = ages['North']")
    assert "Fix: Write 'north' for 'North'.\n" in said
    assert "ran through; n is an int; the cells after it were not tried" in said
    assert "-n = ages['North']\n+n = ages['north']" in said
    assert shell.shell.rl_next_input == "n = ages['north']"
    assert "n" not in shell.names


@pytest.mark.slow
def test_a_cell_that_runs_through_needs_no_fix(shell: Shell) -> None:
    said = shell.run("%%crane fix\nn = ages['north']")
    assert "where the target crashed in a copy; it ran through" in said
    assert "n" not in shell.names


@pytest.mark.slow
def test_a_model_is_sent_the_cell_on_request_alone(shell: Shell) -> None:
    cell = "total = sum(parts)"
    reply = "They are texts.\n```python\ntotal = sum(map(int, parts))\n```"
    with fake_server(FakePlan(replies=(reply,))) as address:
        words = f"--model fake --base-url {address}"
        assert "No fix was found" in shell.run(f"%%crane fix {words}\n{cell}")
        said = shell.run(f"%%crane fix --send {words}\n{cell}")
    assert "Fix: They are texts." in said
    assert shell.shell.rl_next_input == "total = sum(map(int, parts))"


@pytest.mark.parametrize("words", ["fix 0", "fix --candidates 99", "fix now"])
def test_other_words_are_answered_with_the_usage(
    shell: Shell, words: str
) -> None:
    said = shell.run(f"%%crane {words}\nn = 1")
    assert "UsageError" in said and "%%crane fix" in said


def test_proposals_survive_the_way_through_json() -> None:
    first = EarlierCell("In [2]", "a = 1")
    fix = Fix("b = a", "Run In [2] first.", (first,), "fake", ("b",))
    found = Proposals((fix,), ("it drops rows",))
    assert fixes_of(fixes_told(found)) == found


def test_what_a_notebook_says_is_escaped_and_bounded() -> None:
    hostile = "x = '<script>\x1b[31m'\n" * 200
    fix = Fix(f"import os\n{hostile}", "Add <b>it</b>.\x1b[0m")
    found = RepairOutcome((TriedFix(fix, THROUGH),), refused=("<i>",))
    shown = LiveFixes("x = 1", found)
    for text in (repr(shown), shown._repr_html_()):
        assert "\x1b" not in text and "more lines" in text
    assert "<script>" not in shown._repr_html_()
    assert "<i>" not in shown._repr_html_() and "<b>" not in shown._repr_html_()
