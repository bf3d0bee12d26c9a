"""Losses of torch, as objects and as functions: which outputs and targets go together, by shape, dtype and classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families.numpy_arrays import ends_of
from crane_core.detectors.rules.families.torch_tensors import (
    FLOATS,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    is_float,
    is_tensor,
    known,
    short,
    tensor,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, broadcast, differ, shown, size

RULES = Family("torch losses")

_REFUSED: Final = ("list", "tuple", "dict", "str", "int", "float", "NoneType", "numpy.ndarray")
_CLASS_INDICES: Final = "torch.int64", "torch.uint8"


class Loss:
    """One call of a loss: what comes out of the model, what it is compared with, the settings of the loss."""

    def __init__(
        self, operation: Operation, given: AbstractValue, target: AbstractValue, settings: dict[str, Any]
    ) -> None:
        self.operation = operation
        self.given = given
        self.target = target
        self.settings = settings

    @property
    def fact(self) -> str:
        return f"{describe(self.given, 'the output')}, {describe(self.target, 'the target')}"

    def crash(self, exception: str, why: str, remedy: str) -> None:
        self.operation.crash(exception, why, fact=self.fact, remedy=remedy)


# Class indices


def _cross_entropy(loss: Loss) -> None:
    given, target = loss.given.shape, loss.target.shape
    if not _are_tensors(loss) or given is None or target is None or not given:
        return
    if given == target and None not in given:
        _probabilities(loss)
        return
    if len(given) == len(target) and None in (*given, *target):
        return
    _indices(loss, given, target)


def _probabilities(loss: Loss) -> None:
    dtype = dtype_of(loss.target)
    if dtype is not None and not is_float(dtype):
        loss.crash(
            "RuntimeError",
            f"Expected floating point type for target with class probabilities, got {short(dtype)}",
            "pass class indices (target.argmax(1)), or the probabilities as floats (target.float())",
        )


def _nll(loss: Loss) -> None:
    given, target = loss.given.shape, loss.target.shape
    if _are_tensors(loss) and given is not None and target is not None and given:
        _indices(loss, given, target)


def _indices(loss: Loss, given: Shape, target: Shape) -> None:
    """The target holds a class for each item of the batch."""
    if len(given) == 1:
        if target and target[0] not in (1, None) and len(target) == 1:
            loss.crash(
                "ValueError",
                f"an output without a batch dimension takes one class index, not {target[0]}",
                "add a batch dimension to the output: (batch, classes)",
            )
    else:
        _same_batch(loss, given, target)
        _places(loss, given, target)
    _index_dtype(loss)
    _index_range(loss, given)
    _weights(loss, given)


def _same_batch(loss: Loss, given: Shape, target: Shape) -> None:
    n_targets = target[0] if target else 0
    if differ(given[0], n_targets):
        loss.crash(
            "ValueError",
            f"Expected input batch_size ({given[0]}) to match target batch_size ({n_targets})",
            "give both the same batch size (find a reshape that mixes batch and values)",
        )


def _places(loss: Loss, given: Shape, target: Shape) -> None:
    wanted = (given[0], *given[2:])
    fits = len(wanted) == len(target) and all(
        None in pair or pair[0] == pair[1] for pair in zip(wanted, target, strict=True)
    )
    if not fits:
        loss.crash(
            "RuntimeError",
            f"an output of shape {shown(given)} needs class indices of shape {shown(wanted)}, not {shown(target)}",
            "remove the target's extra dimension (squeeze(1), argmax(1))"
            if len(target) > len(wanted)
            else "reshape it",
        )


def _index_dtype(loss: Loss) -> None:
    dtype = dtype_of(loss.target)
    if dtype is not None and dtype not in _CLASS_INDICES:
        loss.crash(
            "RuntimeError",
            f"expected scalar type Long but found {short(dtype)}: class indices must be int64",
            "pass target.long()",
        )


def _index_range(loss: Loss, given: Shape) -> None:
    ends, n_classes = ends_of(loss.target), given[1] if len(given) > 1 else given[0]
    ignored = loss.settings.get("ignore_index", -100)
    if n_classes is None or ignored is NOT_KNOWN:
        return
    beyond = [end for end in ends if type(end) is int and not 0 <= end < n_classes and end != ignored]
    if beyond and loss.target.fact("device", "cpu") == "cpu":
        loss.crash(
            "IndexError",
            f"the target holds the class {beyond[-1]}, and an output for {n_classes} classes knows 0 to "
            f"{n_classes - 1}",
            "number the classes from 0, or give the last layer more outputs",
        )


def _weights(loss: Loss, given: Shape) -> None:
    weight, n_classes = loss.settings.get("weight_shape"), given[1] if len(given) > 1 else given[0]
    there = weight[0] if isinstance(weight, (tuple, list)) and len(weight) == 1 else None
    if differ(there, n_classes):
        loss.crash(
            "RuntimeError",
            f"weight tensor should be defined for all {n_classes} classes, but has {there} weights",
            "pass one weight per output of the model",
        )


# The same shape


def _binary(loss: Loss) -> None:
    _same_shape(loss)
    given, target = dtype_of(loss.given), dtype_of(loss.target)
    if given is None or target is None or not _are_tensors(loss):
        return
    if is_float(given) and given != target and "torch.float16" not in (given, target):
        loss.crash(
            "RuntimeError",
            f"Found dtype {short(target)} but expected {short(given)}",
            "convert the target to the output's dtype: target.float()",
        )


def _logits(loss: Loss) -> None:
    _same_shape(loss)
    given, target = dtype_of(loss.given), dtype_of(loss.target)
    if is_float(given) and target is not None and not is_float(target) and _are_tensors(loss):
        loss.crash(
            "RuntimeError",
            f"the target is {short(target)}, but the in-place computation needs a float",
            "pass target.float()",
        )


def _same_shape(loss: Loss) -> None:
    given, target = loss.given.shape, loss.target.shape
    if not _are_tensors(loss) or given is None or target is None:
        return
    if len(given) != len(target) or any(
        None not in pair and len(set(pair)) > 1 for pair in zip(given, target, strict=True)
    ):
        loss.crash(
            "ValueError",
            f"output and target must have the same shape, not {shown(given)} and {shown(target)}",
            "make the shapes equal: target.unsqueeze(1), or output.squeeze(1)",
        )


def _meeting(loss: Loss) -> None:
    """Losses that only warn of unequal shapes and then broadcast."""
    given, target = loss.given.shape, loss.target.shape
    if _are_tensors(loss) and given is not None and target is not None:
        with crash_on_shape_mismatch("RuntimeError", fact=loss.fact, remedy="give output and target the same shape"):
            broadcast(given, target)


def _are_tensors(loss: Loss) -> bool:
    return is_tensor(loss.given) and is_tensor(loss.target)


_CHECKS: Final[dict[str, Callable[[Loss], None]]] = {
    "CrossEntropyLoss": _cross_entropy,
    "NLLLoss": _nll,
    "BCELoss": _binary,
    "BCEWithLogitsLoss": _logits,
    **dict.fromkeys(("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"), _meeting),
}
_FUNCTIONS: Final = {
    "cross_entropy": "CrossEntropyLoss",
    "nll_loss": "NLLLoss",
    "binary_cross_entropy": "BCELoss",
    "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
    "mse_loss": "MSELoss",
    "l1_loss": "L1Loss",
    "smooth_l1_loss": "SmoothL1Loss",
    "huber_loss": "HuberLoss",
}
_LEGACY: Final = "size_average=None, reduce=None, reduction='mean'"
_WEIGHTED: Final = "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'"
_PARAMETERS: Final = {
    "CrossEntropyLoss": f"{_WEIGHTED}, label_smoothing=0.0",
    "NLLLoss": _WEIGHTED,
    "BCELoss": f"weight=None, {_LEGACY}",
    "BCEWithLogitsLoss": f"weight=None, {_LEGACY}, pos_weight=None",
    "MSELoss": _LEGACY,
    "L1Loss": _LEGACY,
    "SmoothL1Loss": f"{_LEGACY}, beta=1.0",
    "HuberLoss": "reduction='mean', delta=1.0",
}
"""Of the classes; the functions have input and target before them."""


@RULES.method("torch.CrossEntropyLoss", "__call__", "forward")
@RULES.method("torch.NLLLoss", "__call__", "forward")
@RULES.method("torch.BCELoss", "__call__", "forward")
@RULES.method("torch.BCEWithLogitsLoss", "__call__", "forward")
@RULES.method("torch.MSELoss", "__call__", "forward")
@RULES.method("torch.L1Loss", "__call__", "forward")
@RULES.method("torch.SmoothL1Loss", "__call__", "forward")
@RULES.method("torch.HuberLoss", "__call__", "forward")
def call_of_loss(operation: Operation) -> Answer:
    bound = operation.arguments.bound("input, target")
    if bound is None:
        return UNKNOWN
    return or_unknown(_computed(operation, operation.receiver.class_name, bound, dict(operation.receiver.facts)))


def _of_function(kind: str) -> Rule:
    def computed(operation: Operation) -> Answer:
        more = ", weight=None" if kind in ("MSELoss", "L1Loss", "HuberLoss") else ""
        bound = operation.arguments.bound(f"input, target, {_PARAMETERS[kind]}{more}")
        return UNKNOWN if bound is None else or_unknown(_computed(operation, kind, bound, _settings(bound)))

    return computed


def _of_class(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound(_PARAMETERS[kind])
        if bound is None:
            return UNKNOWN
        _refuse_outputs(operation, bound.get("size_average"))
        return AbstractValue(f"torch.nn.modules.loss.{kind}", _settings(bound), words=operation.text)

    return made


def _refuse_outputs(operation: Operation, switch: AbstractValue | None) -> None:
    """MSELoss(output, target) makes a loss with tensors for settings: their truth is tested."""
    n_elements = size(switch.shape or ()) if switch is not None and is_tensor(switch) else None
    if switch is not None and n_elements is not None and n_elements > 1:
        operation.crash(
            "RuntimeError",
            "Boolean value of Tensor with more than one value is ambiguous: the class takes settings, not tensors",
            fact=describe(switch),
            remedy="create the loss first: loss = "
            + operation.text.partition("(")[0]
            + "(), then loss(output, target)",
        )


for _name, _kind in _FUNCTIONS.items():
    RULES.function(f"torch.nn.functional.{_name}")(_of_function(_kind))
for _kind in _PARAMETERS:
    RULES.function(f"torch.nn.{_kind}")(_of_class(_kind))


def _settings(bound: dict[str, AbstractValue]) -> dict[str, Any]:
    """Parameters of a loss as the state would tell them."""
    plain = {name: known(bound[name]) for name in ("reduction", "ignore_index") if name in bound}
    weight = bound.get("weight")
    shape = weight.shape if weight is not None and is_tensor(weight) else None
    return plain | ({"weight_shape": shape} if shape is not None else {})


def _computed(
    operation: Operation, kind: str, bound: dict[str, AbstractValue], settings: dict[str, Any]
) -> AbstractValue | None:
    if "input" not in bound or "target" not in bound:
        return None
    loss = Loss(operation, bound["input"], bound["target"], settings)
    _refuse_others(loss, kind)
    _CHECKS[kind](loss)
    is_single = settings.get("reduction", "mean") in ("mean", "sum")
    dtype = dtype_of(loss.given)
    is_plain = _are_tensors(loss) and dtype in FLOATS and dtype == dtype_of(loss.target)
    return tensor(() if is_single else None, dtype if is_plain else None, words=f"the loss {operation.text}")


def _refuse_others(loss: Loss, kind: str) -> None:
    """What is not a tensor; targets that are numbers, arrays or tuples of tensors."""
    for value, what in ((loss.given, "output"), (loss.target, "target")):
        if value.type in _REFUSED:
            is_type_error = kind in ("CrossEntropyLoss", "NLLLoss") or value.type == "numpy.ndarray"
            loss.crash(
                "TypeError" if is_type_error else "AttributeError",
                f"the {what} is of type {value.type}, but a loss takes tensors",
                "select the tensor element" if value.type == "tuple" else "convert it to a tensor",
            )
