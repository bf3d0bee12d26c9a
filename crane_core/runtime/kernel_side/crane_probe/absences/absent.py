"""What the target asks for and will not find, and what the attributes that it takes hold.

Knows what is stored in the namespace and in objects. Refuses to state an absence where only running code would tell,
or where the target itself may have made the thing before.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import sys
from typing import Any, Iterator, Mapping, NamedTuple

from ..anatomy import Names, is_kind, module_dict
from ..bounds import Facts, stated, why
from ..chains.following import (
    Followed,
    Missing,
    chain_text,
    followed,
    may_gain_attributes,
    resolve_attribute,
    similar,
)
from ..chains.relevance import Needs
from ..kinds import CONTAINERS
from ..syntax.asked import ITEM, Chain, Steps
from ..syntax.evaluation import Import
from ..syntax.sources import Sources
from . import call_arguments, call_signatures, files_asked, finders

GROUPS = (
    "names",
    "attributes",
    "columns",
    "keys",
    "modules",
    "arguments",
    "files",
)
_BUILTIN = vars(builtins)
_GAIN_BY_CALLS = (
    "keras",
    "matplotlib",
    "scipy",
    "sklearn",
    "statsmodels",
    "tensorflow",
    "tf_keras",
    "torch",
)
"""Packages whose objects are given public attributes by calls alone, not by reading a property or looping over them."""


def absences(
    namespace: Names,
    needs: Needs,
    sources: Sources,
    unavailable: dict[str, str],
) -> Facts:
    """GROUPS by name: what is missing, each with the line that asks for it.

    A chain that cannot be followed is listed in `unavailable`.
    """
    absent: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    for group, fact in _of_chains(namespace, needs, sources, unavailable):
        if not any(_is_same(fact, other) for other in absent[group]):
            absent[group].append(fact)
    for imported in needs.imports:
        for group, fact in _of_import(imported, needs):
            absent[group].append(fact)
    # `exec`, `globals()` or `%run` may define anything: nothing is certain then.
    if needs.may_define_any:
        for group in ("names", "attributes"):
            absent[group] = [
                dict(fact, certain=False) for fact in absent[group]
            ]
    return absent


def _of_chains(
    namespace: Names,
    needs: Needs,
    sources: Sources,
    unavailable: dict[str, str],
) -> Iterator[tuple[str, Facts]]:
    """In the order of the target: an early call may make the file that a later one opens."""
    mentioned: set[str] = set()
    used: set[str] = set()
    files_may_come = needs.may_bring_files
    for chain in needs.chains:
        try:
            found = [
                *_of_chain(chain, namespace, needs, sources, mentioned),
                *_on_the_way(chain, namespace, used),
            ]
            mentioned |= files_asked.texts_given(chain)
            makes_files = files_asked.may_make_files(chain, namespace)
        # One chain that cannot be followed says nothing about the others.
        except Exception as error:  # noqa: BLE001 - whatever following meets becomes the reason
            unavailable[chain_text(chain.name, chain.steps)] = why(error)
            continue
        for group, fact in found:
            is_file = group == "files"
            may_come = is_file and (files_may_come or _may_be_made(fact, needs))
            yield group, dict(fact, certain=False) if may_come else fact
        files_may_come = files_may_come or makes_files


def _is_same(fact: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    # The same absence is asked for on many lines; the first of them is told.
    places = ("line", "certain", "via")
    return {key: fact[key] for key in fact if key not in places} == {
        key: other[key] for key in other if key not in places
    }


def _of_chain(
    chain: Chain,
    namespace: Names,
    needs: Needs,
    sources: Sources,
    mentioned: set[str],
) -> Iterator[tuple[str, Facts]]:
    if chain.name not in namespace:
        # A built-in name that is missing from the namespace is found by Python all the same.
        if chain.name not in _BUILTIN:
            yield "names", _missing_name(chain, namespace, needs, sources)
    # A name that the target itself gives another value has no facts in the kernel.
    elif chain.stored or chain.changed:
        return
    for fact in call_signatures.argument_mismatches(chain, namespace):
        yield "arguments", dict(fact, **_place(chain))
    for fact in files_asked.missing_files(chain, namespace, mentioned):
        yield "files", dict(fact, **_place(chain))
    for ask in call_arguments.asks(chain, namespace):
        yield (
            ask.missing.group,
            dict({"of": ask.of}, **ask.missing.fact, **_place(chain)),
        )


def _on_the_way(
    chain: Chain, namespace: Names, used: set[str]
) -> Iterator[tuple[str, Facts]]:
    """What is missing along a chain; `used` are names whose objects code may have given attributes, which it adds to.

    Such code is in many places: an operator, a loop, `with`, a property, a function that is given a part.
    """
    if chain.name not in namespace:
        return
    value = namespace[chain.name]
    named = {chain.name, *_named_with(value, namespace)}
    # Where it is changed in between, the old value's attributes prove nothing.
    if chain.stored or chain.changed:
        used.update(named)
        return
    reached = followed(value, chain.steps)
    for at, missing in reached.missing:
        # Of these libraries no attribute appears by reading; only a call (`fit`) adds it.
        by_calls = (
            str(missing.fact.get("type")).partition(".")[0] in _GAIN_BY_CALLS
        )
        # After a call on the way (`f().x`) the object is another one than the kernel holds.
        may_be_there = chain.called or (chain.name in used and not by_calls)
        if not (missing.may_come and may_be_there):
            yield missing.group, _located(missing, chain, at)
    if _may_run_code(chain, reached):
        used.update(named)


def _named_with(value: Any, namespace: Names) -> Iterator[str]:
    """The names of a class's objects: they have what the class is given."""
    if is_kind(value, type):
        # Setting `Model.x` gives it to every object of the class.
        yield from (
            name for name, held in namespace.items() if is_kind(held, value)
        )


def _may_run_code(chain: Chain, reached: Followed) -> bool:
    """Whether what the chain takes is computed, or handed on to what may give it attributes."""
    if len(chain.steps) not in reached.values:
        # What is not stored is computed, unless the chain breaks before its end.
        return not reached.missing
    end = reached.values[len(chain.steps)]
    return type(end) in CONTAINERS or may_gain_attributes(type(end))


def _may_be_made(fact: Mapping[str, Any], needs: Needs) -> bool:
    """Whether the target's code before the line that asks for a file may make it."""
    # Only imports on the lines before: a module may write files as it is loaded.
    modules = [
        imported.module
        for imported in needs.imports
        if imported.line <= fact["line"]
    ]
    return files_asked.may_be_made(
        fact["file"], fact["line"], needs.target, modules
    )


def _located(missing: Missing, chain: Chain, at: int) -> Facts:
    fact = dict(
        {"of": chain_text(chain.name, chain.steps[:at])}, **missing.fact
    )
    return dict(fact, **_place(chain))


def _place(chain: Chain) -> Facts:
    return dict(
        {"line": chain.line, "certain": chain.certain},
        **stated(via=list(chain.via)),
    )


def _missing_name(
    chain: Chain, namespace: Names, needs: Needs, sources: Sources
) -> Facts:
    """A name that is not defined: where it would be, where it was deleted, and names like it."""
    would = [place.to_json() for place in sources.would_define(chain.name)]
    deleted = sources.deleted(chain.name)
    meant = [
        name
        for name in similar(chain.name, namespace)
        if not name.startswith("_")
    ]
    fact = {
        "name": chain.name,
        **stated(
            would_be_defined_in=would,
            deleted_in=deleted and deleted.to_json(),
            similar=meant,
        ),
        **_place(chain),
    }
    # `from x import *` may bring any name.
    if any(imported.names == ("*",) for imported in needs.imports):
        fact["certain"] = False
    return fact


def _of_import(imported: Import, needs: Needs) -> Iterator[tuple[str, Facts]]:
    """A module that is not installed, or names that a loaded module does not have."""
    place = {"line": imported.line, "certain": imported.certain}
    # Where only running an import would tell, it stays unknown and nothing is said.
    if _is_findable(imported.module) is False:
        may_come = (
            needs.may_bring_modules
            or _runs_own_files(imported, needs)
            or finders.may_know(imported.module)
        )
        is_certain = imported.certain and not may_come
        yield (
            "modules",
            {
                "module": imported.module,
                "line": imported.line,
                "certain": is_certain,
            },
        )
    module = sys.modules.get(imported.module)
    # A module that has no dict of its own here was not loaded.
    for name in imported.names if module_dict(module) else ():
        # A submodule can be imported by name though the package has no such attribute yet.
        if name != "*" and _is_findable(f"{imported.module}.{name}") is False:
            for missing in resolve_attribute(module, name).missing:
                yield (
                    missing.group,
                    dict({"of": imported.module}, **missing.fact, **place),
                )


def _runs_own_files(imported: Import, needs: Needs) -> bool:
    """Whether the target imports a file of the notebook's folder before: its code may change what can be imported."""
    # A file of the notebook may change sys.path as it runs.
    before = {
        other.module.partition(".")[0]
        for other in needs.imports
        if other.line < imported.line
    }
    return any(
        name not in sys.modules and finders.is_in_folder(name)
        for name in before
    )


def _is_findable(module: str) -> bool | None:
    """Whether a module could be imported; None where only importing its parent would tell."""
    if module in sys.modules or module in sys.builtin_module_names:
        return True
    # Finding a submodule by importlib would import its parent, which runs its code.
    parent, _, _ = module.rpartition(".")
    if not parent:
        return _has_file(module, None)
    if parent not in sys.modules:
        return False if _is_findable(parent) is False else None
    path = module_dict(sys.modules[parent]).get("__path__")
    # A namespace package computes its path; a plain module has none, and so no submodules.
    return (
        _has_file(module, path)
        if type(path) is list
        else (False if path is None else None)
    )


def _has_file(module: str, path: list[str] | None) -> bool:
    """Asks the finders of files, archives and frozen modules; the working folder too, which the look leaves out."""
    # importlib.util.find_spec would ask every finder, and those of packages run code.
    of_files = (
        importlib.machinery.PathFinder,
        importlib.machinery.FrozenImporter,
    )
    if path is None and finders.is_in_folder(module):
        return True
    return any(
        finder.find_spec(module, path) is not None for finder in of_files
    )


def accesses(
    look: Any, namespace: Names, needs: Needs, unavailable: dict[str, str]
) -> Facts:
    """What the attributes hold that the target takes, by the chain's text; a method by its type.

    `via` names the functions of the notebook where they alone take an attribute.
    """
    found: Facts = {}
    direct = {
        text
        for chain in needs.chains
        if not chain.via
        for text in _attribute_texts(chain)
    }
    for chain in needs.chains:
        # Attributes of what the target sets are not those that the kernel holds now.
        if (
            chain.name not in namespace
            or chain.stored
            or not chain.n_attributes
        ):
            continue
        if len(found) >= look.limits.asked:
            break
        try:
            taken = dict(
                _taken(chain, namespace, chain.steps[: chain.n_attributes])
            )
        except Exception as error:  # noqa: BLE001 - whatever following meets becomes the reason
            unavailable[chain_text(chain.name, chain.steps)] = why(error)
            continue
        for text in [text for text in taken if text not in found]:
            entry = _entry(taken[text], look)
            found[text] = (
                entry if text in direct else dict(entry, via=list(chain.via))
            )
    return found


def _attribute_texts(chain: Chain) -> Iterator[str]:
    """The chain's beginnings that end in an attribute."""
    for at in range(1, chain.n_attributes + 1):
        yield chain_text(chain.name, chain.steps[:at])


def _entry(value: Any, look: Any) -> Facts:
    """What an attribute holds; a property is named by its type, as its value would need its code."""
    entry: Facts = (
        {"type": value.text} if type(value) is _Note else look.entry("", value)
    )
    return entry


class _Note(NamedTuple):
    text: str


def _taken(
    chain: Chain, namespace: Names, steps: Steps
) -> Iterator[tuple[str, Any]]:
    """What each attribute of the chain holds, or why that is not known."""
    reached = followed(namespace[chain.name], steps)
    is_indexed = (
        len(chain.steps) > len(steps) and chain.steps[len(steps)].kind == ITEM
    )
    # A property that is indexed is told with the item, not a second time.
    notes = [
        (at, _Note(note))
        for at, note in reached.notes
        if not (is_indexed and at == len(steps))
    ]
    for at, value in [*reached.values.items(), *notes]:
        if at:
            yield chain_text(chain.name, steps[:at]), value
