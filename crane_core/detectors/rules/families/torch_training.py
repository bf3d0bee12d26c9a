"""Optimizers of torch, and how a step of training goes wrong before any number is computed."""

from __future__ import annotations

import ast
from typing import Final

from crane_core.detectors.rules.families.torch_modules import chain, is_module
from crane_core.detectors.rules.families.torch_things import is_tensor, words_of
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("torch training")

_MORE: Final = "*, foreach=None, maximize=False, differentiable=False, fused=None, capturable=False, **more"
_OPTIMIZERS: Final = {
    "SGD": "params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False",
    "Adam": "params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False",
    "AdamW": "params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False",
    "RMSprop": "params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False",
    "Adagrad": "params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10",
    "Adadelta": "params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0",
    "Adamax": "params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0",
    "NAdam": "params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004",
}
_ITERABLE: Final = ("ParameterList", "ParameterDict", "ModuleList", "Sequential", "Parameter")
_UNKNOWN_TO_ALL: Final = ("learning_rate", "decay", "clipnorm", "clipvalue", "epochs", "rate", "parameters", "lr_rate")
"""Arguments of other libraries' optimizers, which no optimizer of torch takes."""


def _maker(kind: str) -> Rule:
    def made(site: Site) -> Thing | None:
        _unknown(site, kind)
        bound = site.arguments.bound(f"{_OPTIMIZERS[kind]}, {_MORE}")
        if bound is None:
            return None
        if "params" not in bound:
            site.crash(
                "TypeError",
                f"{kind}.__init__() missing 1 required positional argument: 'params'",
                fact=f"the call is {site.text}",
                remedy="pass model.parameters()",
            )
        _parameters(site, bound["params"])
        return Thing(f"torch.optim.{kind.lower()}.{kind}", words=site.text)

    return made


def _unknown(site: Site, kind: str) -> None:
    for name in site.arguments.keywords:
        if name in _UNKNOWN_TO_ALL:
            site.crash(
                "TypeError",
                f"{kind}.__init__() got an unexpected keyword argument '{name}'",
                fact=f"the call is {site.text}",
                remedy="use lr" if "rate" in name else "remove it",
            )


def _parameters(site: Site, given: Thing) -> None:
    """An empty list, a single tensor, a model in the place of its parameters."""
    if given.fact("gives") == "parameters" and given.fact("n_parameters") == 0 or given.items == []:
        site.crash(
            "ValueError",
            "optimizer got an empty parameter list",
            fact=f"{words_of(given, 'the model')} has no parameters",
            remedy="assign the layers to attributes of the model (a plain list of layers is not seen; use ModuleList)",
        )
    if is_tensor(given):
        site.crash(
            "TypeError",
            "params argument given to the optimizer should be an iterable of Tensors, not a Tensor",
            fact=f"{words_of(given, 'params')} is a tensor",
            remedy="put it in a list: [w]",
        )
    parts = chain(given) if given.is_a("torch", "Sequential", "ModuleList") else None
    if _is_module(given) or parts and parts[0].type.startswith("torch.nn."):
        site.crash(
            "TypeError",
            "'{given.type}' object is not iterable: an optimizer takes the parameters of a module",
            fact=f"{words_of(given, 'params')} is of type {given.type}",
            remedy="pass model.parameters()",
        )


def _is_module(thing: Thing) -> bool:
    """A module, of torch or of the notebook, that cannot be iterated."""
    if isinstance(thing.definition, ast.ClassDef):
        own = {part.name for part in thing.definition.body if isinstance(part, ast.FunctionDef)}
        is_plain = len(thing.definition.bases) == 1 and not own & {"__iter__", "__getitem__", "__getattr__"}
        return is_plain and is_module(thing)
    return thing.type.startswith("torch.nn.") and thing.class_name not in _ITERABLE


for _kind in _OPTIMIZERS:
    RULES.function(f"torch.optim.{_kind}")(_maker(_kind))


@RULES.method("torch.*", "zero_grad", "step")
def of_optimizer(site: Site) -> Thing | None:
    """Steps change the parameters, and nothing that is told of them."""
    receiver = site.receiver or Thing()
    return Thing() if receiver.type.startswith("torch.optim.") and not site.arguments.positional else None


def _of_class(name: str) -> Rule:
    def called(site: Site) -> Thing | None:
        """optim.SGD.step(): the class is asked, and there is no optimizer."""
        if site.arguments.positional or not site.arguments.is_complete:
            return None
        kind = (site.receiver.path if site.receiver is not None else "").split(".")[-2:-1]
        [made] = kind or ["SGD"]
        site.crash(
            "TypeError",
            f"{name}() is called on the class; no optimizer was created",
            fact=f"{site.text.rpartition('.')[0]} is the class {made}",
            remedy=f"create one first: {made}(model.parameters(), lr=0.01)",
        )

    return called


for _kind in _OPTIMIZERS:
    for _name in ("zero_grad", "step"):
        RULES.function(f"torch.optim.{_kind}.{_name}", f"torch.optim.{_kind.lower()}.{_kind}.{_name}")(_of_class(_name))


@RULES.function("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.manual_seed")
def modes(site: Site) -> Thing | None:
    return Thing() if not site.arguments.keywords else None


@RULES.method("builtins.type", "zero_grad", "step")
def of_class_in_hand(site: Site) -> Thing | None:
    """The same, where the state tells which class a variable is."""
    kind = site.receiver.fact("name") if site.receiver is not None else None
    if not isinstance(kind, str) or not kind.startswith("torch.optim.") or site.arguments.positional:
        return None
    if not site.arguments.is_complete:
        return None
    site.crash(
        "TypeError",
        f"{site.name}() is called on the class; no optimizer was created",
        fact=f"{words_of(site.receiver or Thing(), 'it')} is the class {kind.rpartition('.')[2]}",
        remedy=f"create one first: {kind.rpartition('.')[2]}(model.parameters(), lr=0.01)",
    )
