"""Shape arithmetic beside NumPy: the same shapes, the same refusals, and no refusal where a length is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.shapes import About, Mask, Numbers, Shape, ShapeMismatchError, Some

LENGTHS = st.one_of(st.integers(1, 3), st.integers(0, 6))
SHAPES = st.lists(LENGTHS, max_size=4).map(tuple)
SMALL = st.integers(-4, 4)
RAISED = (ValueError, IndexError, TypeError)


def holes(draw: Any, shape: tuple[int, ...]) -> Shape:
    """The shape with some of its lengths not known."""
    return tuple(None if draw(st.integers(0, 3)) == 0 else length for length in shape)


def agrees(known: Any, real: Any) -> bool:
    """Every length that is told is the real one."""
    if known is None:
        return True
    if isinstance(known, list):
        return len(known) == len(real) and all(map(agrees, known, real))
    return len(known) == len(real) and all(one is None or one == other for one, other in zip(known, real, strict=True))


def beside(real: Callable[[], Any], exact: Callable[[], Any], vague: Callable[[], Any]) -> None:
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
    beside(lambda: np.broadcast_shapes(*many), lambda: shapes.broadcast(*many), lambda: shapes.broadcast(*vague))


@given(st.data(), SHAPES, SHAPES)
def test_an_assignment_fills_a_part(data: Any, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    vague = holes(data.draw, shape), holes(data.draw, target)

    def real() -> tuple[int, ...]:
        np.zeros(target)[...] = np.zeros(shape)
        return target

    beside(real, lambda: shapes.broadcast_to(shape, target), lambda: shapes.broadcast_to(*vague))


@given(st.data(), SHAPES, SHAPES)
@pytest.mark.parametrize("name", ["matmul", "dot"])
def test_products(name: str, data: Any, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    ours: Any = getattr(shapes, name)
    vague = holes(data.draw, left), holes(data.draw, right)
    beside(lambda: np.shape(getattr(np, name)(*zeros(left, right))), lambda: ours(left, right), lambda: ours(*vague))


@given(st.data(), SHAPES, st.lists(st.integers(-1, 6), max_size=4))
def test_reshape(data: Any, shape: tuple[int, ...], wanted: list[int]) -> None:
    vague = holes(data.draw, shape), holes(data.draw, tuple(wanted))
    beside(
        lambda: np.zeros(shape).reshape(wanted).shape,
        lambda: shapes.reshape(shape, wanted),
        lambda: shapes.reshape(*vague),
    )


@given(st.data(), SHAPES)
def test_a_shape_that_fits_is_never_refused(data: Any, shape: tuple[int, ...]) -> None:
    wanted = data.draw(st.permutations(shape))
    vague = holes(data.draw, shape), holes(data.draw, tuple(wanted))
    assert agrees(shapes.reshape(*vague), tuple(wanted))


ON_ONE: list[tuple[str, Any]] = [
    ("transpose", st.one_of(st.none(), st.lists(SMALL, max_size=4))),
    ("expand_dims", SMALL),
]


@given(st.data(), SHAPES)
@pytest.mark.parametrize(("name", "argument"), ON_ONE)
def test_axes_are_moved(name: str, argument: Any, data: Any, shape: tuple[int, ...]) -> None:
    given_axis = data.draw(argument)
    ours: Any = getattr(shapes, name)
    vague = holes(data.draw, shape)
    beside(
        lambda: getattr(np, name)(np.zeros(shape), given_axis).shape,
        lambda: ours(shape, given_axis),
        lambda: ours(vague, given_axis),
    )


@given(st.data(), SHAPES, SMALL, SMALL)
def test_two_axes(data: Any, shape: tuple[int, ...], one: int, other: int) -> None:
    vague = holes(data.draw, shape)
    beside(
        lambda: np.swapaxes(np.zeros(shape), one, other).shape,
        lambda: shapes.swapaxes(shape, one, other),
        lambda: shapes.swapaxes(vague, one, other),
    )


@given(st.data(), SHAPES, st.one_of(st.none(), st.lists(SMALL, max_size=2, unique=True)))
def test_squeeze(data: Any, shape: tuple[int, ...], axes: list[int] | None) -> None:
    vague = holes(data.draw, shape)
    if axes and len({axis % len(shape) for axis in axes if shape}) < len(axes):
        return
    beside(
        lambda: np.squeeze(np.zeros(shape), None if axes is None else tuple(axes)).shape,
        lambda: shapes.squeeze(shape, axes),
        lambda: shapes.squeeze(vague, axes),
    )


@given(st.data(), SHAPES, st.one_of(st.none(), SMALL, st.lists(SMALL, max_size=3)), st.booleans())
def test_reductions(data: Any, shape: tuple[int, ...], axis: Any, is_kept: bool) -> None:  # noqa: FBT001
    vague = holes(data.draw, shape)
    beside(
        lambda: np.sum(np.zeros(shape), axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=is_kept).shape,
        lambda: shapes.reduce(shape, axis, keepdims=is_kept),
        lambda: shapes.reduce(vague, axis, keepdims=is_kept),
    )


def alike(draw: Any) -> list[tuple[int, ...]]:
    """Shapes that go together more often than any would: one, and others with a length changed."""
    first = draw(SHAPES)
    many = [first]
    for _ in range(draw(st.integers(0, 2))):
        lengths = list(first)
        if lengths and draw(st.booleans()):
            lengths[draw(st.integers(0, len(lengths) - 1))] = draw(LENGTHS)
        if draw(st.integers(0, 5)) == 0:
            lengths = lengths[1:]
        many.append(tuple(lengths))
    return many


@given(st.data(), st.one_of(st.none(), SMALL))
def test_concatenate(data: Any, axis: int | None) -> None:
    many = alike(data.draw)
    vague = [holes(data.draw, shape) for shape in many]
    beside(
        lambda: np.concatenate(zeros(*many), axis=axis).shape,
        lambda: shapes.concatenate(many, axis),
        lambda: shapes.concatenate(vague, axis),
    )


@given(st.data(), SMALL)
def test_stack(data: Any, axis: int) -> None:
    many = alike(data.draw)
    vague = [holes(data.draw, shape) for shape in many]
    beside(
        lambda: np.stack(zeros(*many), axis=axis).shape,
        lambda: shapes.stack(many, axis),
        lambda: shapes.stack(vague, axis),
    )


def drawn_part(draw: Any, shape: tuple[int, ...], at: int) -> tuple[Any, Any, Any]:
    """An index as NumPy takes it, as it is told exactly, and as it is told with holes."""
    kind = draw(st.sampled_from(["int", "int", "slice", "new", "dots", "numbers", "mask"]))
    if kind == "int":
        number = draw(st.integers(-3, 3))
        return number, number, draw(st.sampled_from([number, Some.INTEGER]))
    if kind == "slice":
        cut = slice(
            *(draw(st.one_of(st.none(), st.integers(-4, 4))) for _ in range(2)), draw(st.sampled_from([None, 1, 2, -1]))
        )
        return cut, cut, draw(st.sampled_from([cut, Some.SLICE]))
    if kind == "numbers":
        numbers = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=3))
        known = Numbers((len(numbers),), min(numbers), max(numbers))
        return np.array(numbers), known, draw(st.sampled_from([known, Numbers((None,))]))
    if kind == "mask":
        fitting = shape[at : at + draw(st.integers(1, 2))] if draw(st.booleans()) else (draw(st.integers(1, 4)),)
        fitting = fitting or (2,)
        n_truths = int(np.prod(fitting))
        mask = np.array(draw(st.lists(st.booleans(), min_size=n_truths, max_size=n_truths))).reshape(fitting)
        return mask, Mask(mask.shape, int(mask.sum())), Mask(holes(draw, mask.shape))
    return (None, None, None) if kind == "new" else (..., ..., ...)


@settings(max_examples=400)
@given(st.data(), st.lists(st.integers(1, 4), max_size=4).map(tuple), st.integers(1, 3))
def test_indices(data: Any, shape: tuple[int, ...], n_parts: int) -> None:
    parts = [drawn_part(data.draw, shape, at) for at in range(n_parts)]
    real, exact, vague = (tuple(part[which] for part in parts) for which in range(3))
    dim = holes(data.draw, shape)
    beside(lambda: np.zeros(shape)[real].shape, lambda: shapes.index(shape, *exact), lambda: shapes.index(dim, *vague))


@pytest.mark.parametrize(
    ("refused", "about"),
    [
        (lambda: shapes.index((3, 4), 3), About.INDEX),
        (lambda: shapes.index((3,), 0, 0), About.INDEX),
        (lambda: shapes.reduce((3,), 1), About.AXIS),
        (lambda: shapes.matmul((2, 3), (2, 3)), About.LENGTHS),
    ],
)
def test_what_does_not_fit_is_told(refused: Callable[[], Any], about: About) -> None:
    with pytest.raises(ShapeMismatchError) as known:
        refused()
    assert known.value.about is about


@pytest.mark.parametrize(
    "accepted",
    [
        lambda: shapes.broadcast((None, 3), (5, 3)),
        lambda: shapes.matmul((None, 4), (4, None)),
        lambda: shapes.reshape((None, 3), (-1, 7)),
        lambda: shapes.concatenate([(None, 2), (4, None)], 0),
        lambda: shapes.index((None,), 1_000_000),
        lambda: shapes.stack([(None,), (7,)]),
    ],
)
def test_an_unknown_length_may_be_the_right_one(accepted: Callable[[], Any]) -> None:
    assert isinstance(accepted(), tuple)
