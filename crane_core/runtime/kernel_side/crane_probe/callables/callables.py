"""What the target calls, with what each callable says of itself.

Knows chains of attributes that end in a call. What a callable says is in docs.py. Refuses to call.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from ..anatomy import MISSING, Names, is_kind, static_attribute
from ..bounds import Facts, why
from ..chains.following import chain_text, followed
from ..syntax.asked import Chain, Steps
from .docs import docs_of

# A prompt has room for no more, and each costs time.
_MOST = 60


class Called(NamedTuple):
    """A callable by the text of its chain, and the object it is taken from (MISSING: it is a variable itself)."""

    text: str
    value: Any
    owner: Any = MISSING


def documented(
    chains: tuple[Chain, ...], namespace: Names, unavailable: dict[str, str]
) -> dict[str, Facts]:
    """Docs of the callables that the target itself calls, by the text of the chain that leads to them.

    A chain that cannot be followed is listed in `unavailable`.
    """
    docs: dict[str, dict[str, Any]] = {}
    for chain in chains:
        # What functions of the notebook call is theirs; the paper documents calls of the target.
        if chain.via or len(docs) >= _MOST:
            continue
        try:
            docs.update(
                {
                    one.text: docs_of(one.value, one.owner)
                    for one in _called(chain, namespace)
                    if one.text not in docs
                }
            )
        except Exception as error:  # noqa: BLE001 - whatever following meets becomes the reason
            unavailable[chain_text(chain.name, chain.steps)] = why(error)
    return {text: found for text, found in docs.items() if found}


def _called(chain: Chain, namespace: Names) -> Iterator[Called]:
    at = chain.first_call
    # After an item or a call, the owner is not stored.
    if at is None or chain.name not in namespace or chain.n_attributes < at:
        return
    value, steps = namespace[chain.name], chain.steps[:at]
    if not steps:
        yield Called(chain.name, value)
        return
    owner = _owner(value, steps[:-1])
    if owner is MISSING:
        return
    found = static_attribute(owner, steps[-1].value)
    if found is not None:
        # A method found on the class is not bound yet: its first parameter is the owner.
        is_unbound = found.where == "class" and not is_kind(owner, type)
        yield Called(
            chain_text(chain.name, steps),
            found.value,
            owner if is_unbound else MISSING,
        )


def _owner(value: Any, steps: Steps) -> Any:
    if not steps:
        return value
    values = followed(value, steps).values
    return values[-1][1] if values and values[-1][0] == len(steps) else MISSING
