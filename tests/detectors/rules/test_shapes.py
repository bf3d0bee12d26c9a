"""Shape arithmetic beside NumPy: the same shapes, the same refusals, and no refusal where a length is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.shapes import Shape, ShapeMismatchError, Some
from tests.examples import examples

LENGTHS = st.one_of(st.integers(1, 3), st.integers(0, 6))
SHAPES = st.lists(LENGTHS, max_size=4).map(tuple)
SMALL = st.integers(-4, 4)
RAISED = (ValueError, IndexError, TypeError)


def holes(draw: Any, shape: tuple[int, ...]) -> Shape:
    """The shape with some of its lengths not known."""
    return tuple(
        None if draw(st.integers(0, 3)) == 0 else length for length in shape
    )


def agrees(known: Any, real: Any) -> bool:
    """Every length that is told is the real one."""
    if known is None:
        return True
    if isinstance(known, list):
        return len(known) == len(real) and all(map(agrees, known, real))
    return len(known) == len(real) and all(
        one is None or one == other
        for one, other in zip(known, real, strict=True)
    )


def beside(
    real: Callable[[], Any], exact: Callable[[], Any], vague: Callable[[], Any]
) -> None:
    """Where NumPy gives a shape so do we, and agree; where it refuses we refuse, if all lengths are known."""
    try:
        found = real()
    except RAISED:
        with pytest.raises(ShapeMismatchError):
            exact()
        return
    known = exact()
    assert agrees(known, found)
    assert known is None or None not in known
    assert agrees(vague(), found)


def zeros(*many: tuple[int, ...]) -> list[Any]:
    return [np.zeros(shape) for shape in many]


@given(st.data(), st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcast(data: Any, many: list[tuple[int, ...]]) -> None:
    vague = [holes(data.draw, shape) for shape in many]
    beside(
        lambda: np.broadcast_shapes(*many),
        lambda: shapes.broadcast(*many),
        lambda: shapes.broadcast(*vague),
    )


@given(st.data(), SHAPES, SHAPES)
def test_an_assignment_fills_a_part(
    data: Any, shape: tuple[int, ...], target: tuple[int, ...]
) -> None:
    vague = holes(data.draw, shape), holes(data.draw, target)

    def real() -> tuple[int, ...]:
        np.zeros(target)[...] = np.zeros(shape)
        return target

    beside(
        real,
        lambda: shapes.broadcast_to(shape, target),
        lambda: shapes.broadcast_to(*vague),
    )


@given(st.data(), SHAPES, SHAPES)
def test_products(
    data: Any, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    vague = holes(data.draw, left), holes(data.draw, right)
    beside(
        lambda: np.shape(np.matmul(*zeros(left, right))),
        lambda: shapes.matmul(left, right),
        lambda: shapes.matmul(*vague),
    )


@given(st.data(), SHAPES, st.lists(st.integers(-1, 6), max_size=4))
def test_reshape(data: Any, shape: tuple[int, ...], wanted: list[int]) -> None:
    vague = holes(data.draw, shape), holes(data.draw, tuple(wanted))
    beside(
        lambda: np.zeros(shape).reshape(wanted).shape,
        lambda: shapes.reshape(shape, wanted),
        lambda: shapes.reshape(*vague),
    )


@given(st.data(), SHAPES)
def test_a_shape_that_fits_is_never_refused(
    data: Any, shape: tuple[int, ...]
) -> None:
    wanted = data.draw(st.permutations(shape))
    vague = holes(data.draw, shape), holes(data.draw, tuple(wanted))
    assert agrees(shapes.reshape(*vague), tuple(wanted))


def drawn_part(draw: Any) -> tuple[Any, Any, Any]:
    """An index as NumPy takes it, as it is told exactly, and as it is told with holes."""
    kind = draw(st.sampled_from(["int", "int", "slice", "new", "dots"]))
    if kind == "int":
        number = draw(st.integers(-3, 3))
        return number, number, draw(st.sampled_from([number, Some.INTEGER]))
    if kind == "slice":
        cut = slice(
            *(draw(st.one_of(st.none(), st.integers(-4, 4))) for _ in range(2)),
            draw(st.sampled_from([None, 1, 2, -1])),
        )
        return cut, cut, draw(st.sampled_from([cut, Some.SLICE]))
    return (None, None, None) if kind == "new" else (..., ..., ...)


@examples(400)
@given(
    st.data(),
    st.lists(st.integers(1, 4), max_size=4).map(tuple),
    st.integers(1, 3),
)
def test_indices(data: Any, shape: tuple[int, ...], n_parts: int) -> None:
    parts = [drawn_part(data.draw) for _ in range(n_parts)]
    real, exact, vague = (
        tuple(part[which] for part in parts) for which in range(3)
    )
    dim = holes(data.draw, shape)
    beside(
        lambda: np.zeros(shape)[real].shape,
        lambda: shapes.index(shape, exact),
        lambda: shapes.index(dim, vague),
    )


@pytest.mark.parametrize(
    "accepted",
    [
        lambda: shapes.broadcast((None, 3), (5, 3)),
        lambda: shapes.matmul((None, 4), (4, None)),
        lambda: shapes.reshape((None, 3), (-1, 7)),
        lambda: shapes.index((None,), [1_000_000]),
    ],
)
def test_an_unknown_length_may_be_the_right_one(
    accepted: Callable[[], Any],
) -> None:
    assert isinstance(accepted(), tuple)
