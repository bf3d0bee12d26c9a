"""What the target calls, with what each callable says of itself.

Knows chains of attributes that end in a call. What a callable says stands in docs.py. Refuses to call.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping, NamedTuple

from .anatomy import MISSING, class_dict, is_kind, mro_of, static_attribute
from .asked import ATTRIBUTE, CALL, Chain, Step
from .docs import docs_of
from .following import chain_text, followed

_MOST = 60


class Called(NamedTuple):
    """A callable by the text of its chain, and the object it is taken from (MISSING: it is a variable itself)."""

    text: str
    value: Any
    owner: Any = MISSING


def documented(chains: tuple[Chain, ...], namespace: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Docs of the callables that the target itself calls, by the text of the chain that leads to them."""
    docs: dict[str, dict[str, Any]] = {}
    for chain in chains:
        for called in _called(chain, namespace) if not chain.via and len(docs) < _MOST else ():
            if called.text not in docs and not _compares_by_code(called.value):
                docs[called.text] = docs_of(called.value, called.owner)
    return {text: found for text, found in docs.items() if found}


def _called(chain: Chain, namespace: Mapping[str, Any]) -> Iterator[Called]:
    at = next((number for number, step in enumerate(chain.steps) if step.kind == CALL), None)
    if at is None or chain.name not in namespace:
        return
    if at == 0:
        yield Called(chain.name, namespace[chain.name])
        return
    before = chain.steps[: at - 1]
    if any(step.kind != ATTRIBUTE for step in chain.steps[:at]):
        return
    owner = _owner(namespace[chain.name], before)
    found = static_attribute(owner, chain.steps[at - 1].value) if owner is not MISSING else None
    if found is not None:
        is_unbound = found.where == "class" and not is_kind(owner, type)
        yield Called(chain_text(chain.name, chain.steps[:at]), found.value, owner if is_unbound else MISSING)


def _compares_by_code(value: Any) -> bool:
    """True for an object whose type can only be told apart by running its metaclass."""
    kinds = mro_of(type(type(value)))
    return any(name in class_dict(kind) for kind in kinds[:-2] for name in ("__eq__", "__hash__"))


def _owner(value: Any, steps: tuple[Step, ...]) -> Any:
    if not steps:
        return value
    values = followed(value, steps).values
    return values[-1][1] if values and values[-1][0] == len(steps) else MISSING
