"""A published input text comes apart and goes together again without losing a byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crane_core.domain import VariableState
from crane_core.prompts.printed_values import read_printed_dict
from crane_core.prompts.published import (
    InputText,
    join_input,
    parse_block,
    split_input,
)
from crane_core.prompts.render import print_block
from crane_core.prompts.tagged_json import (
    Opaque,
    PrintedCall,
    PrintedDefaultDict,
    PrintedSet,
)

HEADER = "# Executed Cells:\n"
MARK = "# Current relevent runtime information:\n"
TARGET = "# Target Cell:\n"


def test_all_published_texts_split_and_join_to_the_same_bytes(
    input_texts: dict[str, str],
) -> None:
    assert len(input_texts) == 444
    assert [
        path
        for path, text in input_texts.items()
        if join_input(split_input(text)) != text
    ] == []


def test_all_published_blocks_are_printed_again_byte_for_byte(
    runtime_texts: dict[str, str],
) -> None:
    assert len(runtime_texts) == 222
    different = []
    for path, text in runtime_texts.items():
        parts = split_input(text)
        block = parse_block(str(parts.block))
        kept = json.loads(
            json.dumps(
                {
                    name: state.to_json()
                    for name, state in block.variables.items()
                }
            )
        )
        variables = {
            name: VariableState(
                entry["type"],
                entry["structure"],
                entry["representation"],
                entry["values"],
                entry.get("assigned"),
            )
            for name, entry in kept.items()
        }
        if (
            print_block(variables, json.loads(json.dumps(block.accesses)))
            != parts.block
        ):
            different.append(path)
    assert different == []


def test_28_published_blocks_are_no_literals(
    runtime_texts: dict[str, str],
) -> None:
    blocks = {
        path: parse_block(str(split_input(text).block))
        for path, text in runtime_texts.items()
    }
    others = {
        path.rpartition("/")[2].rpartition("_")[0]
        for path, block in blocks.items()
        if not block.is_literal
    }
    assert sum(not block.is_literal for block in blocks.values()) == 28
    assert others == {
        *(f"torch_{number}" for number in (2, 6, 8, 9, 10, 11, 15)),
        *(
            "torchvision_1",
            "sklearn_1",
            "tensorflow_5",
            "tensorflow_11",
            "pandas_2",
            "pandas_3",
            "numpy_12",
        ),
    }


def test_a_text_with_markers_inside_cells_is_split_at_the_outer_ones() -> None:
    executed = "note = '''\n# Target Cell:\nfake'''"
    parts = split_input(
        f"{HEADER}## Cell 1:\n{executed}\n\n{MARK}{{}}\n{TARGET}x = 1\n"
    )
    assert parts == InputText((executed,), "{}", "x = 1\n")


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    text = f"{HEADER}No cell has been executed\n{TARGET}a\nb"
    assert split_input("\ufeff" + text.replace("\n", "\r\n")) == InputText(
        (), None, "a\nb"
    )


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("{'a': nan, 'b': -inf}", {"a": float("nan"), "b": float("-inf")}),
        (
            "{'a': torch.Size([3, 2])}",
            {"a": PrintedCall("torch.Size", ([3, 2],))},
        ),
        ("{'a': dtype('O')}", {"a": PrintedCall("dtype", ("O",))}),
        ("{'a': torch.float32}", {"a": Opaque("torch.float32")}),
        (
            "{'a': <Net name='x' at 0x7f>}",
            {"a": Opaque("<Net name='x' at 0x7f>")},
        ),
        (
            "{'a': [<bound f of <Net at 0x1>>, '<b>']}",
            {"a": [Opaque("<bound f of <Net at 0x1>>"), "<b>"]},
        ),
        (
            "{'a': defaultdict(<class 'set'>, {'k': {'x', 'y'}})}",
            {
                "a": PrintedDefaultDict(
                    "<class 'set'>", {"k": PrintedSet(("x", "y"))}
                )
            },
        ),
        (
            "{'a': Timestamp('2020', tz=<UTC>)}",
            {"a": Opaque("Timestamp('2020', tz=<UTC>)")},
        ),
        (
            "{1: (True, None), (2, 'b'): set()}",
            {1: (True, None), (2, "b"): PrintedSet(())},
        ),
        ("{'a': '<class '\n 'Net>'}", {"a": "<class Net>"}),
        (
            "{'a': \"it's <b>\", 'c': 'say \\'<d>\\''}",
            {"a": "it's <b>", "c": "say '<d>'"},
        ),
    ],
)
def test_printed_values_are_read_without_being_evaluated(
    block: str, value: dict[Any, Any]
) -> None:
    read, _ = read_printed_dict(block)
    assert repr(read) == repr(value)


@pytest.mark.parametrize(
    "block",
    [
        "",
        "[]",
        "{",
        "{'a': <open}",
        "{**x}",
        "{[]: 1}",
        "{'a': 1, 'a': 2}",
        "{" * 5_000,
        "{'a':" * 5_000,
        "x = {}",
    ],
)
def test_what_is_no_printed_dict_is_refused(block: str) -> None:
    with pytest.raises(ValueError, match="printed dict"):
        read_printed_dict(block)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("{'a': 5}", "'a' is not a name with its facts"),
        ("{5: {'type': 'x'}}", "5 is not a name with its facts"),
        ("{'a': {'type': 5}}", "the type of 'a' is not text"),
        ("{'a': {5: 6}}", "has the key 5"),
        ("{'a': {'execution_cell_source': 5}}", "where 'a' was assigned"),
    ],
)
def test_an_entry_of_another_form_is_refused_by_name(
    block: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_block(block)


def test_an_entry_is_sorted_into_the_three_groups() -> None:
    block = parse_block(
        "{'__method__df_shape': {'length': 2, 'type': \"<class 'tuple'>\"},\n"
        " 'df': {'dtype': 'int64', 'execution_cell_source': {'cellno': 2, 'lineno': 5}, 'has_nan': False,\n"
        "        'shape': (4, 2), 'type': 'Frame'}}"
    )
    assert block.variables == {
        "df": VariableState(
            "Frame",
            {"shape": {"$tuple": [4, 2]}},
            {"dtype": "int64"},
            {"has_nan": False},
            {"cell": 2, "line": 5},
        )
    }
    assert block.accesses == {
        "__method__df_shape": {
            "type": "<class 'tuple'>",
            "structure": {"length": 2},
            "representation": {},
            "values": {},
        }
    }
    assert block.is_literal
