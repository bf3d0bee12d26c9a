"""Which labels go with which outputs of a Keras model: the losses of Keras 3, by shape and range.

Pure. Knows the losses that are given by name or by their class. Any other loss says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.shapes import Length, Shape, differ, shown

_SAME_SHAPE: Final = ("categorical_crossentropy", "binary_crossentropy")
_SPARSE: Final = "sparse_categorical_crossentropy"
_BROADCAST: Final = ("mean_squared_error", "mean_absolute_error", "huber", "kl_divergence")
_NAMES: Final = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "meansquarederror": "mean_squared_error",
    "meanabsoluteerror": "mean_absolute_error",
    "categoricalcrossentropy": "categorical_crossentropy",
    "binarycrossentropy": "binary_crossentropy",
    "sparsecategoricalcrossentropy": _SPARSE,
    "kldivergence": "kl_divergence",
    "bce": "binary_crossentropy",
}


class Complaint(NamedTuple):
    """What Keras raises on labels and outputs that do not go together."""

    exception: str
    why: str
    remedy: str


def name_of(loss: Any) -> str | None:
    """The loss as Keras' function of it is called; None for one that is not known here."""
    said = loss.get("type") if isinstance(loss, Mapping) else loss
    if not isinstance(said, str):
        return None
    plain = said.rpartition(".")[2]
    found = _NAMES.get(plain.lower(), plain)
    return found if found in (*_SAME_SHAPE, _SPARSE, *_BROADCAST) else None


def complaint(loss: str, labels: Shape, output: Shape, *, batch: Length = None) -> Complaint | None:
    """Why the loss refuses labels of this shape for this output; None if it takes them, or may."""
    labels, output = _ranked(labels, output)
    if loss == _SPARSE:
        return _sparse(labels, output)
    if loss in _SAME_SHAPE:
        return _same_shape(loss, labels, output)
    return _broadcast(labels, output, batch)


def _ranked(labels: Shape, output: Shape) -> tuple[Shape, Shape]:
    """A last axis of 1 is dropped or added where the ranks differ by one."""
    if len(labels) == len(output) + 1 and labels[-1] == 1:
        return labels[:-1], output
    if len(output) == len(labels) + 1 and output[-1] == 1:
        return (*labels, 1), output
    return labels, output


def _differ(left: Shape, right: Shape) -> bool:
    return any(map(differ, left, right))


def _same_shape(loss: str, labels: Shape, output: Shape) -> Complaint | None:
    if len(labels) == len(output) and not _differ(labels[1:], output[1:]):
        return None
    if None in labels[1:] or None in output[1:]:
        return None
    is_categorical = loss == "categorical_crossentropy"
    one_column = len(labels) == 1 or labels[-1] == 1
    return Complaint(
        "ValueError",
        f"{loss} needs labels and outputs of the same shape, but the shapes are {shown(labels)} and {shown(output)}",
        "use sparse_categorical_crossentropy, or make the labels one-hot (to_categorical)"
        if is_categorical and one_column
        else "give the last layer as many units as the labels have columns, or change the labels",
    )


def _sparse(labels: Shape, output: Shape) -> Complaint | None:
    flat = labels[:-1] if len(labels) == len(output) and labels[-1] == 1 else labels
    if None in labels[1:]:
        return None
    if len(flat) == len(output) - 1 and not _differ(flat[1:], output[1:-1]):
        return None
    return Complaint(
        "ValueError",
        f"sparse_categorical_crossentropy needs one class index per sample, not labels of shape {shown(labels)}",
        "use categorical_crossentropy for one-hot labels, or labels.argmax(axis=1)",
    )


def _broadcast(labels: Shape, output: Shape, batch: Length) -> Complaint | None:
    if len(labels) == len(output) == 2:
        one, other = labels[-1], output[-1]
        if differ(one, other) and 1 not in (one, other):
            return Complaint(
                "ValueError",
                f"labels of shape {shown(labels)} and outputs of shape {shown(output)} are incompatible",
                "give the last layer as many units as the labels have columns",
            )
    is_flat = len(labels) == 1 and len(output) == 2 and None not in (batch, output[-1])
    if is_flat and batch not in (1, output[-1]):
        return Complaint(
            "InvalidArgumentError",
            f"one label per sample, {shown(labels)}, and {output[-1]} outputs per sample are incompatible",
            "give the last layer one unit",
        )
    return None


def beyond(labels: Any, output: Shape) -> int | float | None:
    """The label outside of the classes that the output has, of labels that range so."""
    n_classes = output[-1] if output else None
    if n_classes is None or not isinstance(labels, (list, tuple)) or len(labels) != 2:
        return None
    if any(type(end) not in (int, float) or end != end for end in labels):
        return None
    return next((end for end in (labels[1], labels[0]) if not 0 <= end < n_classes), None)
