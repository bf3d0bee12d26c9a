"""Runtime state as HTML: both versions side by side, differences marked, the paper's groups, hostile names harmless."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crane_core.domain import KernelState, Setting, VariableState
from crane_core.prompts.tagged_json import encode
from crane_core.ui.state_tree import MAX_FACTS, MAX_TEXT, n_different, state_html

TextOf = Callable[[str], str]


def state(variables: dict[str, VariableState], accesses: dict[str, Any] | None = None) -> str:
    return json.dumps(KernelState("mine", "a_1", Setting.RUNTIME, "notebook", variables, accesses or {}).to_json())


def frame(columns: int, rows: int = 5) -> VariableState:
    return VariableState(
        "<class 'pandas.core.frame.DataFrame'>",
        structure={"shape": encode((rows, columns))},
        representation={"dtypes": {f"c{i}": "int64" for i in range(columns)}},
        values={"head": "…"},
    )


def test_what_differs_is_open_and_marked(text_of: TextOf) -> None:
    html = state_html(state({"df": frame(2), "x": frame(1)}), state({"df": frame(3), "x": frame(1)}))
    shown = text_of(html)
    assert html.count('<details class="cw-var" open>') == 1
    assert html.count("differs</span>") == 1
    assert "(5, 2)" in shown
    assert "(5, 3)" in shown
    assert "pandas.core.frame.DataFrame" in shown


def test_groups_are_those_of_the_paper(text_of: TextOf) -> None:
    html = state_html(state({"df": frame(1)}), None)
    text_of(html)
    assert [f'class="cw-group cw-{letter}"' in html for letter in "SRV"] == [True, True, True]


def test_a_name_of_one_version_says_so(text_of: TextOf) -> None:
    assert "only crashing" in text_of(state_html(state({"x": frame(1)}), state({})))
    assert "only fixed" in text_of(state_html(None, state({"x": frame(1)})))


def test_accesses_stand_beside_variables(text_of: TextOf) -> None:
    shown = text_of(state_html(state({}, {"__method__df.plot": {"type": "method", "doc": "plots"}}), None))
    assert "df.plot (attribute or method)" in shown


def test_an_empty_state_says_what_it_means(text_of: TextOf) -> None:
    assert "uses no name" in text_of(state_html(state({}), state({})))
    assert "uses no name" in text_of(state_html(None, None))


def test_number_of_different_names() -> None:
    assert n_different(state({"a": frame(1), "b": frame(1)}), state({"a": frame(2), "b": frame(1), "c": frame(1)})) == 2
    assert n_different(None, None) == 0


def test_a_wide_frame_folds(text_of: TextOf) -> None:
    wide = VariableState("DataFrame", structure={f"column {i}": {"a": {"b": i}} for i in range(MAX_FACTS + 25)})
    assert "25 more facts that are the same" in text_of(state_html(state({"df": wide}), state({"df": wide})))


def test_hostile_names_types_and_values_are_text_and_bounded(text_of: TextOf, hostile: str) -> None:
    variable = VariableState(
        hostile,
        structure={hostile: hostile, "nested": {hostile: {hostile: {"deep": hostile}}}},
        representation={"dtype": hostile},
        values={"items": [hostile] * 20},
    )
    html = state_html(state({hostile: variable, "x": variable}, {hostile + "!": {hostile: hostile}}), None)
    text_of(html)
    assert "<script" not in html
    assert len(html) < 60 * MAX_TEXT * MAX_FACTS


def test_a_dictionary_of_many_is_bounded(text_of: TextOf) -> None:
    many = VariableState("dict", values={str(i): {"a": {"b": i}} for i in range(100_000)})
    html = state_html(state({"d": many}), state({"d": many}))
    text_of(html)
    assert len(html) < 1_000_000
    assert "99,960 more facts that are the same" in html
    assert "99,560 facts are not shown" in html


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(1.5) | st.text("a<&\"'$ ", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a<$", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
VARIABLES = st.builds(
    VariableState,
    st.text("a<'", max_size=9),
    *(st.dictionaries(st.text("a<", max_size=2), JSON, max_size=3) for _ in range(3)),
)


@settings(deadline=None)
@given(
    variables=st.dictionaries(st.text("ab_", max_size=3), VARIABLES, max_size=3),
    accesses=st.dictionaries(st.text("ab_", max_size=3), JSON, max_size=2),
)
def test_any_state_is_well_formed(
    text_of: TextOf, variables: dict[str, VariableState], accesses: dict[str, Any]
) -> None:
    one, other = state(variables, accesses), state(dict(list(variables.items())[:1]))
    text_of(state_html(one, other))
    text_of(state_html(other, one))
    assert n_different(one, one) == 0
