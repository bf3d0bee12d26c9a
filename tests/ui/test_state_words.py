"""Every field that the probe can write has words, or is known to be shown raw."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import crane_core
from crane_core.ui.state_columns import values_words
from crane_core.ui.state_tree import state_html
from crane_core.ui.state_words import COLUMN_SENTENCES, FIELD_WORDS, value_words

PROBE = (
    Path(str(crane_core.__file__)).parent / "runtime/kernel_side/crane_probe"
)
WRITERS = ("summarizers", "contents", "callables")
"""Folders whose functions write the facts of values."""
GIVERS = {"stated", "dict"}
"""Calls whose keywords become fields."""


def fields_of(tree: ast.AST) -> Iterator[str]:
    """Names that functions give to facts: keys of their dictionaries, keywords of `stated` and `dict`."""
    functions = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    )
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Dict):
                for key in node.keys:
                    if isinstance(key, ast.Constant):
                        yield str(key.value)
            elif getattr(getattr(node, "func", None), "id", "") in GIVERS:
                keywords = getattr(node, "keywords", [])
                yield from (word.arg for word in keywords if word.arg)


def written() -> set[str]:
    return {
        field
        for folder in WRITERS
        for path in (PROBE / folder).rglob("*.py")
        for field in fields_of(ast.parse(path.read_text("utf-8")))
    }


RAW = {
    "advanced",
    "after",
    "asked_items",
    "batch[0]",
    "batch[1]",
    "in",
    "containers",
    "groupby",
    "inside",
    "pivot_table",
    "plus",
    "not_computed",
    "representation",
    "sections",
    "similar",
    "spec",
    "stored",
    "structure",
    "target",
    "unfinished",
    "untouched",
}
"""Names of groups and of what no fact is led by; and fields that only an expert reads."""


def test_every_field_of_the_probe_has_words_or_is_known_to_be_raw() -> None:
    assert sorted(
        written() - FIELD_WORDS.keys() - COLUMN_SENTENCES.keys()
    ) == sorted(RAW)


def html_of(entry: dict[str, Any]) -> str:
    state = json.dumps({"variables": {"x": entry}})
    return state_html(state, state)


def test_facts_are_told_in_words(text_of: Callable[[str], str]) -> None:
    info = {
        "num_unique": 4,
        "value_range": [1.0, 2.0],
        "has_nan": False,
        "n_read_as_numbers": 4,
        "texts_look_like": "numbers",
    }
    entry = {
        "type": "ndarray",
        "structure": {"shape": [4]},
        "representation": {"writeable": False},
        "values": {"value_info": info, "value_range": [1.0, 2.0]},
    }
    html = html_of(entry)
    shown = text_of(html)
    assert (
        "range 1.0 to 2.0; 4 distinct; none missing; "
        "4 strings can be read as numbers; strings look like numbers" in shown
    )
    assert "writableno" in shown
    assert "range1.0 to 2.0" in shown
    assert not any(name in html for name in ("value_info", "writeable", "_nan"))


def test_shapes_and_labels_of_rows_are_told_in_words() -> None:
    assert value_words("shape", "[30, 4]") == "30 × 4"
    assert value_words("shape", "[30]") == "[30]"
    assert (
        value_words("sample_shapes", "[[2, 3], [1, 2]]") == "[[2, 3], [1, 2]]"
    )
    index = "type RangeIndex, length 30, range [0, 30, 1], unique True"
    assert (
        value_words("index", index)
        == "type RangeIndex, length 30, from 0 to 29, each label once"
    )
    empty = "type RangeIndex, length 0, range [0, 0, 1], unique True"
    assert "range [0, 0, 1]" in value_words("index", empty)
    doubled = "type Index, length 2, unique False"
    assert value_words("index", doubled).endswith("with repeated labels")


def test_a_field_without_words_folds_under_raw_and_one_that_differs_stays(
    text_of: Callable[[str], str],
) -> None:
    entry = {"type": "x", "structure": {"shape": [1], "odd_field": 1}}
    assert "shape[1]1 raw" in text_of(html_of(entry))
    other = {"type": "x", "structure": {"shape": [1], "odd_field": 2}}
    html = state_html(
        *(json.dumps({"variables": {"x": one}}) for one in (entry, other))
    )
    assert html.index("odd_field") < html.index("<details>")


def test_missing_values_of_a_column_are_counted_where_they_are_known() -> None:
    assert values_words({"n_nan": 3, "has_nan": True}) == "3 missing"
    assert values_words({"has_nan": True}) == "some missing"
    assert values_words({"num_unique_at_least": 9}) == "at least 9 distinct"
