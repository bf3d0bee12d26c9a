"""What is taken out of a pipeline: its steps by name or by place."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families.sklearn_estimators import steps
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: parts of pipelines")
_PIPELINE: Final = "sklearn.Pipeline"
_BUNCH: Final = "sklearn.utils._bunch.Bunch"


def _steps(pipeline: AbstractValue | None) -> list[tuple[str, AbstractValue]] | None:
    """Those whose names are all known."""
    found = steps(pipeline) if pipeline is not None else None
    return None if found is None or any(name.startswith("step ") for name, _ in found) else found


@RULES.attribute(_PIPELINE, "named_steps")
def by_name(operation: Operation) -> Answer:
    """A Bunch: a dict whose keys are attributes too."""
    found = _steps(operation.receiver)
    return UNKNOWN if found is None else AbstractValue(_BUNCH, members=dict(found), words=operation.text)


@RULES.attribute(_PIPELINE, "steps")
def in_order(operation: Operation) -> Answer:
    """The list itself, which may be changed in its place."""
    return UNKNOWN if _steps(operation.receiver) is None else operation.receiver.attributes["steps"]


@RULES.item("sklearn.Bunch")
def step_named(operation: Operation) -> Answer:
    members, name = operation.receiver.members, operation.first.literal
    if members is None or not isinstance(name, str):
        return UNKNOWN
    if name not in members:
        _refuse_name(operation, name, list(members))
    return members[name]


@RULES.attribute("sklearn.Bunch")
def step_as_attribute(operation: Operation) -> Answer:
    members = operation.receiver.members
    return or_unknown((members or {}).get(operation.name))


@RULES.item(_PIPELINE)
def step_taken(operation: Operation) -> Answer:
    """By name or place; a slice is a separate pipeline."""
    found, asked = _steps(operation.receiver), operation.first.literal
    if found is None:
        return UNKNOWN
    if isinstance(asked, str):
        named = dict(found)
        if asked not in named:
            _refuse_name(operation, asked, list(named))
        return named[asked]
    if type(asked) is int and -len(found) <= asked < len(found):
        return found[asked][1]
    return UNCHANGED


def _refuse_name(operation: Operation, name: str, names: list[str]) -> None:
    operation.crash(
        "KeyError",
        f"the pipeline has no step {name!r}",
        fact=f"its steps are {', '.join(names)}",
        remedy=f"name one of them; make_pipeline calls them so: {names[-1]!r}" if names else "use one of its steps",
    )
