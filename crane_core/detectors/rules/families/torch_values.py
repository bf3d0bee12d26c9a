"""Tensors of torch that go to other devices, and what is only looked at. PyTorch answers the rest."""

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import CONTAINERS
from crane_core.detectors.rules.families.torch_tensors import (
    is_device,
    is_tensor,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("torch values")
# Layers without weights, such as ReLU, compute wherever their input is.
_WITH_WEIGHTS = (
    "Linear",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Embedding",
    "LSTM",
    "GRU",
)


@RULES.method("torch.Tensor", "to", "cuda", "cpu")
def moved(operation: Operation) -> Answer:
    """The same tensor on another device, which is known if it is the processor; PyTorch answers x.to(torch.long)."""
    given = operation.arguments.values
    if any(one.type and not is_device(one) or one.path for one in given):
        return UNKNOWN
    may_be_dtype = not all(map(is_device, given))
    facts = dict(operation.receiver.facts)
    for name in ("device", *(["dtype"] if may_be_dtype else [])):
        facts.pop(name, None)
    device = (
        # `x.cpu()` names the device by the method itself.
        given[0].fact("value", given[0].literal) if given else operation.name
    )
    facts |= {"device": "cpu"} if device == "cpu" else {}
    return AbstractValue("torch.Tensor", facts, words=operation.receiver.words)


@RULES.operator("torch.Tensor", *"+-*/@%<>", "//", "**", "==", "!=", "<=", ">=")
def apart(operation: Operation) -> Answer:
    """Two tensors with dimensions on two devices."""
    if operation.arguments.positional:
        _one_device(operation, operation.receiver, operation.first)
    return UNKNOWN


@RULES.method("torch.*", "__call__", "forward")
def of_layer(operation: Operation) -> Answer:
    """A layer with weights and its input on two devices, or a list in the place of a tensor. It changes nothing."""
    layer, given = operation.receiver, operation.first
    if (
        not layer.type.startswith("torch.nn.")
        or layer.fact("hooked")
        or layer.class_name in CONTAINERS
    ):
        return UNKNOWN
    if layer.class_name in _WITH_WEIGHTS:
        _one_device(operation, layer, given)
        if given.type in ("list", "tuple", "dict"):
            operation.crash(
                # Recurrent layers call input.dim() in Python, before torch checks types.
                "TypeError"
                if layer.class_name not in ("LSTM", "GRU")
                else "AttributeError",
                f"{layer.named(layer.class_name)} takes a tensor, not {given.type}",
                fact=f"{given.named('the input')} is of type {given.type}",
                remedy="join its tensors (torch.cat), or select one",
            )
    return UNCHANGED


def _one_device(
    operation: Operation, one: AbstractValue, other: AbstractValue
) -> None:
    devices = [value.fact("device") for value in (one, other)]
    # A tensor without dimensions on the CPU may meet one on a GPU.
    is_single = any(
        is_tensor(value) and not value.shape for value in (one, other)
    )
    are_known = all(isinstance(device, str) for device in devices)
    # "cuda" and "cuda:0" may be one device: only a pair with the CPU is certain.
    if (
        are_known
        and not is_single
        and devices[0] != devices[1]
        and "cpu" in devices
    ):
        operation.crash(
            "RuntimeError",
            "Expected all tensors to be on the same device",
            fact=f"{one.named('one')} is on {devices[0]}, {other.named('the other')} on {devices[1]}",
            remedy="move both to the same device: .to(device)",
        )


@RULES.method("torch.Tensor", "numpy")
def as_array(operation: Operation) -> Answer:
    """Raises Crash for a tensor on a GPU."""
    device = operation.receiver.fact("device")
    if (
        isinstance(device, str)
        and device.startswith(("cuda", "mps"))
        # x.numpy(force=True) copies to host memory itself.
        and not operation.arguments.keywords
    ):
        operation.crash(
            "TypeError",
            f"can't convert {device} device type tensor to numpy",
            fact=f"{operation.receiver.named('the tensor')} is on {device}",
            remedy="copy it to host memory first: .cpu().numpy()",
        )
    return UNKNOWN


@RULES.method("torch.Tensor")
def looked_at(operation: Operation) -> Answer:
    """Every method that ends in no "_" only looks."""
    # backward fills .grad of other tensors, and a hook is code of the notebook.
    is_change = operation.name.endswith("_") or operation.name in (
        "register_hook",
        "backward",
    )
    return UNKNOWN if is_change else UNCHANGED
