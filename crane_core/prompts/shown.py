"""The parts of a kernel state that a setting shows: categories, additions, documentation, absences.

Knows the settings (paper, sections 3.3 and 4.5). Refuses to know how anything is written.

An ablation takes one category away and nothing else. The published ablations take more: the place of the assignment,
the dtype and kind of every column, the dataset inside a DataLoader, and every entry that is left empty. Here all of
that stays, so a name whose facts are all withheld still shows that it is there.

One published fact may hold several categories: a table of columns, a dataset inside a loader, the preview of a dict.
"""

import re
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from crane_core.domain import JsonObject, KernelState, Setting, VariableState
from crane_core.errors import PromptError
from crane_core.prompts import categories
from crane_core.prompts.categories import REPRESENTATION, VALUES, group_of
from crane_core.prompts.tagged_json import decode, encode

CAPTURED = 2
"""`schema_version` of our own captures; 1 is a published state."""

GROUPS = frozenset(
    {categories.STRUCTURE, categories.REPRESENTATION, categories.VALUES}
)
PUBLISHED_DOCS = frozenset({"signature", "doc_importants", "context"})
"""Keys under which the published extractor put the documentation of a callable."""

_DIRECT = re.compile(r"\w+\.\w+")
_WITH_DOCS = frozenset({Setting.RUNTIME_DOCS, Setting.RUNTIME_PLUS})
_GIVES = {
    Setting.RUNTIME: frozenset({Setting.RUNTIME, *categories.GROUP_LEFT_OUT}),
    Setting.RUNTIME_DOCS: frozenset(
        {Setting.RUNTIME, Setting.RUNTIME_DOCS, *categories.GROUP_LEFT_OUT}
    ),
}
"""What can be shown of a published state, by the setting under which it was published; otherwise itself alone."""
NOTHING: Any = object()
"""What is left of a fact whose categories are all withheld."""
_COLUMN_TABLES = ("per_column", "per_column_max_20")
_ENTRIES = ("dataset", "underlying_dataset")
_TABLES = ("dataset_info",)
_LISTS = ("preview",)


def can_show(state: KernelState, setting: Setting) -> bool:
    """Whether the state holds what the setting shows."""
    if state.schema_version >= CAPTURED:
        return setting is not Setting.CODE
    return setting in _GIVES.get(state.setting, frozenset({state.setting}))


def shown(state: KernelState, setting: Setting) -> KernelState:
    """The state without what the setting withholds. Raises PromptError for what the state does not hold."""
    if not can_show(state, setting):
        raise PromptError(
            f"The runtime state of {state.instance_id} was published as {state.setting}, without {setting}.",
            remedy="Pass the path of the notebook instead: its state is captured again.",
        )
    is_captured = state.schema_version >= CAPTURED
    view = _captured if is_captured else _published
    # The paper's filter keeps what the target itself names; what its functions need is our addition, in
    # runtime+ alone.
    seen = (
        _as_the_paper_filters(state)
        if is_captured and setting is not Setting.RUNTIME_PLUS
        else state
    )
    variables = {
        name: view(variable, state, setting)
        for name, variable in seen.variables.items()
    }
    entries = {
        name: VariableState.from_json(entry)
        for name, entry in seen.accesses.items()
    }
    accesses = {
        name: view(entry, state, setting).to_json()
        for name, entry in entries.items()
    }
    everything = replace(
        state, setting=setting, variables=variables, accesses=accesses
    )
    if setting is Setting.RUNTIME_PLUS:
        return everything
    # The published extractor never said what is missing, so only runtime+ does.
    return replace(everything, absent={}, unavailable={}, syntax_error=None)


def _as_the_paper_filters(state: KernelState) -> KernelState:
    """Names that the target itself spells, and the attributes it takes from them directly (paper, section 3.1)."""
    variables = {
        name: variable
        for name, variable in state.variables.items()
        if not variable.via
    }
    direct = {
        name: entry
        for name, entry in state.accesses.items()
        if name.partition(".")[0] in variables
    }
    accesses = {
        name: entry
        for name, entry in direct.items()
        if _DIRECT.fullmatch(name) and not entry.get("via")
    }
    return replace(state, variables=variables, accesses=accesses)


def groups_of(setting: Setting) -> Set[str]:
    """The categories that a runtime setting shows."""
    return (
        GROUPS - {categories.GROUP_LEFT_OUT[setting]}
        if setting in categories.GROUP_LEFT_OUT
        else GROUPS
    )


def _captured(
    variable: VariableState, state: KernelState, setting: Setting
) -> VariableState:
    groups, is_plus = groups_of(setting), setting is Setting.RUNTIME_PLUS
    facts = {
        group: getattr(variable, group) if group in groups else {}
        for group in GROUPS
    }
    if is_plus:
        facts = {
            group: merged(facts[group], variable.plus.get(group, {}))
            for group in GROUPS
        }
    return VariableState(
        type=variable.type if categories.REPRESENTATION in groups else "",
        structure=facts[categories.STRUCTURE],
        representation=facts[categories.REPRESENTATION],
        values=facts[categories.VALUES],
        assigned=variable.assigned,
        docs=variable.docs if setting in _WITH_DOCS else {},
        unavailable=variable.unavailable if is_plus else None,
        via=variable.via if is_plus else [],
    )


def _published(
    variable: VariableState, state: KernelState, setting: Setting
) -> VariableState:
    # As it was published: the study's detectors were shown exactly this.
    if setting is state.setting:
        return variable
    groups = groups_of(setting)
    return VariableState(
        type=variable.type if categories.REPRESENTATION in groups else "",
        structure=_facts(variable.structure, groups),
        representation=_facts(variable.representation, groups),
        values=_facts(variable.values, groups),
        assigned=variable.assigned,
    )


def _facts(facts: Mapping[str, Any], groups: Set[str]) -> JsonObject:
    parts = {
        key: kept(key, decode(value), groups)
        for key, value in facts.items()
        if key not in PUBLISHED_DOCS
    }
    return {
        key: encode(part) for key, part in parts.items() if part is not NOTHING
    }


def merged(base: Mapping[str, Any], plus: Mapping[str, Any]) -> JsonObject:
    """Both; dicts of one key are merged, and of two other facts under one key the addition says it better."""
    both = dict(base)
    for key, value in plus.items():
        known = base.get(key)
        both[key] = (
            merged(known, value)
            if isinstance(known, dict) and isinstance(value, dict)
            else value
        )
    return both


def kept(key: str, value: Any, groups: Set[str]) -> Any:
    """The part of the fact `key` that belongs to `groups`, or NOTHING; what groups together keep is what each keeps."""
    if isinstance(value, dict):
        if key in _COLUMN_TABLES:
            return _columns(value, groups)
        if key in _ENTRIES:
            return _filled(_entry(value, groups))
        if key in _TABLES:
            parts = {
                name: _part(entry, groups) for name, entry in value.items()
            }
            return _filled({name: part for name, part in parts.items() if part})
    is_list = key in _LISTS and isinstance(value, list)
    if is_list and all(isinstance(item, dict) for item in value):
        items = [_entry(item, groups) for item in value]
        return items if any(items) else NOTHING
    return value if group_of(key) in groups else NOTHING


def _columns(table: dict[Any, Any], groups: Set[str]) -> Any:
    """The names of columns are the schema, R; of a column's own facts the dtype is R and the rest V."""
    parts = {name: _column(facts, groups) for name, facts in table.items()}
    return _filled(
        parts
        if REPRESENTATION in groups
        else {name: part for name, part in parts.items() if part}
    )


def _column(facts: Any, groups: Set[str]) -> Any:
    if not isinstance(facts, dict):
        return facts if VALUES in groups else {}
    return {
        key: value
        for key, value in facts.items()
        if (REPRESENTATION if key == "dtype" else VALUES) in groups
    }


def _part(entry: Any, groups: Set[str]) -> Any:
    # Only tables are divided here; a text or a number stays as it is.
    return _entry(entry, groups) if isinstance(entry, dict) else entry


def _entry(entry: dict[Any, Any], groups: Set[str]) -> dict[Any, Any]:
    parts = {key: kept(str(key), value, groups) for key, value in entry.items()}
    return {key: part for key, part in parts.items() if part is not NOTHING}


def _filled(part: dict[Any, Any]) -> Any:
    return part or NOTHING
