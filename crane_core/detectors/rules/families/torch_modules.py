"""Modules of torch: what is inside of them, their modes and dtypes, calling them part by part.

Layers themselves answer. Refuses what has hooks, and classes of other packages.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import (
    UNCHANGED,
    UNKNOWN,
    Answer,
    or_unknown,
)
from crane_core.detectors.rules.families.torch_tensors import (
    float_meant,
    is_device,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("torch modules")

_MOST_IN_THE_OTHER_MODE: Final = 10
CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_OF_PARTS: Final = (
    *(
        "layers",
        "containers",
        "same_modules",
        "part_names",
        "n_parameters",
        "n_trainable_parameters",
    ),
    *("expected_input", "output", "in_the_other_mode"),
)
"""What the state tells of the modules inside, which is no longer so when one of them is replaced."""
_LOOKING: Final = (
    "parameters",
    "named_parameters",
    "children",
    "modules",
    "named_modules",
)


# Making


@RULES.function("torch.nn.Sequential", "torch.nn.ModuleList")
def container_made(operation: Operation) -> Answer:
    """Modules in a row, given one by one, to a ModuleList as one list."""
    kind, given = operation.function_name, operation.arguments.positional
    if operation.arguments.keywords or not operation.arguments.is_complete:
        return UNKNOWN
    parts: Sequence[AbstractValue] | None = given
    if kind == "ModuleList":
        parts = given[0].items if given else []
    # nn.Sequential([a, b]) gets a list, which torch itself refuses.
    elif not all(map(is_module, given)):
        return UNKNOWN
    return AbstractValue(
        f"torch.nn.{kind}",
        # torch makes every module in training mode.
        {"training": True},
        items=parts,
        words=operation.text,
    )


# What is inside


def is_module(value: AbstractValue) -> bool:
    """A module of torch, or of the notebook where the state shows it to be one, or its class says so."""
    if value.package == "torch":
        return value.type.startswith("torch.nn.") and ".loss." not in value.type
    if value.package == "torchvision":
        return any(
            fact in value.facts
            for fact in ("containers", "part_names", "head_takes")
        )
    if value.package != "__main__":
        return False
    if "n_parameters" in value.facts and "training" in value.facts:
        return True
    # Module under another name (`from torch.nn import Module as M`) is not recognised, and nothing is said.
    bases = (
        value.definition.bases
        if isinstance(value.definition, ast.ClassDef)
        else []
    )
    return any(
        ast.unparse(base) in ("nn.Module", "torch.nn.Module", "Module")
        for base in bases
    )


def has_torchs_method(operation: Operation) -> bool:
    """Whether the method is that of torch's modules; a class of the notebook may define its own `train`."""
    module = operation.receiver
    return is_module(module) and not is_own(module, operation.name)


def stated_layers(module: AbstractValue) -> list[tuple[str, Mapping[str, Any]]]:
    """The layers inside, by their paths, as the state tells them; none of a part that may be another one by now."""
    told = module.mapping("layers").items()
    return [
        (path, held)
        for path, held in told
        if isinstance(held, dict)
        # After `five.head = nn.Linear(6, 3)` the state tells of another head.
        and path.partition(".")[0] not in module.attributes
    ]


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
    return (
        list(own["parts"])
        if isinstance(own, dict) and isinstance(own.get("parts"), list)
        else None
    )


def _made_of_state(
    root: AbstractValue, path: str, met: dict[str, AbstractValue]
) -> AbstractValue | None:
    """The AbstractValue of a module inside, by its path, from the facts of the whole."""
    # One ReLU in two places is one object: what changes it in one place changes it in both.
    path = root.fact("same_modules", {}).get(path, path)
    if path in met:
        return met[path]
    layers, containers = root.fact("layers", {}), root.fact("containers", {})
    told_of = layers.get(path) or containers.get(path)
    if not isinstance(told_of, dict) or not isinstance(
        told_of.get("type"), str
    ):
        return None
    kind = told_of["type"]
    facts = {
        name: fact
        for name, fact in told_of.items()
        if name not in ("type", "parts")
    }
    facts.update(_inherited(root, path))
    words = f"{root.words}.{path}" if root.words else path
    met[path] = made = AbstractValue(
        kind if "." in kind else f"torch.nn.{kind}", facts, words=words
    )
    if path in containers:
        _fill(root, made, path, told_of.get("parts"), met)
    return made


def _inherited(root: AbstractValue, path: str) -> dict[str, Any]:
    """Dtype, device and mode that all modules inside share, and whether some are not trained."""
    shared: dict[str, Any] = {
        name: root.fact(name)
        for name in ("dtype", "device", "n_trainable_parameters")
        if name in root.facts
    }
    others = root.fact("in_the_other_mode", [])
    # The state lists ten such modules at most: the mode of the others is unknown then.
    if (
        isinstance(root.fact("training"), bool)
        and len(others) < _MOST_IN_THE_OTHER_MODE
    ):
        shared["training"] = root.fact("training") ^ (path in others)
    return shared


def _fill(
    root: AbstractValue,
    made: AbstractValue,
    path: str,
    parts: Any,
    met: dict[str, AbstractValue],
) -> None:
    names = parts if isinstance(parts, list) else []
    found = {
        name: _made_of_state(root, f"{path}.{name}" if path else name, met)
        for name in names
    }
    there = {name: one for name, one in found.items() if one is not None}
    made.attributes.update(there)
    made.facts["part_names"] = names
    # Without a part that the state does not show, the others would be another chain.
    if made.class_name in ("Sequential", "ModuleList") and len(there) == len(
        names
    ):
        made.items = list(there.values())


def chain(module: AbstractValue) -> list[AbstractValue] | None:
    """The modules of a Sequential in order; None if they are not all known."""
    if (
        module.items is None
        and module.type.startswith("torch.nn.")
        and module.class_name in CONTAINERS
    ):
        parts = _parts(module)
        if parts is None:
            return None
        met: dict[str, AbstractValue] = {}
        made = (
            module.attributes.get(name) or _made_of_state(module, name, met)
            for name in parts
        )
        found = [one for one in made if one is not None]
        if len(found) == len(parts):
            module.items = found
            module.attributes.update(zip(parts, found, strict=True))
    return module.items


def _within(module: AbstractValue) -> Iterator[AbstractValue]:
    """The module and all that is known inside."""
    yield module
    for part in {
        id(part): part
        for part in (*(module.items or ()), *module.attributes.values())
    }.values():
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
    if found is None and operation.name in (
        "in_features",
        "out_features",
        "in_channels",
        "out_channels",
    ):
        value = operation.receiver.fact(operation.name)
        return (
            AbstractValue("int", literal=value)
            if type(value) is int
            else UNKNOWN
        )
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


def _no_place(
    operation: Operation, module: AbstractValue, at: int, n: int
) -> NoReturn:
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
    module.facts = {
        name: fact
        for name, fact in module.facts.items()
        # After `row[2] = nn.Linear(4, 5)` they tell of the layer before.
        if name not in _OF_PARTS
    }
    return UNCHANGED


# Modes, dtypes, devices


_PLACING = (
    "train",
    "eval",
    "to",
    "float",
    "double",
    "half",
    "cpu",
    "cuda",
    "zero_grad",
)


@RULES.method("__main__.*", *_PLACING)
@RULES.method("torch.*", *_PLACING)
@RULES.method("torchvision.*", *_PLACING)
def placed(operation: Operation) -> Answer:
    """The module itself, with all inside in another mode, dtype, or place."""
    module = operation.receiver
    if not has_torchs_method(operation):
        return UNKNOWN
    if operation.name in ("train", "eval"):
        _set_mode(operation, module)
    elif operation.name != "zero_grad":
        _move(operation, module)
    return (
        AbstractValue("NoneType", literal=None)
        if operation.name == "zero_grad"
        else module
    )


def _set_mode(operation: Operation, module: AbstractValue) -> None:
    mode = (
        operation.arguments.bound("mode=True")
        if operation.name == "train"
        else {}
    )
    value = mode.get("mode") if mode is not None else AbstractValue()
    is_training: Any = (
        operation.name == "train" if value is None else value.literal
    )
    for one in _within(module):
        # train() and eval() also reach the modules that were in the other mode.
        one.facts.pop("in_the_other_mode", None)
        one.facts["training"] = is_training


def _move(operation: Operation, module: AbstractValue) -> None:
    """Other devices are not followed: after a move that is not to the processor, they are not known."""
    dtypes = {
        "float": "torch.float32",
        "double": "torch.float64",
        "half": "torch.float16",
    }
    given = operation.arguments.values
    dtype = dtypes.get(operation.name) or next(
        filter(None, map(float_meant, given)), None
    )
    unknown = {"device"} if operation.name not in dtypes else set()
    # model.to(other) may take the dtype of another tensor.
    unknown |= (
        {"dtype"}
        if operation.name == "to" and not all(map(is_device, given))
        else set()
    )
    is_to_cpu = (
        operation.name == "cpu" or bool(given) and given[0].literal == "cpu"
    )
    for one in _within(module):
        one.drop(unknown)
        one.facts |= known_facts(
            dtype=dtype, device="cpu" if is_to_cpu else None
        )


def is_own(module: AbstractValue, name: str) -> bool:
    """Whether the notebook's class has a method of this name itself."""
    body = (
        module.definition.body
        if isinstance(module.definition, ast.ClassDef)
        else []
    )
    return any(
        isinstance(part, ast.FunctionDef) and part.name == name for part in body
    )


@RULES.method("__main__.*", *_LOOKING)
@RULES.method("torch.*", *_LOOKING)
@RULES.method("torchvision.*", *_LOOKING)
def looked_at(operation: Operation) -> Answer:
    """What only looks; the parameters as far as it is certain that there are some, or none."""
    module = operation.receiver
    if not has_torchs_method(operation):
        return UNKNOWN
    if operation.name != "parameters":
        return UNCHANGED
    n = (
        module.fact("n_parameters") if not module.attributes else None
    )  # some of which may be new
    facts = {"gives": "parameters"} | known_facts(n_parameters=n)
    return AbstractValue("generator", facts, words=operation.text)


# Calling


@RULES.method("torch.Sequential", "__call__", "forward")
def called(operation: Operation) -> Answer:
    """What a chain of layers makes of its input, one after the other."""
    module, bound = operation.receiver, operation.arguments.bound("input")
    # A hook may replace what goes in and what comes out.
    if bound is None or module.fact("hooked"):
        return UNKNOWN
    modules = chain(module)
    if modules is None:
        return UNCHANGED
    flowing = bound["input"]
    for one in modules:
        flowing = operation.call(one, [flowing], {})
    return flowing


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
    return operation.call(
        found, operation.arguments.positional, operation.arguments.keywords
    )


@RULES.set_attribute("torch.*")
@RULES.set_attribute("torchvision.*")
def part_set(operation: Operation) -> Answer:
    """model.fc = nn.Linear(512, 2): the attribute is another one, and nothing else changes."""
    module = operation.receiver
    return (
        UNCHANGED
        if is_module(module) or module.package == "torchvision"
        else UNKNOWN
    )
