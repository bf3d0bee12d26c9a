"""Runtime state as HTML: both versions side by side, differences marked, the paper's groups, hostile names harmless."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import KernelState, Setting, VariableState
from crane_core.prompts.tagged_json import encode
from crane_core.runtime.kernel_side.crane_probe.absences.absent import GROUPS
from crane_core.ui.state_facts import MAX_TEXT
from crane_core.ui.state_tree import MAX_FACTS, n_different, state_html

TextOf = Callable[[str], str]


def state(
    variables: dict[str, VariableState], accesses: dict[str, Any] | None = None
) -> str:
    return json.dumps(
        KernelState(
            "mine",
            "a_1",
            Setting.RUNTIME,
            "notebook",
            variables,
            accesses or {},
        ).to_json()
    )


def frame(columns: int, rows: int = 5) -> VariableState:
    return VariableState(
        "<class 'pandas.core.frame.DataFrame'>",
        structure={"shape": encode((rows, columns))},
        representation={"dtypes": {f"c{i}": "int64" for i in range(columns)}},
        values={"head": "…"},
    )


def test_what_differs_is_open_and_marked(text_of: TextOf) -> None:
    html = state_html(
        state({"df": frame(2), "x": frame(1)}),
        state({"df": frame(3), "x": frame(1)}),
    )
    shown = text_of(html)
    assert html.count('<details class="cw-var" open>') == 1
    assert html.count("differs</span>") == 1
    assert "5 × 2" in shown
    assert "5 × 3" in shown
    assert "pandas.core.frame.DataFrame" in shown


def test_names_of_the_crash_line_come_first() -> None:
    variables = {name: frame(1) for name in ("z", "model", "y", "lo")}
    there = state(variables, {"__method__model_fit": "method"})
    html = state_html(
        there,
        state(variables | {"z": frame(2)}),
        crash_line="loss = model.fit(y)['lo']",
    )
    order = re.findall(r"<summary><code>(\w+)</code>", html)
    assert order == ["model_fit", "model", "y", "z", "lo"]
    assert html.count(">crash line</span>") == 3, "not the one in a text"


def test_groups_are_those_of_the_paper(text_of: TextOf) -> None:
    html = state_html(state({"df": frame(1)}), None)
    text_of(html)
    assert [f'class="cw-group cw-{letter}"' in html for letter in "SRV"] == [
        True,
        True,
        True,
    ]


def test_a_name_of_one_version_says_so(text_of: TextOf) -> None:
    assert "only crashing" in text_of(
        state_html(state({"x": frame(1)}), state({}))
    )
    assert "only fixed" in text_of(state_html(None, state({"x": frame(1)})))


def test_accesses_stand_beside_variables(text_of: TextOf) -> None:
    shown = text_of(
        state_html(
            state(
                {}, {"__method__df.plot": {"type": "method", "doc": "plots"}}
            ),
            None,
        )
    )
    assert "df.plotmethod" in shown


def test_an_empty_state_says_what_it_means(text_of: TextOf) -> None:
    assert "uses no name" in text_of(state_html(state({}), state({})))
    assert "uses no name" in text_of(state_html(None, None))


def test_number_of_different_names() -> None:
    assert (
        n_different(
            state({"a": frame(1), "b": frame(1)}),
            state({"a": frame(2), "b": frame(1), "c": frame(1)}),
        )
        == 2
    )
    assert n_different(None, None) == 0


def test_a_wide_frame_folds(text_of: TextOf) -> None:
    wide = VariableState(
        "DataFrame",
        structure={
            "items": {
                f"column {i}": {"a": {"b": i}} for i in range(MAX_FACTS + 25)
            }
        },
    )
    assert "25 more facts that are the same" in text_of(
        state_html(state({"df": wide}), state({"df": wide}))
    )


def test_hostile_names_types_and_values_are_text_and_bounded(
    text_of: TextOf, hostile: str
) -> None:
    variable = VariableState(
        hostile,
        structure={
            hostile: hostile,
            "nested": {hostile: {hostile: {"deep": hostile}}},
        },
        representation={"dtype": hostile},
        values={"items": [hostile] * 20},
    )
    html = state_html(
        state(
            {hostile: variable, "x": variable},
            {hostile + "!": {hostile: hostile}},
        ),
        None,
    )
    text_of(html)
    assert "<script" not in html
    assert len(html) < 60 * MAX_TEXT * MAX_FACTS


def test_a_dictionary_of_many_is_bounded(text_of: TextOf) -> None:
    many = VariableState(
        "dict",
        values={"items": {str(i): {"a": {"b": i}} for i in range(20_000)}},
    )
    html = state_html(state({"d": many}), state({"d": many}))
    text_of(html)
    assert len(html) < 1_000_000
    assert "19,960 more facts that are the same" in html
    assert "19,560 facts are not shown" in html


def captured(**members: Any) -> str:
    """The JSON text of a captured state (schema 2)."""
    return json.dumps(
        {"schema_version": 2, "variables": {}, "accesses": {}} | members
    )


FRAME = {
    "type": "pandas.DataFrame",
    "structure": {"shape": [3, 2]},
    "representation": {},
    "values": {"has_nan": False},
    "plus": {
        "representation": {"columns": ["a", "b"]},
        "values": {"duplicated_index": 1},
    },
    "docs": {"signature": "(right, how='inner')"},
    "assigned": {"cell": 1, "line": 1},
}
ABSENT = {
    "names": [
        {
            "name": "to_c",
            "would_be_defined_in": [{"cell": 4, "line": 1}],
            "line": 2,
            "certain": True,
        }
    ],
    "columns": [
        {
            "of": "df",
            "column": "yield",
            "similar": ["yield "],
            "line": 1,
            "certain": False,
        }
    ],
    "attributes": [],
}


def test_additions_stand_in_their_category_with_a_plus(text_of: TextOf) -> None:
    html = state_html(captured(variables={"df": FRAME}), None)
    shown = text_of(html)
    assert [
        f'class="cw-group cw-{mark[0]}" title' in html
        for mark in ("S", "R", "V")
    ] == [True] * 3
    assert [
        f">{mark}</div>" in html for mark in ("S", "R+", "V", "V+", "D")
    ] == [True] * 5
    assert "['a', 'b']" in shown
    assert "(right, how='inner')" in shown
    assert "beyond what the published extractor records" in html


def test_an_addition_that_differs_is_marked(text_of: TextOf) -> None:
    other = FRAME | {"plus": {"values": {"duplicated_index": 0}}}
    html = state_html(
        captured(variables={"df": FRAME}), captured(variables={"df": other})
    )
    text_of(html)
    assert html.count('cw-grid cw-differs"><div class="cw-group cw-V"') == 1
    assert (
        n_different(
            captured(variables={"df": FRAME}), captured(variables={"df": other})
        )
        == 1
    )


def test_where_a_name_was_assigned_is_no_difference(text_of: TextOf) -> None:
    moved = FRAME | {"assigned": {"cell": 2, "line": 9}}
    states = (
        captured(variables={"df": FRAME}),
        captured(variables={"df": moved}),
    )
    assert n_different(*states) == 0
    assert "differs" not in text_of(state_html(*states))


def test_what_the_target_asks_for_in_vain_stands_first(text_of: TextOf) -> None:
    html = state_html(
        captured(variables={"df": FRAME}, absent=ABSENT),
        captured(variables={"df": FRAME}),
    )
    shown = text_of(html)
    assert html.index("Absent") < html.index("<code>df</code>")
    assert "name to_c" in shown
    assert (
        "not there, used in line 2; code cell 4 (from 0) would define it and did not run"
        in shown
    )
    assert "column yield of df" in shown
    assert (
        "there is 'yield '; unless the target creates it or stops earlier"
        in shown
    )
    assert html.count("∅</div>") == 2
    assert n_different(captured(absent=ABSENT), captured()) == 2
    assert n_different(captured(absent=ABSENT), captured(absent=ABSENT)) == 0


def test_a_cell_is_told_by_the_number_under_which_it_is_shown(
    text_of: TextOf,
) -> None:
    shown = text_of(
        state_html(
            captured(absent=ABSENT),
            captured(absent=ABSENT),
            ({4: "7"}, {4: "9"}),
        )
    )
    assert "cell 7 would define it" in shown
    assert "cell 9 would define it" in shown


EVERY_KIND: dict[str, tuple[dict[str, Any], str, str]] = {
    "names": (
        {"name": "to_c", "deleted_in": {"cell": 3, "line": 1}},
        "name to_c",
        "deleted in code cell 3 (from 0)",
    ),
    "attributes": (
        {
            "of": "s",
            "type": "pandas.Series",
            "attribute": "str",
            "dtype": "int64",
            "why": ".str needs text",
        },
        "attribute str of s",
        ".str needs text, used in line 7; s is of type pandas.Series; its dtype is int64",
    ),
    "columns": (
        {
            "of": "df",
            "column": "b",
            "n_columns": 3,
            "asked_by": "sns.lineplot(\u2026)",
            "is_name_of_index_level": True,
        },
        "column b of df",
        "df has 3 columns; used by sns.lineplot(\u2026); a level of the index has this name",
    ),
    "keys": (
        {"of": "d", "key": 0, "keys": ["a", "b"]},
        "key 0 of d",
        "d has a, b",
    ),
    "modules": ({"module": "cv3"}, "module cv3", "not there, used in line 7"),
    "arguments": (
        {
            "of": "f",
            "why": "too many arguments by position",
            "given": 5,
            "taken": 3,
        },
        "arguments of f",
        "too many arguments by position, used in line 7; 5 are given; 3 are taken",
    ),
    "files": (
        {
            "of": "pd.read_csv(\u2026)",
            "file": "data.csv",
            "similar": ["Data.csv"],
            "via": ["read"],
        },
        "file data.csv of pd.read_csv(\u2026)",
        "there is Data.csv; within read",
    ),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_every_kind_of_absence_is_told_in_words(
    text_of: TextOf, kind: str
) -> None:
    item, what, words = EVERY_KIND[kind]
    shown = text_of(
        state_html(
            captured(absent={kind: [item | {"line": 7, "certain": True}]}),
            captured(),
        )
    )
    assert what in shown
    assert words in shown


def test_labels_and_positions_of_rows_are_told(text_of: TextOf) -> None:
    label = {"of": "df.loc", "label": 10472, "in": "index", "line": 1}
    position = {
        "of": "df.iloc",
        "index": 9,
        "in": "rows",
        "length": 5,
        "line": 2,
    }
    shown = text_of(
        state_html(captured(absent={"keys": [label, position]}), captured())
    )
    assert "label 10472 among the index of df.loc" in shown
    assert "index 9 among the rows of df.iloc" in shown
    assert "used in line 2; there are 5" in shown


def test_two_absences_of_one_name_are_both_told(text_of: TextOf) -> None:
    many = [
        {"of": "f", "argument": "n", "why": why, "line": 1}
        for why in ("given twice", "no such argument")
    ]
    shown = text_of(
        state_html(captured(absent={"arguments": many}), captured())
    )
    assert (
        "given twice, used in line 1; no such argument, used in line 1" in shown
    )


def test_absences_alone_are_no_empty_state(text_of: TextOf) -> None:
    assert "Absent" in text_of(state_html(captured(absent=ABSENT), captured()))


def test_what_could_not_be_looked_at_is_told_with_the_reason(
    text_of: TextOf,
) -> None:
    entry = {"type": "Slow", "unavailable": "it took more than 0.6 s"}
    state = captured(
        variables={"s": entry},
        unavailable={"s": "it took", "t": "the state is full"},
    )
    shown = text_of(state_html(state, None))
    assert "not looked into" in shown
    assert "it took more than 0.6 s" in shown
    assert "t was not examined" in shown
    assert "s was not examined" not in shown


def test_a_target_that_cannot_be_parsed_is_told(text_of: TextOf) -> None:
    assert "invalid syntax" in text_of(
        state_html(captured(syntax_error="invalid syntax, line 3"), None)
    )


def test_accesses_of_a_captured_state_are_told_apart(text_of: TextOf) -> None:
    shown = text_of(
        state_html(captured(accesses={"df.groupby": {"type": "method"}}), None)
    )
    assert "df.groupbymethod" in shown
    shown = text_of(
        state_html(
            captured(
                accesses={
                    "net.head": {"type": "torch.nn.modules.Linear"},
                    "a_b": {},
                }
            ),
            None,
        )
    )
    assert "net.headattribute, torch.nn.modules.Linear" in shown
    assert "a_battribute or method" in shown


def test_blanks_at_an_end_and_nothing_are_seen(text_of: TextOf) -> None:
    entry = {
        "type": "DataFrame",
        "representation": {"dtypes": {"kg ": "f8", "": "i8"}},
        "structure": {"layer": ""},
    }
    other = entry | {
        "representation": {"dtypes": {"kg": "f8", "": "i8"}},
        "values": {" kg": {"a": {"b": 1}}},
    }
    shown = text_of(
        state_html(
            captured(variables={"df": entry}), captured(variables={"df": other})
        )
    )
    assert "'kg '− f8+ –" in shown and "kg− –+ f8" in shown and "''i8" in shown
    assert "layer''" in shown and "' kg' › a" in shown


def test_marks_that_stand_in_a_state_are_explained_below_it(
    text_of: TextOf,
) -> None:
    html = state_html(captured(variables={"df": FRAME}, absent=ABSENT), None)
    legend = text_of(
        html.partition('<div class="cw-legend')[2].join(('<div class="', ""))
    )
    for words in (
        "S structure",
        "V values",
        "+ beyond",
        "D documentation",
        "∅ not there",
    ):
        assert words in legend
    assert "cw-legend" not in state_html(
        captured(variables={"x": {"type": "int"}}), None
    )
    assert "+ beyond" not in state_html(state({"df": frame(1)}), None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(1.5) | st.text("a<&\"'$ ", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a<$", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
VARIABLES = st.builds(
    VariableState,
    st.text("a<'", max_size=9),
    *(
        st.dictionaries(st.text("a<", max_size=2), JSON, max_size=3)
        for _ in range(3)
    ),
)


@given(
    variables=st.dictionaries(
        st.text("ab_", max_size=3), VARIABLES, max_size=3
    ),
    accesses=st.dictionaries(st.text("ab_", max_size=3), JSON, max_size=2),
)
def test_any_state_is_well_formed(
    text_of: TextOf,
    variables: dict[str, VariableState],
    accesses: dict[str, Any],
) -> None:
    one, other = (
        state(variables, accesses),
        state(dict(list(variables.items())[:1])),
    )
    text_of(state_html(one, other))
    text_of(state_html(other, one))
    assert n_different(one, one) == 0


MEMBERS = [
    "name",
    "index",
    "of",
    "in",
    "line",
    "why",
    "shape",
    "similar",
    "certain",
    "via",
]
ABSENCES = st.dictionaries(
    st.sampled_from([*GROUPS, "a<b"]),
    JSON
    | st.lists(
        st.dictionaries(st.sampled_from(MEMBERS), JSON),
        max_size=2,
    ),
    max_size=3,
)


@given(
    absent=ABSENCES,
    missing=st.dictionaries(st.text("a<", max_size=2), JSON, max_size=2),
    variables=JSON,
)
def test_any_captured_state_is_well_formed(
    text_of: TextOf,
    absent: dict[str, Any],
    missing: dict[str, Any],
    variables: Any,
) -> None:
    entry = {
        "type": "x",
        "structure": {"a": variables},
        "plus": {"values": {"b": variables}},
        "docs": {"c": variables},
    }
    state = captured(variables={"x": entry}, absent=absent, unavailable=missing)
    text_of(state_html(state, captured()))
    text_of(state_html(captured(), state))
    assert n_different(state, state) == 0


def test_names_that_are_asked_for_are_open_from_the_start() -> None:
    state = json.dumps(
        {"variables": {"a": {"type": "int"}, "b": {"type": "int"}}}
    )
    html = state_html(state, state, opened=frozenset({"b"}))
    assert html.count("<details") == 2
    assert (
        html.count('<details class="cw-var" open><summary><code>b</code>') == 1
    )


def test_a_column_is_one_row_with_its_dtype_and_values(text_of: TextOf) -> None:
    columns = {
        "kg": {
            "num_unique": 17,
            "value_range": [0.1234567, 3.6],
            "has_nan": False,
            "value_type": "continuous",
        }
    }
    frames = [
        FRAME
        | {
            "representation": {"dtypes": {"kg": kind}},
            "values": {"per_column": columns},
        }
        for kind in ("str", "float64")
    ]
    html = state_html(
        captured(variables={"df": frames[0]}),
        captured(variables={"df": frames[1]}),
    )
    assert (
        "kg− str+ float64range 0.12346 to 3.6; 17 distinct; none missing"
        in text_of(html)
    )
    assert html.count("cw-columns cw-differs") == 1
    alone = text_of(state_html(captured(variables={"df": frames[0]}), None))
    assert "kgstrrange 0.12346" in alone
    assert "– str" not in alone


def test_columns_that_decide_nothing_fold_beside_one_that_does(
    text_of: TextOf,
) -> None:
    frame = FRAME | {"representation": {"dtypes": {"kg ": "f8", "bed": "str"}}}
    missing = {
        "of": "df",
        "column": "kg",
        "n_columns": 2,
        "similar": ["kg "],
        "line": 1,
    }
    state = captured(variables={"df": frame}, absent={"columns": [missing]})
    html = state_html(state, state)
    assert "df has 2 columns, among them 'kg '" in text_of(html)
    before, _, behind = html.partition("1 more column<")
    assert "&#x27;kg" in before and ">bed<" not in before
    assert ">bed<" in behind


def test_a_frame_without_dtypes_has_no_empty_column_for_them(
    text_of: TextOf,
) -> None:
    bare = FRAME | {
        "representation": {},
        "values": {"per_column": {"kg": {"num_unique": 17}}},
    }
    html = state_html(captured(variables={"df": bare}), None)
    assert "columnV valueskg17 distinct" in text_of(html)
    assert "dtype" not in text_of(html)


def test_columns_beyond_a_bound_fold_and_then_are_counted(
    text_of: TextOf,
) -> None:
    many = FRAME | {
        "representation": {"dtypes": {f"c{i}": "int64" for i in range(5_000)}}
    }
    shown = text_of(
        state_html(
            captured(variables={"df": many}), captured(variables={"df": many})
        )
    )
    assert "4,970 more columns" in shown
    assert "4,570 columns are not shown" in shown


def test_long_floats_are_rounded_but_never_until_two_read_the_same(
    text_of: TextOf,
) -> None:
    def of(value: object) -> str:
        return captured(
            variables={
                "x": {
                    "type": "float",
                    "structure": {},
                    "representation": {},
                    "values": {"is": value},
                }
            }
        )

    assert "0.33333" in text_of(state_html(of(1 / 3), of(1 / 3)))
    assert "0.3333333333333333" not in text_of(state_html(of(1 / 3), of(1 / 3)))
    shown = text_of(state_html(of(0.1234567), of(0.1234568)))
    assert "0.1234567" in shown and "0.1234568" in shown
    assert "'0.123456789'" in text_of(state_html(of(["0.123456789"]), None))


def test_the_column_that_decides_comes_first_and_is_marked() -> None:
    columns = {name: {"num_unique": 2} for name in ("a", "b", "kg ")}
    held = FRAME | {"values": {"per_column": columns}}
    absent = {"columns": [{"column": "kg", "of": "df", "similar": ["kg "]}]}
    sought = captured(variables={"df": held}, absent=absent)
    present = captured(variables={"df": held})
    for document, line, first in (
        (sought, "df['b'] + df['kg']", "&#x27;kg"),
        (present, "df['b'] + 1", "b<"),
    ):
        html = state_html(document, document, crash_line=line)
        [decisive] = re.findall(r"cw-decides.*?<code>(.*?)</div>", html)
        assert decisive.startswith(first)
        assert html.index("cw-decides") < html.index("<code>a</code>")
