"""Moments share what has not changed: they say what copies of everything would say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.detectors.rules import executed_cells, predict
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.heap import (
    BranchWatch,
    Scope,
    fields_of,
    is_unchanged,
    join,
    restore,
    snapshot,
)
from crane_core.detectors.rules.interpreter import Interpreter
from crane_core.detectors.rules.predict import Report
from crane_core.domain import Cell, CellRole, Setting
from tests.examples import examples

SIMPLE = [
    "rows = [4]",
    "rows.append(box)",
    "rows[0] = 'text'",
    "other = rows",
    "other = (rows, made)",
    "del other",
    "held['rows'] = rows",
    "held = {'a': held}",
    "held.pop('rows')",
    "box.rows = rows",
    "box.rows.append(1)",
    "box = Box()",
    "box.grow()",
    "made = take(rows)",
    "made = add()",
    "frame['c'] = 1",
    "frame = frame.drop(columns='a')",
    "same = frame",
    "grid = grid.T",
    "grid[0] = 2",
    "grid.reshape(4, 2)",
    "mystery(box, frame)",
    "mystery(held)",
    "rows[7]",
    "made + 'text'",
    "held['absent']",
    "absent",
    "at = 1 / 0",
]
IN_A_LOOP = ["break", "continue"]
START = """
import numpy as np, pandas as pd
from nowhere import mystery, unknown
class Box:
    def __init__(self):
        self.rows = [0]
    def grow(self):
        self.rows.append(self)
def take(given):
    if unknown:
        return [given]
    given.append(1)
    return given
def make():
    count = [0]
    def add():
        count.append(1)
        return count
    return add
add = make()
rows, made, held, box = [1, 2], 1, {'rows': [3]}, Box()
other, same = rows, None
frame, grid = pd.DataFrame({'a': [1, 2], 'b': [3, 4]}), np.zeros((2, 3))
"""


def indented(lines: Sequence[str]) -> str:
    return "\n".join(
        "    " + line for code in lines for line in code.split("\n")
    )


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map(indented)
    turns = st.lists(
        inner | st.sampled_from(IN_A_LOOP), min_size=1, max_size=3
    ).map(indented)
    return st.one_of(
        st.builds("if unknown:\n{}".format, body),
        st.builds("if unknown:\n{}\nelse:\n{}".format, body, body),
        st.builds("for at in unknown:\n{}".format, turns),
        st.builds("for at in range(2):\n{}".format, turns),
        st.builds("while unknown:\n{}".format, turns),
        st.builds("try:\n{}\nexcept ValueError:\n{}".format, body, body),
        st.builds("with mystery(rows):\n{}".format, body),
    )


PROGRAMS = st.lists(
    st.recursive(st.sampled_from(SIMPLE), blocks, max_leaves=6),
    min_size=1,
    max_size=5,
)


def shown(scope: Scope) -> str:
    """All that is known of names, where values that are one have one number."""
    numbers: dict[AbstractValue, int] = {}

    def text(value: Any) -> str:
        if isinstance(value, AbstractValue):
            if value in numbers:
                return f"#{numbers[value]}"
            numbers[value] = len(numbers)
            is_open = value.items is not None or value.members is not None
            parts = (
                value.facts,
                None if is_open else value.literal,
                value.items,
                value.members,
                value.attributes,
            )
            return f"#{numbers[value]} {value.type} {value.path} {value.words}({', '.join(map(text, parts))})"
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(
                    f"{key}: {text(part)}" for key, part in value.items()
                )
                + "}"
            )
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        return str(
            sorted(map(str, value))
            if isinstance(value, (set, frozenset))
            else value
        )

    return "\n".join(
        f"{name} = {text(abstract)}" for name, abstract in scope.names.items()
    )


def walked(
    codes: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[Report, list[str]]:
    """The report on the last cell, and what is known at the end of the cells before it and at its own."""
    interpreters: list[Interpreter] = []

    class Noted(Interpreter):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            interpreters.append(self)

    cells = [
        Cell("own", "own", "own", at, CellRole.EXECUTED, code)
        for at, code in enumerate(codes[:-1])
    ]
    cells.append(
        Cell("own", "own", "own", len(cells), CellRole.TARGET, codes[-1])
    )
    with monkeypatch.context() as patched:
        patched.setattr(executed_cells.interpreter, "Interpreter", Noted)
        patched.setattr(predict, "Interpreter", Noted)
        report = predict.findings(cells, None, Setting.CODE)
    return report, [
        shown(interpreter.memory.module) for interpreter in interpreters
    ]


def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """No content is kept: every moment copies everything, and everything is compared and set."""
    for name in ("fields", "last_fields"):
        monkeypatch.setattr(
            AbstractValue,
            name,
            property(lambda abstract: None, lambda abstract, value: None),
        )


@examples(150)
@given(PROGRAMS, PROGRAMS)
def test_sharing_changes_neither_findings_nor_what_is_known(
    before: list[str], target: list[str]
) -> None:
    codes = [START, "\n".join(before), "\n".join(target)]
    with pytest.MonkeyPatch.context() as monkeypatch:
        shared = walked(codes, monkeypatch)
        never(monkeypatch)
        assert walked(codes, monkeypatch) == shared


CHANGES: list[Callable[[AbstractValue], object]] = [
    lambda value: setattr(value, "type", "set"),
    lambda value: value.facts.update(length=9),
    lambda value: value.fact("labels").append("z"),
    lambda value: value.facts["labels"].append("z"),
    lambda value: setattr(value, "facts", {}),
    lambda value: value.attributes.pop("part"),
    lambda value: setattr(value, "attributes", {}),
    lambda value: (value.items if value.items is not None else []).append(
        AbstractValue()
    ),
    lambda value: setattr(value, "items", None),
    lambda value: value.drop(frozenset(["length"])),
    lambda value: value.forget(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_a_value_is_noticed_and_undone(
    change: Callable[[AbstractValue], object],
) -> None:
    part = AbstractValue("int", literal=1)
    value = AbstractValue(
        "list",
        {"length": 1, "labels": ["a"]},
        items=[part],
        attributes={"part": part},
    )
    scopes = [Scope({"value": value})]
    watch = BranchWatch(scopes)
    before = fields_of(value)
    change(value)
    watch.look(scopes)
    assert value in watch.changed
    assert not is_unchanged(value, before)
    restore(watch.start)
    assert is_unchanged(value, before)
    assert (value.type, value.fact("length"), value.fact("labels")) == (
        "list",
        1,
        ["a"],
    )
    assert value.items == [part]
    assert value.attributes == {"part": part}


def test_a_literal_that_is_changed_in_place_is_noticed() -> None:
    value = AbstractValue("set", literal={1})
    start = snapshot([Scope({"value": value})])
    value.literal.add(2)
    restore(start)
    assert value.literal == {1}


def test_a_moment_copies_only_what_has_changed() -> None:
    changed, other = (
        AbstractValue("list", items=[]),
        AbstractValue("list", items=[]),
    )
    scopes = [Scope({"changed": changed, "other": other})]
    first = snapshot(scopes)
    (changed.items or []).append(AbstractValue())
    changed.items = [*(changed.items or []), AbstractValue()]
    second = snapshot(scopes)
    assert second.values[other] is first.values[other]
    assert second.values[changed] is not first.values[changed]


def test_a_name_that_one_way_has_not_is_not_said_to_be_undefined() -> None:
    scope = Scope({"kept": AbstractValue("int", literal=1)})
    start = snapshot([scope])
    scope.names["new"] = None
    end = snapshot([scope])
    restore(start)
    join([end, start])
    assert scope.names["new"] is not None
    assert scope.names["kept"] is start.names[0][1]["kept"]


@pytest.mark.parametrize(
    "before",
    [
        *(
            "x = [1]\n" + step * 40
            for step in (
                "x = [x, x]\n",
                "x = x + x\n",
                "x += x\n",
                "x.extend(x)\n",
            )
        ),
        "x = [1]\n" + "x = (x, x)\n" * 40 + "d = {x: 1}",
        "a = [0] * 1000\nb = [a] * 1000\nc = [b] * 1000\nlen(c)",
        "'{:>{}}'.format('a', 10**11)",
        "'a\\tb'.expandtabs(tabsize=10**11)",
    ],
)
def test_what_would_fill_the_memory_is_not_computed(
    before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, _ = walked([before, "seen = [1]\nseen[5]"], monkeypatch)
    assert [finding.exception for finding in report.findings] == ["IndexError"]


@pytest.mark.parametrize(
    "before",
    [
        "rows = [1]\nrows.append(rows)",
        "d = {}\nd['d'] = d",
        "a = []\nb = [a]\na.append(b)",
    ],
)
def test_what_holds_itself_has_no_end_and_is_not_followed(
    before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, _ = walked([before, "seen = [1]\nseen[5]"], monkeypatch)
    assert [finding.exception for finding in report.findings] == ["IndexError"]
