"""From cells and state to the exact text: published inputs come out byte for byte, our own as the golden texts say."""

from __future__ import annotations

import hashlib
import json
import pprint
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import (
    Cell,
    CellRole,
    KernelState,
    Setting,
    VariableState,
)
from crane_core.errors import PromptError
from crane_core.prompts.categories import GROUP_LEFT_OUT
from crane_core.prompts.published import (
    InputText,
    join_input,
    parse_block,
    split_input,
)
from crane_core.prompts.render import MAX_BODY, MAX_CELL, body, render
from crane_core.prompts.template import PLACEHOLDER, Template, template_for

ORIGIN = "crane-llm-2025-10"
BARE = Template("bare", PLACEHOLDER)


def cell(
    position: int,
    code: str,
    role: CellRole = CellRole.EXECUTED,
    notebook_index: int | None = None,
) -> Cell:
    return Cell(
        "mine",
        "trip_1_reproduced",
        "notebook",
        position,
        role,
        code,
        notebook_index=notebook_index,
    )


def cells_of(parts: InputText) -> list[Cell]:
    executed = [
        cell(position, code) for position, code in enumerate(parts.executed)
    ]
    return [*executed, cell(len(executed), parts.target, CellRole.TARGET)]


def stored(block: str, setting: Setting) -> KernelState:
    """The state as it comes out of the store: parsed, written as JSON text, read again."""
    parsed = parse_block(block)
    state = KernelState(
        "junobench",
        "x",
        setting,
        ORIGIN,
        parsed.variables,
        parsed.accesses,
        parsed.is_literal,
    )
    document = json.loads(json.dumps(state.to_json(), allow_nan=False))
    return KernelState.from_json(
        document,
        benchmark="junobench",
        instance_id="x",
        setting=setting,
        origin=ORIGIN,
    )


def test_published_inputs_come_out_byte_for_byte(
    input_texts: dict[str, str],
) -> None:
    """222 of 222 in `code` and 222 of 222 in `runtime`, the 28 blocks that are not literals among them."""
    same = {Setting.CODE: 0, Setting.RUNTIME: 0}
    for path, text in input_texts.items():
        setting = (
            Setting.RUNTIME
            if "/executed_code_runinfo/" in path
            else Setting.CODE
        )
        parts = split_input(text)
        state = None if parts.block is None else stored(parts.block, setting)
        assert body(cells_of(parts), state, setting) == text, path
        same[setting] += 1
    assert same == {Setting.CODE: 222, Setting.RUNTIME: 222}


@pytest.mark.slow
def test_an_ablation_of_a_published_input_keeps_cells_and_names(
    runtime_texts: dict[str, str],
) -> None:
    for text in runtime_texts.values():
        parts = split_input(text)
        whole = stored(str(parts.block), Setting.RUNTIME)
        for setting in GROUP_LEFT_OUT:
            ablated = split_input(body(cells_of(parts), whole, setting))
            assert (ablated.executed, ablated.target) == (
                parts.executed,
                parts.target,
            )
            block = parse_block(str(ablated.block))
            assert list(block.variables) == list(whole.variables)
            assert block.accesses.keys() == whole.accesses.keys()
            assert {
                name: entry.assigned for name, entry in block.variables.items()
            } == {
                name: entry.assigned for name, entry in whole.variables.items()
            }


def test_the_later_indentation_of_wide_frames_is_repeated() -> None:
    """The later release printed `_74` (the number of columns) in the key and took it out of the text afterwards."""
    columns = {
        "SepalLength": {
            "dtype": "float64",
            "num_unique": 115,
            "value_range": (21.0, 200.0),
        }
    }
    entry = {
        "type": "pandas.core.frame.DataFrame",
        "shape": (30, 74),
        "per_column_max_20_74": columns,
    }
    block = pprint.pformat({"iris": entry}).replace("max_20_74", "max_20")
    assert "(21.0,\n" in block
    parts = InputText((), block, "x")
    assert body(
        cells_of(parts), stored(block, Setting.RUNTIME), Setting.RUNTIME
    ) == join_input(parts)


STATE = KernelState(
    "mine",
    "trip_1_reproduced",
    Setting.RUNTIME_PLUS,
    "capture",
    {
        "df": VariableState(
            "pandas.core.frame.DataFrame",
            structure={"shape": [3, 2]},
            representation={"columns": {"a": "int64", "é": "object"}},
            values={"has_nan": False},
            assigned={"cell": 4, "line": 2},
            plus={
                "values": {"duplicated_index": 1},
                "representation": {"columns": {"z": "bool"}},
            },
        ),
        "api_key": VariableState(
            "str", structure={"length": 7}, values={"value": "hunter2"}
        ),
    },
    accesses={
        "df.merge": {
            "type": "method",
            "structure": {},
            "representation": {},
            "values": {},
            "docs": {"signature": "(right, how='inner')"},
        }
    },
    schema_version=2,
    absent={"names": [], "columns": [{"of": "df", "column": "b"}]},
    unavailable={"slow": "looking at it took more than 0.6 s"},
)
CELLS = [
    cell(1, "df = load()\ndf = df.T", notebook_index=4),
    cell(0, "import pandas as pd", notebook_index=1),
    cell(3, "never()", CellRole.NOT_RUN, 2),
    cell(2, "df.merge(df['b'])", CellRole.TARGET, 5),
]
HEAD = """\
# Executed Cells:
## Cell 1:
import pandas as pd

## Cell 2:
df = load()
df = df.T

"""
GOLDEN = {
    Setting.CODE: "",
    Setting.RUNTIME: """\
{"variables": {
"api_key": {"type": "str",
 "structure": {"length": 7},
 "values": {"value": "<secret of 7 characters>"}},
"df": {"type": "pandas.core.frame.DataFrame", "assigned": "cell 2, line 2",
 "structure": {"shape": [3, 2]},
 "representation": {"columns": {"a": "int64", "é": "object"}},
 "values": {"has_nan": false}}},
"accesses": {
"df.merge": {"type": "method"}}}""",
    Setting.RUNTIME_WITHOUT_S: """\
{"variables": {
"api_key": {"type": "str",
 "values": {"value": "<secret of 7 characters>"}},
"df": {"type": "pandas.core.frame.DataFrame", "assigned": "cell 2, line 2",
 "representation": {"columns": {"a": "int64", "é": "object"}},
 "values": {"has_nan": false}}},
"accesses": {
"df.merge": {"type": "method"}}}""",
    Setting.RUNTIME_WITHOUT_R: """\
{"variables": {
"api_key": {"structure": {"length": 7},
 "values": {"value": "<secret of 7 characters>"}},
"df": {"assigned": "cell 2, line 2",
 "structure": {"shape": [3, 2]},
 "values": {"has_nan": false}}},
"accesses": {
"df.merge": {}}}""",
    Setting.RUNTIME_WITHOUT_V: """\
{"variables": {
"api_key": {"type": "str",
 "structure": {"length": 7}},
"df": {"type": "pandas.core.frame.DataFrame", "assigned": "cell 2, line 2",
 "structure": {"shape": [3, 2]},
 "representation": {"columns": {"a": "int64", "é": "object"}}}},
"accesses": {
"df.merge": {"type": "method"}}}""",
    Setting.RUNTIME_DOCS: """\
{"variables": {
"api_key": {"type": "str",
 "structure": {"length": 7},
 "values": {"value": "<secret of 7 characters>"}},
"df": {"type": "pandas.core.frame.DataFrame", "assigned": "cell 2, line 2",
 "structure": {"shape": [3, 2]},
 "representation": {"columns": {"a": "int64", "é": "object"}},
 "values": {"has_nan": false}}},
"accesses": {
"df.merge": {"type": "method",
 "docs": {"signature": "(right, how='inner')"}}}}""",
    Setting.RUNTIME_PLUS: """\
{"variables": {
"api_key": {"type": "str",
 "structure": {"length": 7},
 "values": {"value": "<secret of 7 characters>"}},
"df": {"type": "pandas.core.frame.DataFrame", "assigned": "cell 2, line 2",
 "structure": {"shape": [3, 2]},
 "representation": {"columns": {"a": "int64", "z": "bool", "é": "object"}},
 "values": {"duplicated_index": 1, "has_nan": false}}},
"accesses": {
"df.merge": {"type": "method",
 "docs": {"signature": "(right, how='inner')"}}},
"absent": {"columns": [{"column": "b", "of": "df"}]},
"unavailable": {"slow": "looking at it took more than 0.6 s"}}""",
}


@pytest.mark.parametrize("setting", Setting)
def test_our_own_input_in_each_setting(setting: Setting) -> None:
    block = (
        f"# Current relevent runtime information:\n{GOLDEN[setting]}\n"
        if GOLDEN[setting]
        else ""
    )
    expected = f"{HEAD}{block}# Target Cell:\ndf.merge(df['b'])"
    prompt = render(CELLS, STATE, setting, BARE)
    assert prompt.text == expected
    assert prompt.sha256 == hashlib.sha256(expected.encode()).hexdigest()
    assert (prompt.benchmark, prompt.instance_id, prompt.setting) == (
        "mine",
        "trip_1_reproduced",
        setting,
    )
    assert prompt.origin == "notebook in bare"


@pytest.mark.parametrize(
    "setting", [setting for setting in Setting if setting is not Setting.CODE]
)
def test_our_own_block_is_json(setting: Setting) -> None:
    assert json.loads(GOLDEN[setting]).keys() >= {"variables", "accesses"}


def test_the_prompt_of_a_text_is_the_same_again() -> None:
    """A prompt is addressed by its text: what changes this hash makes every answer that was paid for another one's."""
    assert render(CELLS, STATE, Setting.CODE, BARE).sha256 == (
        "db1e1e1fa76c7d0a82cf26efe8f07df6571bfad2f0fb39997ea2dda5f9236df3"
    )


def test_our_own_protocol_is_put_around() -> None:
    for setting in Setting:
        words = template_for(setting).text
        assert render(CELLS, STATE, setting).text == words.replace(
            PLACEHOLDER, body(CELLS, STATE, setting)
        )
        assert (
            render(CELLS, STATE, setting).origin
            == f"notebook in {template_for(setting).name}"
        )


def test_a_state_without_names_is_an_empty_object() -> None:
    empty = KernelState(
        "mine",
        "trip_1_reproduced",
        Setting.RUNTIME_PLUS,
        "capture",
        {},
        schema_version=2,
    )
    assert split_input(body(CELLS, empty, Setting.RUNTIME_PLUS)).block == "{}"


def test_places_are_told_in_the_numbers_that_the_prompt_shows() -> None:
    missing = {
        "name": "k",
        "would_be_defined_in": [{"cell": 2, "line": 9}],
        "deleted_in": {"cell": 1, "line": 3},
    }
    state = KernelState(
        "mine",
        "x",
        Setting.RUNTIME_PLUS,
        "capture",
        {},
        schema_version=2,
        absent={"names": [missing]},
    )
    assert json.loads(
        str(split_input(body(CELLS, state, Setting.RUNTIME_PLUS)).block)
    ) == {
        "absent": {
            "names": [
                {
                    "name": "k",
                    "would_be_defined_in": ["a cell that did not run, line 9"],
                    "deleted_in": "cell 1, line 3",
                }
            ]
        }
    }


@pytest.mark.parametrize(
    "targets", [[], [CELLS[3], cell(9, "x", CellRole.TARGET)]]
)
def test_one_target_is_needed(targets: list[Cell]) -> None:
    with pytest.raises(PromptError, match=f"{len(targets)} target cells"):
        render([*CELLS[:2], *targets], None, Setting.CODE)


def test_a_setting_of_runtime_needs_a_state() -> None:
    with pytest.raises(PromptError, match="none is available"):
        render(CELLS, None, Setting.RUNTIME)


def test_long_cells_and_endless_inputs_are_bounded() -> None:
    long = cell(0, "x = '" + "a" * (MAX_CELL * 3) + "'")
    text = body([long, CELLS[3]], None, Setting.CODE)
    assert len(text) < MAX_CELL + 300
    assert re.search(
        r"# \.\.\. 120,006 characters of this cell are not shown \.\.\.", text
    )
    many = [
        cell(number, "y = 1\n" * 9_000)
        for number in range(MAX_BODY // 54_000 + 1)
    ]
    with pytest.raises(PromptError, match="the limit is"):
        body([*many, CELLS[3]], None, Setting.CODE)


def test_what_utf_8_cannot_say_is_escaped() -> None:
    state = KernelState(
        "mine",
        "x",
        Setting.RUNTIME_PLUS,
        "capture",
        {"s": VariableState("str", values={"v": "\ud800"})},
        schema_version=2,
    )
    text = render(
        [cell(0, "'\udfff'"), CELLS[3]], state, Setting.RUNTIME_PLUS
    ).text
    assert text.encode("utf-8")
    assert '"v": "\\ud800"' in text
    assert "'\\udfff'" in text


CODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(
    lambda code: (
        "#" not in code and "\r" not in code and not code.startswith("\ufeff")
    )
)


@given(st.lists(CODE, max_size=4), CODE, st.none() | st.just("{}"))
def test_parts_come_back_from_the_text(
    executed: list[str], target: str, block: str | None
) -> None:
    parts = InputText(tuple(executed), block, target)
    assert split_input(join_input(parts)) == parts
