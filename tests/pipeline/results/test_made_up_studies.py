"""Studies whose answer is known because they are made up: what the sentences say of them, from answers to words.

All harmful, all without effect, one case, nothing in common, ties, three and seven runs, harm beside gain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import pytest

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import (
    WITH_STATE,
    Credit,
    VoteRule,
    change_table,
    gain_table,
)
from crane_core.pipeline.results.setting_drops import drop_table
from crane_core.pipeline.results.specification_curve import specification_curve
from crane_core.ui.breakdown_words import finding as breakdown_finding
from crane_core.ui.drops_words import finding as drops_finding
from crane_core.ui.drops_words import printed_drops
from crane_core.ui.gains_words import headline
from crane_core.ui.specification_words import finding as readings_finding
from crane_core.ui.specification_words import line

Right = Callable[[int, Setting], bool]
"""Whether a detector is right about a case, its crashing notebook and its fixed one, with an input."""
CODE, RUNTIME = Setting.CODE, Setting.RUNTIME
MODELS = ("Heron", "Egret", "Stork")


def always(case: int, setting: Setting) -> bool:
    return True


def helped(case: int, setting: Setting) -> bool:
    return case % 2 == 0 or setting == RUNTIME


def harmed(case: int, setting: Setting) -> bool:
    return case % 2 == 0 or setting == CODE


def mixed(case: int, setting: Setting) -> bool:
    """Right with either input about other cases, as often with both: nothing to find."""
    return case % 2 == (setting == CODE)


def study(
    models: dict[str, Right], n_cases: int = 40, n_runs: int = 1
) -> pd.DataFrame:
    """The verdict frame of such answers; what is wrong about a crash is wrong about its fixed notebook."""
    rows = [
        {
            "benchmark": "made up", "experiment": "made up", "detector_kind": "llm", "stage": f"stage {case % 2}",
            "case_id": f"c{case}", "instance_id": f"c{case}_{version}", "truth": version == "reproduced",
            "detector": title.lower(), "detector_title": title, "setting": str(setting), "human": None,
            "label_stratum": None, "n_crash": n_runs * (is_right(case, setting) == (version == "reproduced")),
        }
        for title, is_right in models.items()
        for case in range(n_cases)
        for version in ("reproduced", "fixed")
        for setting in (CODE, RUNTIME)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(
        n_safe=lambda frame: n_runs - frame["n_crash"]
    )


def said(frame: pd.DataFrame, rule: VoteRule = VoteRule.MAJORITY) -> str:
    return headline(
        gain_table(frame, rule=rule, credit=Credit.DETECTION), DetectorKind.LLM
    )


NO_EVIDENCE = "Runtime state: no evidence of a change of accuracy for"


@pytest.mark.parametrize(
    ("models", "n_cases", "expected"),
    [
        (
            [helped] * 3,
            40,
            "Runtime state adds 50.0 points of accuracy for all three models",
        ),
        (
            [harmed] * 3,
            40,
            "Runtime state lowers accuracy by 50.0 points for all three models",
        ),
        (
            [harmed],
            40,
            "Runtime state lowers accuracy by 50.0 points for one model",
        ),
        ([always] * 3, 40, f"{NO_EVIDENCE} any of 3 models (0.0 points)"),
        ([mixed] * 2, 40, f"{NO_EVIDENCE} either model (0.0 points)"),
        (
            [helped, harmed, always],
            40,
            "Runtime state changes accuracy by −50 to 50 points: 1 of 3 models gains, 1 loses, 1 without evidence",
        ),
        ([helped], 1, f"{NO_EVIDENCE} one model (0.0 points)"),
        (
            [lambda case, setting: setting == RUNTIME],
            1,
            f"{NO_EVIDENCE} one model (100.0 points)",
        ),
        (
            [lambda case, setting: setting == CODE],
            1,
            f"{NO_EVIDENCE} one model (−100.0 points)",
        ),
        ([harmed], 6, f"{NO_EVIDENCE} one model (−50.0 points)"),
    ],
)
def test_titles(models: Sequence[Right], n_cases: int, expected: str) -> None:
    assert (
        said(study(dict(zip(MODELS, models, strict=False)), n_cases))
        == expected
    )


@pytest.mark.parametrize("n_runs", [1, 3, 5, 7])
@pytest.mark.parametrize("rule", VoteRule)
def test_titles_are_the_same_for_any_number_of_runs_that_agree(
    n_runs: int, rule: VoteRule
) -> None:
    """Nothing in a sentence or a rule's name says how many runs there are."""
    frame = study({"Heron": harmed}, n_runs=n_runs)
    assert (
        said(frame, rule)
        == "Runtime state lowers accuracy by 50.0 points for one model"
    )
    assert not any(number in rule for number in ("three", "five", "seven"))


def test_nothing_in_common_is_nothing_to_compare() -> None:
    frame = study({"Heron": helped})
    is_apart = (frame["setting"] == CODE) == (
        frame["case_id"].str[1:].astype(int) < 20
    )
    apart = frame[is_apart]
    table = gain_table(apart, rule=VoteRule.MAJORITY, credit=Credit.DETECTION)
    assert (
        headline(table, DetectorKind.LLM)
        == "Runtime state: nothing to compare with code alone"
    )
    dropped = drop_table(apart, reference=RUNTIME, rate="Accuracy")
    told = drops_finding(
        dropped, printed_drops([], "Accuracy", dropped), "accuracy", RUNTIME
    )
    assert told == "**Against runtime state, there is nothing to compare.**"


def test_tied_votes_are_counted_and_support_nothing() -> None:
    tied = study({"Heron": helped}, n_runs=2).assign(n_crash=1, n_safe=1)
    assert said(tied) == f"{NO_EVIDENCE} one model (0.0 points)"


@pytest.mark.parametrize("rate", ["Accuracy", "F1"])
def test_harm_of_an_input_is_a_loss_for_every_rate(rate: str) -> None:
    """Code only is the harmful input here; F1 is tested as accuracy is."""
    frame = study(dict.fromkeys(MODELS, helped))
    table = drop_table(frame, reference=RUNTIME, rate=rate)
    told = drops_finding(table, printed_drops([], rate, table), rate, RUNTIME)
    assert told.startswith(
        f"**Against runtime state, of 3 comparisons of {rate}, none is a gain and 3 are losses. Losses:"
    )
    assert table["p_holm"].max() < 0.001


@pytest.mark.parametrize(
    ("detector", "expected"), [(helped, (1, 0)), (harmed, (0, 1))]
)
def test_the_breakdown_counts_both_directions(
    detector: Right, expected: tuple[int, int]
) -> None:
    """Only odd cases change, which are one stage of the two."""
    changes = change_table(
        study({"Heron": detector}),
        by="stage",
        rate="F1",
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    told = breakdown_finding(changes, "stage", "F1", WITH_STATE)
    up, down = expected
    assert (
        f"+RT raises F1 in {up}, lowers it in {down} and leaves it unchanged in 1 of 2 combinations"
        in told
    )
    title, words = (
        ("Gains", "1 is a gain, none is a loss")
        if up
        else ("Losses", "none is a gain, 1 is a loss")
    )
    assert words in told
    assert f"{title}: stage 1 with Heron (" in told


def test_robustness_tells_losses() -> None:
    curve = specification_curve(
        {"nobody": study({"Heron": harmed, "Egret": always}, n_runs=3)}
    )
    told = readings_finding(curve)
    assert told.startswith(
        "**Of 10 tests (one or two of each detector in 3 readings of these answers), none finds a gain, 5 find a loss "
    )
    assert line(curve[curve["detector_title"] == "Heron"]).startswith(
        "Heron: of 5 tests, none finds a gain and 5 find a loss;"
    )
