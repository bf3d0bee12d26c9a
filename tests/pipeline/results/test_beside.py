"""Own runs stand beside a study's without being mixed with them."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.results.beside import asked_as, beside


def frame(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "experiment": e,
                "detector": d,
                "detector_title": d.upper(),
                "setting": s,
                "n_crash": 1,
            }
            for e, d, s in rows
        ]
    )


def names(shown: pd.DataFrame) -> list[str]:
    return shown["detector"].tolist()


def test_without_others_nothing_changes() -> None:
    rows = frame(("study", "gpt", "code"), ("mine", "gpt", "code"))
    assert beside(rows, "study", []).equals(rows.iloc[:1])


def test_the_same_detector_is_told_apart_and_its_two_settings_stay_one() -> (
    None
):
    rows = frame(
        ("study", "gpt", "code"),
        ("a", "gpt", "code"),
        ("b", "gpt", "runtime"),
        ("c", "other", "code"),
    )
    shown = beside(rows, "study", ["a", "b"])
    assert names(shown) == ["gpt", "gpt (own)", "gpt (own)"]
    assert shown["detector_title"].tolist() == ["GPT", "GPT (own)", "GPT (own)"]


def test_repeats_are_told_apart_by_their_names() -> None:
    rows = frame(
        ("study", "gpt", "code"),
        ("a", "gpt", "code"),
        ("a-2", "gpt", "code"),
        ("b", "x", "code"),
    )
    assert names(beside(rows, "study", ["a", "a-2", "b"])) == [
        "gpt",
        "gpt (a)",
        "gpt (a-2)",
        "x (own)",
    ]


def test_an_experiment_is_not_beside_itself() -> None:
    rows = frame(("study", "gpt", "code"))
    assert names(beside(rows, "study", ["study"])) == ["gpt"]


def test_a_renamed_detector_is_found_again() -> None:
    rows = frame(("study", "gpt", "code"), ("a", "gpt", "code"))
    assert [asked_as(name) for name in names(beside(rows, "study", ["a"]))] == [
        "gpt",
        "gpt",
    ]
