"""Order and colour: a detector keeps its own on every page, and every colour stands out on both grounds."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import pytest

from crane_core.annotation.label_set import study_labels
from crane_core.charts import theme
from crane_core.charts.theme import (
    DETECTOR_COLOURS,
    DETECTOR_ORDER,
    INK,
    OTHER_COLOURS,
    detector_colours,
    in_order,
)

GRAPHICS = 3.0
"""Least contrast of a graphic with its ground (WCAG 2.2, 1.4.11)."""


def luminance(colour: str) -> float:
    """Relative luminance in 0..1 (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in channels
    ]
    return sum(
        weight * c
        for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def grounds(root: Path) -> list[str]:
    settings = tomllib.loads(
        (root / ".streamlit" / "config.toml").read_text("utf-8")
    )["theme"]
    return [settings[mode]["backgroundColor"] for mode in ("light", "dark")]


def label_colours() -> list[str]:
    """Those of the study's labels in charts."""
    return [
        theme.between(label.colour, label.colour_dark)
        for label in study_labels().labels
    ]


def test_the_colour_between_is_halfway_in_each_channel() -> None:
    assert theme.between("#000010", "#ff0020") == "#7f0018"


def test_every_detector_in_the_order_has_a_colour_of_its_own() -> None:
    assert set(DETECTOR_ORDER) == set(DETECTOR_COLOURS)
    assert len(set(DETECTOR_COLOURS.values())) == len(DETECTOR_COLOURS)


@pytest.mark.parametrize(
    "colour",
    [
        *DETECTOR_COLOURS.values(),
        *theme.CATEGORY_COLOURS.values(),
        *label_colours(),
        INK,
    ],
)
def test_colours_stand_out_on_light_and_on_dark(
    root: Path, colour: str
) -> None:
    for ground in grounds(root):
        assert contrast(colour, ground) >= GRAPHICS, (colour, ground)


def test_a_detector_keeps_its_colour_whoever_is_beside_it() -> None:
    for n in (1, 2, 3):
        for titles in itertools.combinations(DETECTOR_ORDER, n):
            assert detector_colours(list(titles)) == {
                title: DETECTOR_COLOURS[title] for title in titles
            }


def test_strangers_follow_the_known_by_name_and_get_the_spare_colours() -> None:
    titles = ["zeta", "GPT-5", "alpha", "pylint", "Gemini 2.5 Flash"]
    assert in_order(titles) == [
        "Gemini 2.5 Flash",
        "GPT-5",
        "pylint",
        "alpha",
        "zeta",
    ]
    colours = detector_colours(titles)
    assert (colours["alpha"], colours["zeta"]) == OTHER_COLOURS[:2]
    many = detector_colours([f"model {i}" for i in range(12)])
    assert set(many.values()) == set(OTHER_COLOURS)
