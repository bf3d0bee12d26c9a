"""What torch's layers take and give, compared with torch itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crane_core.detectors.rules.families import torch_sizes

torch = pytest.importorskip("torch", reason="torch is not installed: make ml")

SMALL = st.integers(1, 4)
SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=5).map(tuple)


@st.composite
def layers(draw: Any) -> tuple[str, dict[str, Any]]:
    """A layer's class and settings."""
    axes, size = draw(st.integers(1, 3)), st.integers(1, 3)
    slid = {"kernel_size": draw(size), "stride": draw(size), "padding": draw(st.integers(0, 1))}
    return draw(
        st.sampled_from(
            [
                ("Linear", {"in_features": draw(SMALL), "out_features": draw(SMALL)}),
                (f"Conv{axes}d", {"in_channels": draw(SMALL), "out_channels": 2, **slid, "dilation": draw(size)}),
                (f"ConvTranspose{axes}d", {"in_channels": draw(SMALL), "out_channels": 2, **slid}),
                (f"MaxPool{axes}d", {**slid, "padding": 0}),
                (f"AvgPool{axes}d", {"kernel_size": slid["kernel_size"], "stride": slid["stride"]}),
                (f"AdaptiveAvgPool{axes}d", {"output_size": draw(size)}),
                (f"BatchNorm{axes}d", {"num_features": draw(SMALL)}),
                ("LayerNorm", {"normalized_shape": draw(st.lists(SMALL, min_size=1, max_size=2))}),
                ("Flatten", {"start_dim": draw(st.integers(-3, 3)), "end_dim": draw(st.integers(-3, 3))}),
                ("GRU", {"input_size": draw(SMALL), "hidden_size": 3, "bidirectional": draw(st.booleans())}),
                ("Embedding", {"num_embeddings": 9, "embedding_dim": 3}),
                ("ReLU", {}),
            ]
        )
    )


def really(kind: str, stated: dict[str, Any], shape: tuple[int, ...]) -> tuple[int, ...] | str:
    """The shape that torch gives, or the name of what it raises."""
    layer = getattr(torch.nn, kind)(**stated).eval()
    dtype = torch.int64 if kind == "Embedding" else torch.float32
    try:
        found = layer(torch.zeros(shape, dtype=dtype))
    except (RuntimeError, ValueError, IndexError) as error:
        return type(error).__name__
    return tuple((found[0] if isinstance(found, tuple) else found).shape)


def describe(kind: str, stated: dict[str, Any], shape: tuple[int | None, ...]) -> tuple[int | None, ...] | str | None:
    """The shape as it is told, or the name of what is predicted."""
    try:
        return torch_sizes.given(kind, stated, shape)
    except torch_sizes.Refusal as refusal:
        return refusal.exception


def fits(one: Any, real: Any) -> bool:
    """Nothing is refused that torch accepts, and every length that is told is the real one."""
    if one is None or isinstance(real, str):
        return True
    return (
        not isinstance(one, str)
        and len(one) == len(real)
        and all(a in (None, b) for a, b in zip(one, real, strict=True))
    )


@settings(max_examples=400)
@given(layers(), SHAPES, st.data())
def test_layers_give_what_torch_gives_and_refuse_nothing_that_it_accepts(layer, shape, data):
    kind, stated = layer
    real = really(kind, stated, shape)
    vague = tuple(None if data.draw(st.booleans()) else length for length in shape)
    assert fits(describe(kind, stated, shape), real)
    assert fits(describe(kind, stated, vague), real)


@settings(max_examples=400)
@given(layers(), st.lists(st.integers(1, 7), min_size=2, max_size=5).map(tuple))
def test_what_torch_refuses_is_refused_where_the_whole_shape_is_known(layer, shape):
    kind, stated = layer
    real = really(kind, stated, shape)
    is_left_out = kind.startswith(("ConvTranspose", "MaxPool", "AvgPool", "Adaptive", "LayerNorm", "BatchNorm"))
    if isinstance(real, str) and not is_left_out:
        assert describe(kind, stated, shape) == real
