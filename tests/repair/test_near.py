"""Which label was meant: people's typing errors, and labels that only look alike."""

from __future__ import annotations

import pytest

from crane_core.repair.near import meant


@pytest.mark.parametrize(
    ("wrong", "known", "right"),
    [
        ("yield_kg", ["yield_kg ", "crop"], "yield_kg "),
        ("depth_cm", ["Depth (cm)", "pH"], "Depth (cm)"),
        ("temprature", ["temperature", "time"], "temperature"),
        ("corp", ["crop"], "crop"),
        ("test_scores", ["test_score", "train_score"], "test_score"),
        ("price", ["prices"], "prices"),
    ],
)
def test_a_typing_error(wrong: str, known: list[str], right: str) -> None:
    assert meant(wrong, known) == right


@pytest.mark.parametrize(
    ("wrong", "known"),
    [
        ("x_2", ["x_1"]),
        ("df2", ["df1", "df"]),
        ("min_temp", ["max_temp"]),
        ("train_x", ["train_y"]),
        ("X_fit", ["y_fit"]),
        ("val_loss", ["loss"]),
        ("male", ["female"]),
        ("test", ["text"]),
        ("cost", ["coat"]),
        ("increase", ["decrease"]),
        ("Q1 2024", ["Q1 2023"]),
        ("NORTH", ["north", "North"]),
        ("+", ["-"]),
        ("total", []),
    ],
)
def test_what_only_looks_alike(wrong: str, known: list[str]) -> None:
    assert meant(wrong, known) is None
