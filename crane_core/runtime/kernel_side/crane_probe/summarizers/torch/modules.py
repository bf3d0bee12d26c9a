"""Modules of torch: layers with their sizes, the input that the first one takes, parameters, mode, device.

Knows the dicts `_modules`, `_parameters` and `_buffers`. Refuses to call the module, to run a property of it, and to
initialise what is lazy.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from ...anatomy import Names, is_kind, own_dict, owner_of, package_of, type_name
from ...bounds import Facts, merged, stated
from ...brief import attributes_of
from ...callables.functions import signature_of_method
from . import layers as torch_layers
from .tensors import is_uninitialized, torch

_MOST_LAYERS = 60
"""Layers that are listed; of more, as many from the beginning and the end."""
# Measured: what walking one module costs.
_NS_PER_MODULE = 40_000
_MOST_CONTAINERS = 120
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_PARTS = ("_modules", "_parameters", "_buffers")
_INNER = frozenset(
    {"training", "call_super_init", "T_destination", "dump_patches"}
)
"""Attributes of every module, which say nothing about this one."""


class Layer(NamedTuple):
    """A module inside another: the way to it, itself, and its attributes."""

    path: str
    module: Any
    held: Names


def module(value: Any, look: Any) -> Facts:
    """All of it is beyond the published extractor, which states the type alone."""
    layers = list(walk(value, look))
    ends = [layer for layer in layers if _is_end(layer)]
    structure = {
        **_counts(layers),
        **_expected(ends),
        **_sizes(ends, look),
        **_containers(layers),
    }
    representation = {
        **_placed(layers),
        **signature_of_method(value, "forward", ("torch",)),
    }
    plus = {
        "structure": structure,
        "representation": representation,
        "values": _mode(layers),
    }
    return {"plus": merged(plus, _attributes(value, layers[0].held, look))}


def part(held: Names, name: str) -> Facts:
    """One of the module's own dicts; empty if there is none, as before `super().__init__()`."""
    found: Any = held.get(name)
    # Before super().__init__() ran, a module has none of these dicts.
    return dict(dict.items(found)) if is_kind(found, dict) else {}


def walk(
    value: Any, look: Any, path: str = "", met: dict[int, Any] | None = None
) -> Iterator[Layer]:
    """The module and all inside it, each once, in the order of definition, as far as the budget goes."""
    met = {} if met is None else met
    # A module may be used twice, or hold its parent.
    if id(value) in met or not look.affords(_NS_PER_MODULE):
        return
    met[id(value)] = value
    layer = Layer(path, value, own_dict(value))
    yield layer
    for name, inner in part(layer.held, "_modules").items():
        if is_module(inner):
            yield from walk(
                inner, look, f"{path}.{name}" if path else str(name), met
            )


def is_module(value: Any) -> bool:
    """Whether an object is a module of torch, or of a class derived from it."""
    return is_kind(value, torch().nn.Module)


def _is_end(layer: Layer) -> bool:
    """True for what is listed: modules without others inside, and those with parameters or their own sizes."""
    inner = part(layer.held, "_modules")
    # A Transformer layer has parts, but its own sizes say all.
    return (
        not inner
        or bool(part(layer.held, "_parameters"))
        or torch_layers.is_known(layer.module)
    )


def _containers(layers: list[Layer]) -> Facts:
    """{"containers": {path: {"type", "parts"}}} of the modules that hold others; which paths lead to one module."""
    paths = {id(layer.module): layer.path for layer in layers}
    facts: Facts = {}
    same: dict[str, str] = {}
    found = [(layer, _children(layer)) for layer in layers]
    holders = [
        (layer, inner)
        for layer, inner in found
        if inner and len(inner) <= _MOST_LAYERS
    ]
    for layer, inner in _shallowest(holders):
        kind = {"type": _short_type(layer.module), "parts": list(inner)}
        facts[layer.path] = dict(kind, **_hooked(layer))
        for name, one in inner.items():
            path = f"{layer.path}.{name}" if layer.path else str(name)
            # The same module under two paths: weights are shared.
            if paths.get(id(one), path) != path:
                same[path] = paths[id(one)]
    return stated(containers=facts, same_modules=same)


def _children(layer: Layer) -> Facts:
    return {
        name: one
        for name, one in part(layer.held, "_modules").items()
        if is_module(one)
    }


def _shallowest(
    holders: list[tuple[Layer, dict[str, Any]]],
) -> list[tuple[Layer, Facts]]:
    """As many as are listed, in their order; of very many those nearest to the whole, the head of a deep model too."""
    near = sorted(holders, key=lambda holder: holder[0].path.count("."))[
        :_MOST_CONTAINERS
    ]
    kept = {layer.path for layer, _ in near}
    return [holder for holder in holders if holder[0].path in kept]


def _hooked(layer: Layer) -> dict[str, bool]:
    """Said of a module whose call runs more than its class's `forward`."""
    return (
        {"hooked": True}
        # A forward that was set on the object replaces that of its class.
        if any(layer.held.get(name) for name in _HOOKS)
        or "forward" in layer.held
        else {}
    )


# Sizes


def _sizes(ends: list[Layer], look: Any) -> Facts:
    """{"layers": {path: {"type", sizes}}}, of the module itself its sizes alone; the middle of very many is counted."""
    if len(ends) == 1 and not ends[0].path:
        return dict(_stated(ends[0]), **_hooked(ends[0]))
    # A part that the target names is shown even in the middle of many.
    asked = [
        layer
        for layer in ends
        if layer.path.split(".")[0] in look.asked().attributes
    ]
    half = _MOST_LAYERS // 2
    kept = (
        ends
        if len(ends) <= _MOST_LAYERS
        else [*ends[:half], *asked[:half], *ends[-half:]]
    )
    shown = {
        layer.path: dict(
            {"type": _short_type(layer.module)},
            **_stated(layer),
            **_hooked(layer),
        )
        for layer in kept
    }
    return stated(layers=shown, layers_not_shown=len(ends) - len(shown))


def _stated(layer: Layer) -> Facts:
    """The sizes that the layer states, else the shapes of its parameters; whether it waits for its first call."""
    facts = torch_layers.sizes_of(layer.module, layer.held)
    own = {
        name: value
        for name, value in part(layer.held, "_parameters").items()
        if value is not None
    }
    # Parameters of lazy layers have no shape before the first call.
    if any(map(is_uninitialized, own.values())):
        return dict(facts, uninitialized=True)
    return facts or stated(
        parameters={name: _shape(value) for name, value in own.items()}
    )


def _shape(value: Any) -> list[int]:
    with torch()._C.DisableTorchFunction():
        return list(torch().Tensor.shape.__get__(value))


def _short_type(value: Any) -> str:
    """`Conv2d` for a class of torch, the full name for others."""
    kind = type(value)
    return kind.__qualname__ if package_of(kind) == "torch" else type_name(kind)


def _expected(ends: list[Layer]) -> Facts:
    """What the first sized layer takes and the last one returns, in the order of definition."""
    sized = [
        (at, layer, torch_layers.ends_of(layer.module, layer.held))
        for at, layer in enumerate(ends)
    ]
    known = [
        (at, layer, found) for at, layer, found in sized if found is not None
    ]
    if not known:
        return {}
    # By definition, not by call: a forward may use them in another order.
    (at, first, takes), (_, last, gives) = known[0], known[-1]
    expected: Facts = {"layer": first.path, "shape": takes.takes}
    if takes.integers_below is not None:
        expected["integers_below"] = takes.integers_below
    before = [
        f"{layer.path} ({_short_type(layer.module)})" for layer in ends[:at]
    ]
    expected.update(stated(after=before))
    return {
        "expected_input": expected,
        "output": {"layer": last.path, "shape": gives.gives},
    }


# Parameters


def _counts(layers: list[Layer]) -> Facts:
    """How many numbers the parameters hold, and how many of them are trained, each parameter counted once."""
    own = _parameters(layers)
    ready = [value for value in own if not is_uninitialized(value)]
    kind = torch().Tensor
    # A subclass of Parameter may count in its own way.
    with torch()._C.DisableTorchFunction():
        sizes = [
            (kind.numel(value), kind.requires_grad.__get__(value))
            for value in ready
        ]
    n_all, n_trained = (
        sum(size for size, _ in sizes),
        sum(size for size, is_trained in sizes if is_trained),
    )
    facts = {"n_parameters": n_all}
    facts.update(
        {"n_trainable_parameters": n_trained} if n_trained != n_all else {}
    )
    return (
        dict(facts, n_uninitialized_parameters=len(own) - len(ready))
        if len(ready) < len(own)
        else facts
    )


def _parameters(layers: list[Layer]) -> list[Any]:
    own = (
        value
        for layer in layers
        for value in part(layer.held, "_parameters").values()
    )
    return list(
        {
            id(value): value for value in own if is_kind(value, torch().Tensor)
        }.values()
    )


def _placed(layers: list[Layer]) -> Facts:
    """Device and dtype of the parameters; lists where they differ."""
    kind = torch().Tensor
    with torch()._C.DisableTorchFunction():
        places = [
            (kind.dtype.__get__(value), kind.device.__get__(value))
            for value in _parameters(layers)
        ]
    facts = {
        name: sorted({str(place[at]) for place in places})
        for at, name in enumerate(("dtype", "device"))
    }
    return {
        name: found[0] if len(found) == 1 else found
        for name, found in facts.items()
        if found
    }


# State


def _mode(layers: list[Layer]) -> Facts:
    """Training mode of the module, and which of the modules inside are in the other one."""
    mode = layers[0].held.get("training")
    if type(mode) is not bool:
        return {}
    # model.eval() reaches all parts, unless one was switched back.
    others = [
        layer.path
        for layer in layers
        if layer.held.get("training") is (not mode)
    ]
    return {"training": mode, **stated(in_the_other_mode=others[:10])}


def _attributes(value: Any, held: Names, look: Any) -> Facts:
    """The data that a class outside torch keeps beside its layers."""
    return (
        {}
        if package_of(type(value)) == "torch"
        else attributes_of(held, look, left_out=_INNER)
    )


# Attributes and items


def is_answered_by_torch(value: Any) -> bool:
    """True when a missing attribute is looked for in the module's own dicts, and nowhere else."""
    kind = type(value)
    # A module of the notebook with its own __getattr__ or __getattribute__ may have any attribute.
    is_plain = owner_of(kind, "__getattribute__") is object
    return is_plain and owner_of(kind, "__getattr__") is torch().nn.Module


def held_parts(value: Any) -> Facts:
    """Parameters, buffers and modules by name."""
    held = own_dict(value)
    # Reversed, so that _modules wins, as in torch's own look-up.
    return {
        name: inner
        for group in reversed(_PARTS)
        for name, inner in part(held, group).items()
    }


def children(value: Any) -> list[Any]:
    """The modules directly inside, in order."""
    return list(part(own_dict(value), "_modules").values())
