"""Weights of torch's modules by name: what `state_dict` holds, and what `load_state_dict` refuses.

Knows the shapes of the weights of layers from the sizes that they state. Refuses layers that wait for their first call.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import torch_modules
from crane_core.detectors.rules.families.numpy_arrays import literal_of
from crane_core.detectors.rules.families.torch_tensors import is_tensor
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import shown

RULES: Final = Family("torch weights")
_DICTS: Final = ("dict", "collections.OrderedDict")
_NO_DICTS: Final = ("str", "list", "tuple", "NoneType", "int")
Weights = dict[str, tuple[int, ...]]


def weights_of(module: AbstractValue, prefix: str = "") -> Weights:
    """Shapes of the weights that certainly are in a module, by their names in its state_dict."""
    found = _of_layer(module.class_name, module.facts, prefix)
    for path, known in torch_modules.stated_layers(module):
        if "type" in known:
            found.update(
                _of_layer(str(known["type"]), known, f"{prefix}{path}.")
            )
    # Parts that the notebook has replaced: the state's list speaks of the others.
    for name, part in _parts(module):
        found.update(weights_of(part, f"{prefix}{name}."))
    return found


def _parts(module: AbstractValue) -> Iterator[tuple[str, AbstractValue]]:
    if module.attributes:
        yield from (
            (name, part)
            for name, part in module.attributes.items()
            if torch_modules.is_module(part)
        )
    elif (
        module.items is not None
        and "part_names" not in module.facts
        and "containers" not in module.facts
    ):
        yield from (
            (str(at), part)
            for at, part in enumerate(module.items)
            if torch_modules.is_module(part)
        )


def _of_layer(kind: str, facts: Mapping[str, Any], prefix: str) -> Weights:
    # A lazy layer takes its shapes from the weights that it loads.
    if facts.get("uninitialized"):
        return {}
    lengths: list[Any] = []
    if kind == "Linear":
        lengths = [facts.get("out_features"), facts.get("in_features")]
    elif kind == "Embedding":
        lengths = [facts.get("num_embeddings"), facts.get("embedding_dim")]
    # Transposed convolutions keep their channels the other way round.
    elif kind in ("Conv1d", "Conv2d", "Conv3d"):
        lengths = _of_convolution(facts, int(kind[4]))
    # affine=False leaves out the weight, so only the shape of running_mean is compared.
    elif kind.startswith("BatchNorm"):
        return _if_known({f"{prefix}running_mean": [facts.get("num_features")]})
    # bias=False leaves it out, so only its shape is compared, where both have one.
    bias = (
        {f"{prefix}bias": lengths[:1]}
        if kind != "Embedding" and lengths
        else {}
    )
    return _if_known({f"{prefix}weight": lengths, **bias}) if lengths else {}


def _of_convolution(facts: Mapping[str, Any], n_dimensions: int) -> list[Any]:
    n_in, groups, kernel = (
        facts.get("in_channels"),
        facts.get("groups", 1),
        facts.get("kernel_size"),
    )
    sizes = (
        list(kernel)
        if isinstance(kernel, (list, tuple))
        else [kernel] * n_dimensions
    )
    if (
        type(n_in) is not int
        or type(groups) is not int
        or groups < 1
        or len(sizes) != n_dimensions
    ):
        return []
    # With groups each filter sees only its share of the channels.
    return [facts.get("out_channels"), n_in // groups, *sizes]


def _if_known(shapes: Mapping[str, list[Any]]) -> Weights:
    return {
        name: tuple(shape)
        for name, shape in shapes.items()
        if all(type(length) is int for length in shape)
    }


@RULES.method("__main__.*", "state_dict")
@RULES.method("torch.*", "state_dict")
@RULES.method("torchvision.*", "state_dict")
def state_dict(operation: Operation) -> Answer:
    """The shapes of the weights by name, as far as the layers have their sizes."""
    module = operation.receiver
    if not torch_modules.has_torchs_method(operation):
        return UNKNOWN
    # prefix= gives the weights other names.
    if operation.arguments.positional or operation.arguments.keywords:
        return UNCHANGED
    items = {
        name: {"type": "torch.Tensor", "shape": shape}
        for name, shape in weights_of(module).items()
    }
    return AbstractValue(
        "collections.OrderedDict", {"items": items}, words=operation.text
    )


@RULES.method("__main__.*", "load_state_dict")
@RULES.method("torch.*", "load_state_dict")
@RULES.method("torchvision.*", "load_state_dict")
def loaded(operation: Operation) -> Answer:
    """Weights of other shapes are refused always, missing ones unless strict=False is said."""
    module, bound = (
        operation.receiver,
        operation.arguments.bound("state_dict, strict=True"),
    )
    if not torch_modules.has_torchs_method(operation) or bound is None:
        return UNKNOWN
    given = bound["state_dict"]
    # torch.save(model) writes the module itself, which load_state_dict refuses.
    if given.type in _NO_DICTS or torch_modules.is_module(given):
        operation.crash(
            "TypeError",
            f"Expected state_dict to be dict-like, got {given.type}",
            fact=f"{given.named('the argument')} is of type {given.type}",
            remedy="pass other.state_dict(), or read a file first: model.load_state_dict(torch.load(path))",
        )
    if given.type in _DICTS:
        wanted = weights_of(module)
        _refuse_shapes(operation, wanted, _shapes(given))
        if literal_of(bound.get("strict"), True) is True:
            _refuse_gaps(operation, module, wanted, given)
    return UNCHANGED


def _shapes(given: AbstractValue) -> Weights:
    if given.members is not None:
        told_shapes: dict[Any, Any] = {
            name: part.shape
            for name, part in given.members.items()
            if is_tensor(part) or not part.type
        }
    else:
        parts = given.mapping("items").items()
        told_shapes = {
            name: part.get("shape")
            for name, part in parts
            if isinstance(part, dict)
        }
        told_shapes.update(given.mapping("other_shapes"))
    return _if_known(
        {
            str(name): list(shape)
            for name, shape in told_shapes.items()
            if shape is not None
        }
    )


def _refuse_shapes(
    operation: Operation, wanted: Weights, there: Weights
) -> None:
    for name, shape in wanted.items():
        # A missing name is judged apart, as strict=False allows it.
        if there.get(name, shape) != shape:
            operation.crash(
                "RuntimeError",
                f"size mismatch for {name}",
                fact=f"{name} has shape {shown(there[name])} in the loaded dict and {shown(shape)} in the model",
                remedy="create the model with the sizes that it was saved with, or remove these weights from the dict",
            )


def _refuse_gaps(
    operation: Operation,
    module: AbstractValue,
    wanted: Weights,
    given: AbstractValue,
) -> None:
    """Weights that the model has and a dict that is stated whole has not; weight_g and weight_v are weights, too."""
    keys = _keys(given)
    if keys is None:
        return
    for name in wanted:
        # bias=False leaves out a bias, so none is missed.
        if name.endswith("weight") and not any(
            key.startswith(name) for key in keys
        ):
            operation.crash(
                "RuntimeError",
                f"Missing key(s) in state_dict: {name}",
                fact=f"{given.named('the dict')} has the keys {', '.join(map(repr, keys[:3]))}"
                + (" and others" if len(keys) > 3 else ""),
                remedy=_other_names(name, keys),
            )


def _keys(given: AbstractValue) -> list[str] | None:
    """All keys, where they are texts and stated whole."""
    keys: Any = (
        list(given.members) if given.members is not None else given.fact("keys")
    )
    length = len(keys) if given.members is not None else given.fact("length")
    if (
        # A state lists the first keys of a long dict.
        not isinstance(keys, list)
        or len(keys) != length
        or not all(isinstance(key, str) for key in keys)
    ):
        return None
    return None if any("\u2026" in key for key in keys) else keys


def _other_names(name: str, keys: list[str]) -> str:
    if any(key == f"module.{name}" for key in keys):
        return "remove the prefix 'module.' of DataParallel from the keys"
    inner = [
        key
        for key in keys
        if key.endswith("state_dict") or key in ("model", "net", "state")
    ]
    if inner:
        return f"load what it holds: [{inner[0]!r}]"
    return "create the model whose weights were saved, or pass strict=False"
