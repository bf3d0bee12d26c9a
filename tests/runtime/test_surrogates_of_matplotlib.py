"""matplotlib is asked on new figures, which are closed: what it says of data, colours and keywords."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib import pyplot

from tests.runtime.surrogate_orders import array, asked

AXES = {"facts": {"type": "matplotlib.axes._axes.Axes"}}


def test_data_of_two_lengths_are_refused_by_axes_and_by_pyplot() -> None:
    for told in (
        asked("method", "matplotlib.Axes", "plot", AXES, array(3), array(4)),
        asked("call", "matplotlib", "pyplot.plot", array(3), array(4)),
    ):
        assert told["raised"] == "ValueError"


@pytest.mark.parametrize(
    ("keywords", "raised"),
    [
        ({"color": "skyblu"}, "ValueError"),
        ({"colour": "red"}, "AttributeError"),
        ({"color": "C1"}, None),
    ],
)
def test_colours_and_keywords_are_matplotlib_s_own(
    keywords: dict[str, str], raised: str | None
) -> None:
    told = asked(
        "call",
        "matplotlib",
        "pyplot.plot",
        array(3),
        **{name: {"is": text} for name, text in keywords.items()},
    )
    assert told.get("raised") == raised


@pytest.mark.parametrize(
    ("name", "operands", "keywords"),
    [
        (
            "pyplot.imshow",
            [array(3, 3)],
            {"cmap": {"is": "a map of another package"}},
        ),
        ("pyplot.xticks", [{"list": [{"is": "a"}, {"is": "b"}]}], {}),
        ("pyplot.bar", [array(100_000), array(100_000)], {}),
        ("pyplot.savefig", [{"is": "figure.png"}], {}),
        ("pyplot.colorbar", [], {}),
    ],
)
def test_nothing_is_said_of_what_others_may_have_added(
    name: str, operands: list[Any], keywords: dict[str, Any]
) -> None:
    assert "raised" not in asked(
        "call", "matplotlib", name, *operands, **keywords
    )


def test_no_figure_is_left() -> None:
    before = pyplot.get_fignums()
    asked("call", "matplotlib", "pyplot.subplots", {"is": 2}, {"is": 2})
    asked("call", "matplotlib", "pyplot.figure")
    assert pyplot.get_fignums() == before
