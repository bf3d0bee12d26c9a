"""What is taken out of a pipeline: its steps by name or by place."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.families.sklearn_estimators import steps
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

RULES: Final = Family("scikit-learn: parts of pipelines")
_PIPELINE: Final = "sklearn.Pipeline"
_BUNCH: Final = "sklearn.utils._bunch.Bunch"


def _steps(pipeline: Thing | None) -> list[tuple[str, Thing]] | None:
    """Those whose names are all known."""
    found = steps(pipeline) if pipeline is not None else None
    return None if found is None or any(name.startswith("step ") for name, _ in found) else found


@RULES.attribute(_PIPELINE, "named_steps")
def by_name(site: Site) -> Thing | None:
    """A Bunch: a dict whose keys are attributes too."""
    found = _steps(site.receiver)
    return None if found is None else Thing(_BUNCH, members=dict(found), words=site.text)


@RULES.attribute(_PIPELINE, "steps")
def in_order(site: Site) -> Thing | None:
    found = _steps(site.receiver)
    if found is None:
        return None
    return Thing("list", items=[Thing("tuple", items=[literal(name), part]) for name, part in found], words=site.text)


@RULES.item("sklearn.Bunch")
def step_named(site: Site) -> Thing | None:
    members, name = site.receiver.members if site.receiver is not None else None, site.first.literal
    if members is None or not isinstance(name, str):
        return None
    if name not in members:
        _refuse_name(site, name, list(members))
    return members[name]


@RULES.attribute("sklearn.Bunch")
def step_as_attribute(site: Site) -> Thing | None:
    members = site.receiver.members if site.receiver is not None else None
    return members.get(site.name) if members is not None else None


@RULES.item(_PIPELINE)
def step_taken(site: Site) -> Thing | None:
    """By name or place; a slice is a separate pipeline."""
    found, asked = _steps(site.receiver), site.first.literal
    if found is None:
        return None
    if isinstance(asked, str):
        named = dict(found)
        if asked not in named:
            _refuse_name(site, asked, list(named))
        return named[asked]
    if type(asked) is int and -len(found) <= asked < len(found):
        return found[asked][1]
    return Thing()


def _refuse_name(site: Site, name: str, names: list[str]) -> None:
    site.crash(
        "KeyError",
        f"the pipeline has no step {name!r}",
        fact=f"its steps are {', '.join(names)}",
        remedy=f"name one of them; make_pipeline calls them so: {names[-1]!r}" if names else "use one of its steps",
    )
