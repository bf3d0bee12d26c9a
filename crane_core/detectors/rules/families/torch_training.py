"""Optimizers of torch: what they are given. They check their settings themselves."""

import ast
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import chain, is_module
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("torch training")
_OPTIMIZERS: Final = (
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "NAdam",
)
# These can be iterated, so torch looks at what comes out of them.
_ITERABLE: Final = (
    "ParameterList",
    "ParameterDict",
    "ModuleList",
    "Sequential",
    "Parameter",
)


@RULES.function(*(f"torch.optim.{kind}" for kind in _OPTIMIZERS))
def made(operation: Operation) -> Answer:
    """A new optimizer; raises Crash for a module, or for no parameters at all."""
    given = operation.arguments.keywords.get("params", operation.first)
    _refuse_empty(operation, given)
    _refuse_modules(operation, given)
    kind = operation.function_name
    return AbstractValue(
        f"torch.optim.{kind.lower()}.{kind}", words=operation.text
    )


def _refuse_empty(operation: Operation, given: AbstractValue) -> None:
    if (
        given.fact("gives") == "parameters"
        and given.fact("n_parameters") == 0
        or given.items == []
    ):
        operation.crash(
            "ValueError",
            "optimizer got an empty parameter list",
            fact=f"{given.named('the model')} has no parameters",
            remedy="assign the layers to attributes of the model (a plain list of layers is not seen; use ModuleList)",
        )


def _refuse_modules(operation: Operation, given: AbstractValue) -> None:
    # Iterating a Sequential yields modules, which an optimizer refuses with TypeError as well.
    parts = (
        chain(given)
        if given.is_a("torch", "Sequential", "ModuleList")
        else None
    )
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
        own = {
            part.name
            for part in value.definition.body
            if isinstance(part, ast.FunctionDef)
        }
        # A class that can be iterated may yield parameters, and a second base may bring that along.
        is_plain = len(value.definition.bases) == 1 and not own & {
            "__iter__",
            "__getitem__",
            "__getattr__",
        }
        return is_plain and is_module(value)
    return (
        value.type.startswith("torch.nn.") and value.class_name not in _ITERABLE
    )


@RULES.function(
    *(
        f"torch.optim.{kind}.{name}"
        for kind in _OPTIMIZERS
        for name in ("zero_grad", "step")
    )
)
# `optimizer = optim.SGD` without a call: the variable is the class.
@RULES.method("builtins.type", "zero_grad", "step")
def of_class(operation: Operation) -> Answer:
    """optim.SGD.step(), or of a variable that is the class: there is no optimizer."""
    path = operation.receiver.path or str(operation.receiver.fact("name"))
    if (
        not path.startswith("torch.optim.")
        # `optim.SGD.step(optimizer)` names the object, and runs.
        or operation.arguments.positional
        or not operation.arguments.is_complete
    ):
        return UNKNOWN
    name = operation.text.partition("(")[0].rpartition(".")[2]
    operation.crash(
        "TypeError",
        f"{name}() is called on the class; no optimizer was created",
        fact=f"{operation.text.rpartition('.')[0]} is a class",
        remedy="create an optimizer first: optim.SGD(model.parameters(), lr=0.01)",
    )
