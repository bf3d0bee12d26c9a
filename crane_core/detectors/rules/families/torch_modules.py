"""Modules of torch: making layers, what is inside of them, their modes and dtypes, calling them.

Knows the layers of `torch.nn` by exact type, and modules of the notebook whose `forward` it can read. Refuses what has
hooks, and classes of other packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families import torch_sizes
from crane_core.detectors.rules.families.numpy_arrays import ends_of
from crane_core.detectors.rules.families.torch_tensors import (
    FLOATS,
    INTEGERS,
    default_dtype,
    describe,
    dtype_meant,
    dtype_of,
    is_float,
    is_tensor,
    short,
    tensor,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch modules")

_MOST_IN_THE_OTHER_MODE: Final = 10
_CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_KERNEL = "in_channels, out_channels, kernel_size, stride=1, padding=0"
_CONVOLUTION = f"{_KERNEL}, dilation=1, groups=1, bias=True, padding_mode='zeros', device=None, dtype=None"
_TRANSPOSED = (
    f"{_KERNEL}, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None"
)
_BATCH_NORM = "num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None"
_RECURRENT = (
    "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,"
    " proj_size=0, device=None, dtype=None"
)
_MADE: Final = {
    "Linear": "in_features, out_features, bias=True, device=None, dtype=None",
    **{f"Conv{n}d": _CONVOLUTION for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _TRANSPOSED for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": _BATCH_NORM for n in (1, 2, 3)},
    "LayerNorm": "normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None",
    "GroupNorm": "num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None",
    "Embedding": (
        "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,"
        " sparse=False, _weight=None, _freeze=False, device=None, dtype=None"
    ),
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT.replace(" proj_size=0,", ""),
    **{
        f"MaxPool{n}d": "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False"
        for n in (1, 2, 3)
    },
    "AvgPool1d": "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True",
    **{
        f"AvgPool{n}d": "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,"
        " divisor_override=None"
        for n in (2, 3)
    },
    **{f"AdaptiveAvgPool{n}d": "output_size" for n in (1, 2, 3)},
    **{f"AdaptiveMaxPool{n}d": "output_size, return_indices=False" for n in (1, 2, 3)},
    "Flatten": "start_dim=1, end_dim=-1",
    "Upsample": "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
    **dict.fromkeys(("Dropout", "Dropout2d", "Dropout3d", "AlphaDropout"), "p=0.5, inplace=False"),
    **dict.fromkeys(("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardswish", "Hardsigmoid"), "inplace=False"),
    **dict.fromkeys(("Sigmoid", "Tanh", "Softsign", "LogSigmoid", "Tanhshrink"), ""),
    **dict.fromkeys(("ELU", "CELU"), "alpha=1.0, inplace=False"),
    "LeakyReLU": "negative_slope=0.01, inplace=False",
    "PReLU": "num_parameters=1, init=0.25, device=None, dtype=None",
    "GELU": "approximate='none'",
    "Softplus": "beta=1.0, threshold=20.0",
    "Identity": "*args, **kwargs",
    **dict.fromkeys(("Softmax", "LogSoftmax"), "dim=None"),
}
"""The layers that are known when the target makes them, with their parameters."""
_WHOLE: Final = (
    "in_features",
    "out_features",
    "in_channels",
    "out_channels",
    "num_features",
    "num_embeddings",
    "embedding_dim",
)
_OF_PARTS: Final = (
    *("layers", "containers", "same_modules", "part_names", "n_parameters", "n_trainable_parameters"),
    *("expected_input", "output", "in_the_other_mode"),
)
"""What the state tells of the modules inside, which is no longer so when one of them is replaced."""
_UNUSUAL: Final = {"stride": None}


# Making


def _maker(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound(_MADE[kind])
        if bound is None:
            return UNKNOWN
        _whole_sizes(operation, kind, bound)
        _divisible(operation, bound)
        settings = {
            name: abstract.literal for name, abstract in bound.items() if name not in ("device", "dtype", "bias")
        }
        dtype = dtype_meant(bound["dtype"]) if "dtype" in bound else default_dtype(operation)
        facts = {name: value for name, value in settings.items() if value is not None or name not in _UNUSUAL}
        return AbstractValue(
            f"torch.nn.{kind}", facts | {"training": True} | ({"dtype": dtype} if dtype else {}), words=operation.text
        )

    return made


def _whole_sizes(operation: Operation, kind: str, bound: Mapping[str, AbstractValue]) -> None:
    """Sizes that are not integers: `width / 2` is a float."""
    for name in _WHOLE:
        if name in bound and bound[name].type in ("float", "str", "NoneType", "tuple", "list"):
            operation.crash(
                "TypeError",
                f"{name} of {kind} must be an integer, not {bound[name].type}",
                fact=f"{bound[name].named(name)} is of type {bound[name].type}",
                remedy="divide with //, or convert it with int(...)" if bound[name].type == "float" else "pass an int",
            )


def _divisible(operation: Operation, bound: Mapping[str, AbstractValue]) -> None:
    groups = bound["groups"].literal if "groups" in bound else 1
    for name in ("in_channels", "out_channels"):
        size = bound[name].literal if name in bound else NOT_KNOWN
        if type(groups) is int and groups > 0 and type(size) is int and size % groups:
            operation.crash(
                "ValueError",
                f"{name} must be divisible by groups",
                fact=f"{name} is {size}, groups is {groups}",
                remedy="use a number of groups that divides both",
            )


for _kind in _MADE:
    RULES.function(f"torch.nn.{_kind}")(_maker(_kind))


@RULES.function("torch.nn.Sequential", "torch.nn.ModuleList")
def container_made(operation: Operation) -> Answer:
    """Modules in a row, given one by one or as one list; a Sequential does not take a list."""
    kind = "Sequential" if "Sequential" in operation.text.partition("(")[0] else "ModuleList"
    given = operation.arguments.positional
    if operation.arguments.keywords or not operation.arguments.is_complete:
        return UNKNOWN
    if kind == "Sequential":
        _modules_only(operation, given)
        return _container(kind, given, operation.text) if all(value.type for value in given) else UNKNOWN
    if len(given) > 1:
        return UNKNOWN
    parts = given[0].items if given else []
    return _container(kind, parts, operation.text) if parts is not None else AbstractValue(f"torch.nn.{kind}")


def _modules_only(operation: Operation, given: Sequence[AbstractValue]) -> None:
    for value in given:
        if value.type in ("list", "tuple", "str", "int", "float", "NoneType"):
            operation.crash(
                "TypeError",
                f"{value.type} is not a Module subclass: a Sequential takes modules",
                fact=f"{value.named('it')} is of type {value.type}",
                remedy="unpack the list: nn.Sequential(*layers)" if value.type == "list" else "pass a module instead",
            )


def _container(kind: str, modules: Sequence[AbstractValue], words: str) -> AbstractValue:
    return AbstractValue(f"torch.nn.{kind}", {"training": True}, items=modules, words=words)


# What is inside


def is_module(value: AbstractValue) -> bool:
    """A module of torch, or of the notebook where the state shows it to be one, or its class says so."""
    if value.package == "torch":
        return value.type.startswith("torch.nn.") and ".loss." not in value.type
    if value.package == "torchvision":
        return any(fact in value.facts for fact in ("containers", "part_names", "head_takes"))
    if value.package != "__main__":
        return False
    if "n_parameters" in value.facts and "training" in value.facts:
        return True
    bases = value.definition.bases if isinstance(value.definition, ast.ClassDef) else []
    return any(ast.unparse(base) in ("nn.Module", "torch.nn.Module", "Module") for base in bases)


def inside(module: AbstractValue, name: str) -> AbstractValue | None:
    """The module that is a part of another under this name, made of the state's list of layers once; None for others.

    Two parts that are one module share one value.
    """
    if name in module.attributes:
        return module.attributes[name]
    parts = _parts(module)
    if parts is None or name not in parts:
        return None
    made = _made_of_state(module, name, {})
    if made is not None:
        module.attributes[name] = made
    return made


def _parts(module: AbstractValue) -> list[str] | None:
    """The names of the modules directly inside; None if the state does not tell them."""
    own = module.fact("containers", {}).get("")
    return list(own["parts"]) if isinstance(own, dict) and isinstance(own.get("parts"), list) else None


def _made_of_state(root: AbstractValue, path: str, met: dict[str, AbstractValue]) -> AbstractValue | None:
    """The AbstractValue of a module inside, by its path, from the facts of the whole."""
    path = root.fact("same_modules", {}).get(path, path)
    if path in met:
        return met[path]
    layers, containers = root.fact("layers", {}), root.fact("containers", {})
    told_of = layers.get(path) or containers.get(path)
    if not isinstance(told_of, dict) or not isinstance(told_of.get("type"), str):
        return None
    kind = told_of["type"]
    facts = {name: fact for name, fact in told_of.items() if name not in ("type", "parts")}
    facts.update(_inherited(root, path))
    words = f"{root.words}.{path}" if root.words else path
    met[path] = made = AbstractValue(kind if "." in kind else f"torch.nn.{kind}", facts, words=words)
    if path in containers:
        _fill(root, made, path, told_of.get("parts"), met)
    return made


def _inherited(root: AbstractValue, path: str) -> dict[str, Any]:
    """Dtype, device and mode that all modules inside share."""
    shared = {name: root.fact(name) for name in ("dtype", "device") if isinstance(root.fact(name), str)}
    others = root.fact("in_the_other_mode", [])
    if isinstance(root.fact("training"), bool) and len(others) < _MOST_IN_THE_OTHER_MODE:
        shared["training"] = root.fact("training") ^ (path in others)
    return shared


def _fill(root: AbstractValue, made: AbstractValue, path: str, parts: Any, met: dict[str, AbstractValue]) -> None:
    names = parts if isinstance(parts, list) else []
    found = {name: _made_of_state(root, f"{path}.{name}" if path else name, met) for name in names}
    there = {name: one for name, one in found.items() if one is not None}
    made.attributes.update(there)
    made.facts["part_names"] = names
    if made.class_name in ("Sequential", "ModuleList") and len(there) == len(names):
        made.items = list(there.values())


def chain(module: AbstractValue) -> list[AbstractValue] | None:
    """The modules of a Sequential in order; None if they are not all known."""
    if module.items is None and module.type.startswith("torch.nn.") and module.class_name in _CONTAINERS:
        parts = _parts(module)
        if parts is None:
            return None
        met: dict[str, AbstractValue] = {}
        made = (module.attributes.get(name) or _made_of_state(module, name, met) for name in parts)
        found = [one for one in made if one is not None]
        if len(found) == len(parts):
            module.items = found
            module.attributes.update(zip(parts, found, strict=True))
    return module.items


def _within(module: AbstractValue) -> Iterator[AbstractValue]:
    """The module and all that is known inside."""
    yield module
    for part in {id(part): part for part in (*(module.items or ()), *module.attributes.values())}.values():
        if is_module(part):
            yield from _within(part)


@RULES.attribute("__main__.*")
@RULES.attribute("torch.*")
@RULES.attribute("torchvision.*")
def part(operation: Operation) -> Answer:
    """A module inside by its name."""
    if not is_module(operation.receiver):
        return UNKNOWN
    if operation.receiver.class_name == "Sequential":
        chain(operation.receiver)
    found = inside(operation.receiver, operation.name)
    if found is None and operation.name in ("in_features", "out_features", "in_channels", "out_channels"):
        value = operation.receiver.fact(operation.name)
        return AbstractValue("int", literal=value) if type(value) is int else UNKNOWN
    return or_unknown(found)


@RULES.item("torch.Sequential")
@RULES.item("torch.ModuleList")
def part_at(operation: Operation) -> Answer:
    """A module by its place."""
    modules, at = chain(operation.receiver), operation.first.literal
    if modules is None:
        return UNCHANGED if type(at) is int else UNKNOWN
    if type(at) is not int:
        return UNKNOWN
    if not -len(modules) <= at < len(modules):
        _no_place(operation, operation.receiver, at, len(modules))
    return modules[at]


def _no_place(operation: Operation, module: AbstractValue, at: int, n: int) -> NoReturn:
    operation.crash(
        "IndexError",
        f"index {at} is out of range",
        fact=f"{module.named('it')} holds {n} modules",
        remedy=f"use an index from 0 to {n - 1}",
    )


@RULES.set_item("torch.Sequential")
@RULES.set_item("torch.ModuleList")
def part_replaced(operation: Operation) -> Answer:
    """net[-1] = nn.Linear(...)."""
    module, at, value = operation.receiver, *operation.arguments.positional
    modules = chain(module)
    if modules is None or type(at.literal) is not int:
        return UNKNOWN
    if not -len(modules) <= at.literal < len(modules):
        _no_place(operation, module, at.literal, len(modules))
    modules[at.literal] = value
    module.attributes = {}
    module.facts = {name: fact for name, fact in module.facts.items() if name not in _OF_PARTS}
    return UNCHANGED


@RULES.element("torch.Sequential")
@RULES.element("torch.ModuleList")
def first_part(operation: Operation) -> Answer:
    modules = chain(operation.receiver)
    return modules[0] if modules else UNKNOWN


# Modes, dtypes, devices


@RULES.method("__main__.*", "train", "eval", "to", "float", "double", "half", "cpu", "cuda", "zero_grad")
@RULES.method("torch.*", "train", "eval", "to", "float", "double", "half", "cpu", "cuda", "zero_grad")
@RULES.method("torchvision.*", "train", "eval", "to", "float", "double", "half", "cpu", "cuda", "zero_grad")
def placed(operation: Operation) -> Answer:
    """The module itself, with all inside in another mode, dtype, or place."""
    module = operation.receiver
    if not is_module(module) or is_own(module, operation.name):
        return UNKNOWN
    if operation.name in ("train", "eval"):
        _set_mode(operation, module)
    elif operation.name != "zero_grad":
        _move(operation, module)
    return AbstractValue("NoneType", literal=None) if operation.name == "zero_grad" else module


def _set_mode(operation: Operation, module: AbstractValue) -> None:
    mode = operation.arguments.bound("mode=True") if operation.name == "train" else {}
    value = mode.get("mode") if mode is not None else AbstractValue()
    is_training: Any = operation.name == "train" if value is None else value.literal
    for one in _within(module):
        one.facts.pop("in_the_other_mode", None)
        one.facts["training"] = is_training


def _move(operation: Operation, module: AbstractValue) -> None:
    """Devices are not followed: after a move that is not known to the same place, they are not known."""
    dtypes = {"float": "torch.float32", "double": "torch.float64", "half": "torch.float16"}
    given = [*operation.arguments.positional, *operation.arguments.keywords.values()]
    meant = [dtype_meant(value) for value in given]
    dtype = dtypes.get(operation.name) or next(filter(is_float, meant), None)
    is_plain_move = operation.name in ("cpu", "cuda") or all(map(_is_device, given))
    to_cpu = operation.name not in ("to", "cuda") or bool(given) and given[0].literal == "cpu"
    unknown = {"dtype"} if dtype is None and not is_plain_move else set()
    for one in _within(module):
        one.drop(unknown if to_cpu else unknown | {"device"})
        one.facts |= known_facts(dtype=dtype)


def _is_device(value: AbstractValue) -> bool:
    return value.type in ("str", "torch.device", "bool")


def is_own(module: AbstractValue, name: str) -> bool:
    """Whether the notebook's class has a method of this name itself."""
    body = module.definition.body if isinstance(module.definition, ast.ClassDef) else []
    return any(isinstance(part, ast.FunctionDef) and part.name == name for part in body)


@RULES.method("__main__.*", "parameters", "named_parameters", "children", "modules", "named_modules")
@RULES.method("torch.*", "parameters", "named_parameters", "children", "modules", "named_modules")
@RULES.method("torchvision.*", "parameters", "named_parameters", "children", "modules", "named_modules")
def looked_at(operation: Operation) -> Answer:
    """What only looks; the parameters as far as it is certain that there are some, or none."""
    module = operation.receiver
    if not is_module(module) or is_own(module, operation.name):
        return UNKNOWN
    if operation.name != "parameters":
        return UNCHANGED
    return AbstractValue("generator", _counted(module), words=operation.text)


def _counted(module: AbstractValue) -> dict[str, Any]:
    n = module.fact("n_parameters")
    if n is None and module.type.startswith("torch.nn."):
        kinds = {one.class_name for one in _within(module)}
        without = torch_sizes.SAME_SHAPE | {"Flatten", "Softmax", "LogSoftmax"}
        is_whole = module.class_name != "Sequential" or chain(module) is not None
        n = 0 if is_whole and kinds <= without | {"Sequential"} else None
    return {"gives": "parameters"} | ({"n_parameters": n} if n is not None else {})


# Calling


@RULES.method("torch.*", "__call__", "forward")
def called(operation: Operation) -> Answer:
    """What a layer, or a chain of layers, makes of its input."""
    module = operation.receiver
    if not module.type.startswith("torch.nn.") or module.fact("hooked"):
        return UNKNOWN
    if module.class_name == "Sequential":
        return _through_chain(operation, module)
    if module.class_name == "MultiheadAttention":
        return _attended(operation, module)
    if not torch_sizes.is_known(module.class_name):
        return UNKNOWN
    more = ", hx=None" if module.class_name in torch_sizes.RECURRENT else ""
    bound = operation.arguments.bound(f"input{more}")
    if bound is None:
        _arity(operation, module, more)
        return UNKNOWN
    return through(operation, module, bound["input"])


def _arity(operation: Operation, module: AbstractValue, more: str) -> None:
    """Layers that take one tensor and are called with more."""
    n = len(operation.arguments.positional)
    if operation.arguments.is_complete and n > (2 if more else 1) and not operation.arguments.keywords:
        operation.crash(
            "TypeError",
            f"forward of {module.class_name} takes 1 input, but {n} are given",
            fact=f"{module.named('it')} is of type {module.class_name}",
            remedy="pass one tensor",
        )


def _through_chain(operation: Operation, module: AbstractValue) -> Answer:
    modules, bound = chain(module), operation.arguments.bound("input")
    if bound is None:
        _arity(operation, module, "")
        return UNKNOWN
    if modules is None:
        return UNCHANGED
    flowing = bound["input"]
    for one in modules:
        if one.type.startswith("torch.nn.") and torch_sizes.is_known(one.class_name) and not one.fact("hooked"):
            flowing = through(operation, one, flowing)
        else:
            flowing = operation.call(one, [flowing], {})
    return flowing


def through(operation: Operation, layer: AbstractValue, flowing: AbstractValue) -> AbstractValue:
    """What one layer makes of what flows through it."""
    kind = layer.class_name
    _refuse_others(operation, layer, flowing)
    if not is_tensor(flowing):
        return AbstractValue()
    _match_devices(operation, layer, flowing)
    shape = flowing.shape
    after = _sized(operation, layer, flowing, shape) if shape is not None else None
    _match_dtypes(operation, layer, flowing)
    _check_indices(operation, layer, flowing)
    _check_batch_norm(operation, layer, flowing, shape)
    words = f"the output of {layer.named(kind)}"
    dtype = _dtype_after(layer, flowing)
    made = tensor(after, dtype, flowing.fact("device"), words=words if after != shape else flowing.words or words)
    if kind in _TRAINED and not any(operation.mentions(text) for text in _WITHOUT_GRADIENT):
        made.facts["requires_grad"] = True
    return _with_states(layer, made, shape) if kind in torch_sizes.RECURRENT else made


def _sized(operation: Operation, layer: AbstractValue, flowing: AbstractValue, shape: Shape) -> Shape | None:
    try:
        return torch_sizes.given(layer.class_name, layer.facts, shape)
    except torch_sizes.Refusal as refusal:
        operation.crash(
            refusal.exception,
            f"{layer.named(layer.class_name)}: {refusal.why}",
            fact=describe(flowing, "the input"),
            remedy=refusal.remedy,
        )


def _dtype_after(layer: AbstractValue, flowing: AbstractValue) -> str | None:
    weights = layer.fact("dtype") if layer.fact("dtype") in FLOATS else None
    if layer.class_name in ("Embedding", "Linear") or layer.class_name in torch_sizes.RECURRENT:
        return weights
    there = dtype_of(flowing)
    return there if is_float(there) or layer.class_name in ("Flatten", "Identity", "ReLU") else weights


def _with_states(layer: AbstractValue, sequence: AbstractValue, before: Shape | None) -> AbstractValue:
    """The pair that a recurrent layer gives: the sequence, and the last state."""
    state = tensor(torch_sizes.hidden(layer.facts, before) if before is not None else None, dtype_of(sequence))
    if layer.class_name == "LSTM":
        state = AbstractValue("tuple", items=[state, tensor(None, dtype_of(sequence))], words="the states of the LSTM")
    return AbstractValue("tuple", items=[sequence, state], words=f"the output of {layer.named(layer.class_name)}")


_TRAINED: Final = ("Linear", "Conv1d", "Conv2d", "Conv3d")
_WITHOUT_GRADIENT: Final = ("no_grad", "inference_mode", "grad_enabled", "requires_grad", "freeze", "functional_call")
"""Where none of these stands in any cell, what a layer with weights gives requires a gradient."""
_TYPE_ERRORS: Final = frozenset(
    ("Linear", "Conv1d", "Conv2d", "Conv3d", "ReLU", "Sigmoid", "Tanh", "GELU", "Dropout", "LayerNorm", "Embedding")
)
_ATTRIBUTE_ERRORS: Final = frozenset(("BatchNorm1d", "BatchNorm2d", "LSTM", "GRU"))
_NO_TENSORS: Final = ("list", "tuple", "dict", "str", "int", "float", "NoneType", "numpy.ndarray")


def _refuse_others(operation: Operation, layer: AbstractValue, flowing: AbstractValue) -> None:
    """What is not a tensor: arrays, lists, the pair that an LSTM gives."""
    kind, given = layer.class_name, flowing.type
    is_refused = given in _NO_TENSORS or flowing.is_a("pandas", "DataFrame", "Series") or flowing.is_a("PIL")
    if not is_refused or kind not in _TYPE_ERRORS | _ATTRIBUTE_ERRORS:
        return
    remedy = "use its first element: output, _ = lstm(x)" if given == "tuple" else "convert it to a tensor first"
    operation.crash(
        "TypeError" if kind in _TYPE_ERRORS else "AttributeError",
        f"{layer.named(kind)} takes a tensor, not {given}",
        fact=f"{flowing.named('the input')} is of type {given}",
        remedy=remedy,
    )


def _match_devices(operation: Operation, layer: AbstractValue, flowing: AbstractValue) -> None:
    left, right = layer.fact("device"), flowing.fact("device")
    are_apart = isinstance(left, str) and isinstance(right, str) and "cpu" in (left, right) and left != right
    if are_apart and layer.class_name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "LSTM", "GRU"):
        operation.crash(
            "RuntimeError",
            "Expected all tensors to be on the same device",
            fact=f"the weights of {layer.named('the layer')} are on {left}, its input on {right}",
            remedy="move both to the same device: .to(device)",
        )


def _match_dtypes(operation: Operation, layer: AbstractValue, flowing: AbstractValue) -> None:
    """Weights and input of one dtype. Half precision is left out: autocast may bring it about."""
    weights, there, kind = layer.fact("dtype"), dtype_of(flowing), layer.class_name
    if there is None or there == weights or kind not in torch_sizes.ONE_DTYPE:
        return
    are_full = {weights, there} == {"torch.float32", "torch.float64"}
    if there in (*INTEGERS, "torch.bool") or are_full and ("Norm" not in kind or there == "torch.float64"):
        exception = "ValueError" if kind in torch_sizes.RECURRENT else "RuntimeError"
        is_batch_norm = kind.startswith("BatchNorm") and there not in FLOATS
        operation.crash(
            "NotImplementedError" if is_batch_norm else exception,
            f"the weights of {layer.named(kind)} are {short(weights or 'torch.float32')}, its input {short(there)}",
            fact=describe(flowing, "the input"),
            remedy="convert the data: x.float()",
        )


def _check_indices(operation: Operation, layer: AbstractValue, flowing: AbstractValue) -> None:
    """An embedding takes integers below its size."""
    if layer.class_name != "Embedding":
        return
    dtype, ends, n = dtype_of(flowing), ends_of(flowing), layer.fact("num_embeddings")
    if dtype is not None and dtype not in ("torch.int64", "torch.int32"):
        operation.crash(
            "RuntimeError",
            f"Expected tensor for argument 'indices' to have scalar type Long or Int, but got {short(dtype)}",
            fact=describe(flowing, "the input"),
            remedy="pass x.long()",
        )
    if type(n) is int:
        beyond = [end for end in ends if type(end) is int and not 0 <= end < n]
        if beyond and flowing.fact("device", "cpu") == "cpu":
            operation.crash(
                "IndexError",
                f"index out of range in self: {beyond[-1]}, {layer.named('the embedding')} has {n} entries",
                fact=f"{flowing.named('the input')} ranges from {ends[0]} to {ends[1]}",
                remedy=f"create the embedding with {ends[1] + 1} entries",
            )


def _check_batch_norm(operation: Operation, layer: AbstractValue, flowing: AbstractValue, shape: Shape | None) -> None:
    if not layer.class_name.startswith("BatchNorm") or layer.fact("training") is not True or shape is None:
        return
    if torch_sizes.values_per_channel(shape) == 1:
        operation.crash(
            "ValueError",
            f"{layer.named('batch normalization')} expected more than 1 value per channel when training",
            fact=describe(flowing, "the input"),
            remedy="call model.eval() before predicting one sample, or use a larger batch (drop_last=True)",
        )


def _attended(operation: Operation, module: AbstractValue) -> Answer:
    bound = operation.arguments.bound(
        "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,"
        " is_causal=False"
    )
    if bound is None:
        return UNKNOWN
    query, width = bound["query"], module.fact("embed_dim")
    shape = query.shape if is_tensor(query) else None
    if shape is not None and len(shape) in (2, 3) and type(width) is int and shape[-1] not in (None, width):
        operation.crash(
            "AssertionError",
            f"was expecting embedding dimension of {width}, but got {shape[-1]}",
            fact=describe(query, "the query"),
            remedy=f"create it with embed_dim={shape[-1]}",
        )
    return AbstractValue("tuple", items=[tensor(shape, dtype_of(query)), AbstractValue()], words=operation.text)


# Parts that are called, and parts that are replaced


@RULES.method("__main__.*")
@RULES.method("torch.*")
@RULES.method("torchvision.*")
def part_called(operation: Operation) -> Answer:
    """self.head(x), where the state tells what the head is."""
    module = operation.receiver
    if not is_module(module) or operation.name.startswith("__"):
        return UNKNOWN
    found = inside(module, operation.name)
    if found is None or not is_module(found):
        return UNKNOWN
    return operation.call(found, operation.arguments.positional, operation.arguments.keywords)


@RULES.set_attribute("torch.*")
@RULES.set_attribute("torchvision.*")
def part_set(operation: Operation) -> Answer:
    """model.fc = nn.Linear(512, 2): the attribute is another one, and nothing else changes."""
    module = operation.receiver
    return UNCHANGED if is_module(module) or module.package == "torchvision" else UNKNOWN
