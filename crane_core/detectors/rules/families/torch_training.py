"""Optimizers of torch, and how a step of training goes wrong before any number is computed."""

from __future__ import annotations

import ast
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import chain, is_module
from crane_core.detectors.rules.families.torch_tensors import is_tensor
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation

RULES = Family("torch training")

_MORE: Final = "*, foreach=None, maximize=False, differentiable=False, fused=None, capturable=False, **more"
_OPTIMIZERS: Final = {
    "SGD": "params=None, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False",
    "Adam": "params=None, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False",
    "AdamW": "params=None, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False",
    "RMSprop": "params=None, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False",
    "Adagrad": "params=None, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10",
    "Adadelta": "params=None, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0",
    "Adamax": "params=None, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0",
    "NAdam": "params=None, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004",
}
_ITERABLE: Final = ("ParameterList", "ParameterDict", "ModuleList", "Sequential", "Parameter")
_UNKNOWN_TO_ALL: Final = ("learning_rate", "decay", "clipnorm", "clipvalue", "epochs", "rate", "parameters", "lr_rate")
"""Arguments of other libraries' optimizers, which no optimizer of torch takes."""


def _maker(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        _unknown(operation, kind)
        bound = operation.arguments.bound(f"{_OPTIMIZERS[kind]}, {_MORE}")
        if bound is None:
            return UNKNOWN
        if "params" not in bound:
            operation.crash(
                "TypeError",
                f"{kind}.__init__() missing 1 required positional argument: 'params'",
                fact=f"the call is {operation.text}",
                remedy="pass model.parameters()",
            )
        _parameters(operation, bound["params"])
        return AbstractValue(f"torch.optim.{kind.lower()}.{kind}", words=operation.text)

    return made


def _unknown(operation: Operation, kind: str) -> None:
    for name in operation.arguments.keywords:
        if name in _UNKNOWN_TO_ALL:
            operation.crash(
                "TypeError",
                f"{kind}.__init__() got an unexpected keyword argument '{name}'",
                fact=f"the call is {operation.text}",
                remedy="use lr" if "rate" in name else "remove it",
            )


def _parameters(operation: Operation, given: AbstractValue) -> None:
    """An empty list, a single tensor, a model in the place of its parameters."""
    if given.fact("gives") == "parameters" and given.fact("n_parameters") == 0 or given.items == []:
        operation.crash(
            "ValueError",
            "optimizer got an empty parameter list",
            fact=f"{given.named('the model')} has no parameters",
            remedy="assign the layers to attributes of the model (a plain list of layers is not seen; use ModuleList)",
        )
    if is_tensor(given):
        operation.crash(
            "TypeError",
            "params argument given to the optimizer should be an iterable of Tensors, not a Tensor",
            fact=f"{given.named('params')} is a tensor",
            remedy="put it in a list: [w]",
        )
    parts = chain(given) if given.is_a("torch", "Sequential", "ModuleList") else None
    if _is_module(given) or parts and parts[0].type.startswith("torch.nn."):
        operation.crash(
            "TypeError",
            f"'{given.type}' object is not iterable: an optimizer takes the parameters of a module",
            fact=f"{given.named('params')} is of type {given.type}",
            remedy="pass model.parameters()",
        )


def _is_module(value: AbstractValue) -> bool:
    """A module, of torch or of the notebook, that cannot be iterated."""
    if isinstance(value.definition, ast.ClassDef):
        own = {part.name for part in value.definition.body if isinstance(part, ast.FunctionDef)}
        is_plain = len(value.definition.bases) == 1 and not own & {"__iter__", "__getitem__", "__getattr__"}
        return is_plain and is_module(value)
    return value.type.startswith("torch.nn.") and value.class_name not in _ITERABLE


for _kind in _OPTIMIZERS:
    RULES.function(f"torch.optim.{_kind}")(_maker(_kind))


@RULES.method("torch.*", "zero_grad", "step")
def of_optimizer(operation: Operation) -> Answer:
    """Steps change the parameters, and nothing that is told of them."""
    receiver = operation.receiver
    return UNCHANGED if receiver.type.startswith("torch.optim.") and not operation.arguments.positional else UNKNOWN


def _of_class(name: str) -> Rule:
    def called(operation: Operation) -> Answer:
        """optim.SGD.step(): the class is asked, and there is no optimizer."""
        if operation.arguments.positional or not operation.arguments.is_complete:
            return UNKNOWN
        kind = (operation.receiver.path).split(".")[-2:-1]
        [made] = kind or ["SGD"]
        operation.crash(
            "TypeError",
            f"{name}() is called on the class; no optimizer was created",
            fact=f"{operation.text.rpartition('.')[0]} is the class {made}",
            remedy=f"create one first: {made}(model.parameters(), lr=0.01)",
        )

    return called


for _kind in _OPTIMIZERS:
    for _name in ("zero_grad", "step"):
        RULES.function(f"torch.optim.{_kind}.{_name}", f"torch.optim.{_kind.lower()}.{_kind}.{_name}")(_of_class(_name))


@RULES.function("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.manual_seed")
def modes(operation: Operation) -> Answer:
    return UNCHANGED if not operation.arguments.keywords else UNKNOWN


@RULES.method("builtins.type", "zero_grad", "step")
def of_class_in_hand(operation: Operation) -> Answer:
    """The same, where the state tells which class a variable is."""
    kind = operation.receiver.fact("name")
    if not isinstance(kind, str) or not kind.startswith("torch.optim.") or operation.arguments.positional:
        return UNKNOWN
    if not operation.arguments.is_complete:
        return UNKNOWN
    operation.crash(
        "TypeError",
        f"{operation.name}() is called on the class; no optimizer was created",
        fact=f"{operation.receiver.named('it')} is the class {kind.rpartition('.')[2]}",
        remedy=f"create one first: {kind.rpartition('.')[2]}(model.parameters(), lr=0.01)",
    )
