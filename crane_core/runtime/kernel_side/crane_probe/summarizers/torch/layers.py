"""Sizes of torch's layers as their attributes state them: what each takes, what it returns.

Knows the layers of `torch.nn` by their attribute dicts. Refuses to call a layer.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple

from ...anatomy import mro_of, name_of, package_of
from ...bounds import Facts
from ...kinds import ROWS, Kinds

Held = Mapping[str, Any]

ANY = "..."
_MEASURES = Kinds(int, float, type(None))
_STATED = Kinds(int, float, bool, str)
_AXES = {1: ["L"], 2: ["H", "W"], 3: ["D", "H", "W"]}


class Ends(NamedTuple):
    """Shapes that a layer takes and returns, sizes that it leaves open by letter: N samples, L steps, H by W pixels.

    `integers_below` is set where it takes indices.
    """

    takes: list[Any]
    gives: list[Any]
    integers_below: int | None = None


def ends_of(layer: Any, held: Held) -> Ends | None:
    """What the layer takes and returns; None for one that takes any size, or whose size is not known yet."""
    family = _family(layer)
    ends = _FAMILIES[family](held) if family else None
    sizes = (
        [size for size in (*ends.takes, *ends.gives) if type(size) is not str]
        if ends
        else []
    )
    # A lazy layer has 0 for sizes that it learns from its first call.
    return (
        ends
        if ends and all(type(size) is int and size > 0 for size in sizes)
        else None
    )


def is_known(layer: Any) -> bool:
    """True for a layer whose sizes say all, whatever smaller layers it is made of."""
    return _family(layer) is not None


def _family(layer: Any) -> str | None:
    # By its parent in torch: a class of the notebook that derives from Linear is one.
    kinds = [
        kind for kind in mro_of(type(layer)) if package_of(kind) == "torch"
    ]
    return next(
        (name_of(kind) for kind in kinds if name_of(kind) in _FAMILIES), None
    )


def _linear(held: Held) -> Ends:
    return Ends([ANY, held.get("in_features")], [ANY, held.get("out_features")])


def _convolution(held: Held) -> Ends | None:
    kernel = held.get("kernel_size")
    axes = _AXES.get(len(kernel)) if type(kernel) is tuple else None
    if axes is None:
        return None
    return Ends(
        ["N", held.get("in_channels"), *axes],
        ["N", held.get("out_channels"), *(axis + "'" for axis in axes)],
    )


def _embedding(held: Held) -> Ends:
    return Ends(
        [ANY], [ANY, held.get("embedding_dim")], held.get("num_embeddings")
    )


def _bag(held: Held) -> Ends:
    return Ends(
        ["N", "L"], ["N", held.get("embedding_dim")], held.get("num_embeddings")
    )


def _recurrent(held: Held) -> Ends:
    order = _sequence_order(held)
    # proj_size replaces the hidden size in what an LSTM returns.
    size = held.get("proj_size") or held.get("hidden_size")
    # Both directions are put side by side.
    given = (
        size * 2 if held.get("bidirectional") and type(size) is int else size
    )
    return Ends([*order, held.get("input_size")], [*order, given])


def _sequence_order(held: Held) -> list[str]:
    return ["N", "L"] if held.get("batch_first") is True else ["L", "N"]


def _cell(held: Held) -> Ends:
    return Ends(["N", held.get("input_size")], ["N", held.get("hidden_size")])


def _norm(held: Held) -> Ends:
    shape = ["N", held.get("num_features"), ANY]
    return Ends(shape, shape)


def _group_norm(held: Held) -> Ends:
    shape = ["N", held.get("num_channels"), ANY]
    return Ends(shape, shape)


def _layer_norm(held: Held) -> Ends | None:
    normalized = held.get("normalized_shape")
    return (
        Ends([ANY, *normalized], [ANY, *normalized])
        if type(normalized) is tuple
        else None
    )


def _attention(held: Held) -> Ends:
    shape = [*_sequence_order(held), held.get("embed_dim")]
    return Ends(shape, shape)


_FAMILIES: dict[str, Callable[[Held], Ends | None]] = {
    "Linear": _linear,
    "_ConvNd": _convolution,
    "Embedding": _embedding,
    "EmbeddingBag": _bag,
    "RNNBase": _recurrent,
    "RNNCellBase": _cell,
    "_NormBase": _norm,
    "GroupNorm": _group_norm,
    "LayerNorm": _layer_norm,
    "RMSNorm": _layer_norm,
    "MultiheadAttention": _attention,
}

SIZES = [
    "in_features",
    "in1_features",
    "in2_features",
    "out_features",
    "in_channels",
    "out_channels",
    "num_embeddings",
    "embedding_dim",
    "input_size",
    "hidden_size",
    "num_layers",
    "batch_first",
    "bidirectional",
    "proj_size",
    "num_features",
    "num_channels",
    "num_groups",
    "normalized_shape",
    "affine",
    "track_running_stats",
    "embed_dim",
    "num_heads",
    "kdim",
    "vdim",
    "kernel_size",
    "stride",
    "padding",
    "output_padding",
    "dilation",
    "groups",
    "output_size",
    "return_indices",
    "ceil_mode",
    "start_dim",
    "end_dim",
    "unflattened_size",
    "size",
    "scale_factor",
    "mode",
    "upscale_factor",
    "p",
    "dim",
    "negative_slope",
    "padding_idx",
    "padding_mode",
]
"""Attributes of layers that decide which shapes go in and come out, and those that a reader looks for."""

_USUAL: Facts = {
    "padding": 0,
    "output_padding": 0,
    "dilation": 1,
    "groups": 1,
    "bidirectional": False,
    "proj_size": 0,
    "return_indices": False,
    "ceil_mode": False,
    "start_dim": 1,
    "end_dim": -1,
    "padding_idx": None,
    "padding_mode": "zeros",
    "mode": None,
    "negative_slope": 0.01,
    "affine": True,
    "track_running_stats": True,
}
"""What is not worth a word."""


def sizes_of(layer: Any, held: Held) -> Facts:
    """The stated sizes of a layer of torch, the usual ones left out."""
    if package_of(type(layer)) != "torch":
        return {}
    stated = {name: held[name] for name in SIZES if name in held}
    return {
        name: _plain(size)
        for name, size in stated.items()
        if _is_plain(size) and not _is_usual(name, size, held)
    }


def _is_plain(size: Any) -> bool:
    if type(size) is tuple or type(size) is list:
        return all(type(part) in _MEASURES for part in size)
    return type(size) in _STATED


def _plain(size: Any) -> Any:
    return list(size) if type(size) is tuple else size


def _is_usual(name: str, size: Any, held: Held) -> bool:
    if name == "stride":
        # A pooling's stride is its kernel unless said otherwise; a convolution's is 1.
        return (
            size == held.get("kernel_size")
            if "out_channels" not in held
            else _all_equal(size, 1)
        )
    if name in ("kdim", "vdim"):
        # Where they are not given, torch sets them to embed_dim.
        return bool(size == held.get("embed_dim"))
    return name in _USUAL and _all_equal(size, _USUAL[name])


def _all_equal(size: Any, usual: Any) -> bool:
    return (
        all(part == usual for part in size)
        if type(size) in ROWS
        else bool(size == usual)
    )
