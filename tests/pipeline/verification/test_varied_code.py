"""Code in other words: what is plain to rename is renamed everywhere, what is not stays, and it does the same."""

from __future__ import annotations

import ast

import pytest

from crane_core.errors import NotebookError
from crane_core.pipeline.verification.varied_code import (
    Variation,
    variation_of,
    varied,
)


def changed(*cells: str) -> list[str]:
    variation = variation_of(cells)
    return [varied(code, variation) for code in cells]


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("train_df = 1  # train_df", "df_train = 1  # train_df"),
        ("x = 'é'; y = x", "my_x = 'é'; my_y = my_x"),
        ("n = 800 + 0x10 + 9", "my_n = 801 + 0x10 + 9"),
        ("import numpy as np\nnp = np", "import numpy as np\nnp = np"),
        (
            "def f(a):\n    b = a\n    return b",
            "def f(a):\n    my_b = a\n    return my_b",
        ),
        ("class A:\n    size = 1\nA.size", "class A:\n    size = 1\nA.size"),
        ("x = 1\nf'{x} of 100'", "x = 1\nf'{x} of 100'"),
        ("x = 1\nglobals()['x']", "x = 1\nglobals()['x']"),
        ("_ = 5\n__all__ = [7]", "_ = 5\n__all__ = [7]"),
        ("list = 3", "list = 3"),
        (
            "try:\n    1\nexcept OSError as e:\n    e = 2",
            "try:\n    1\nexcept OSError as e:\n    e = 2",
        ),
        ("d = {'a': 1}\nd['a']", "my_d = {'my_a': 1}\nmy_d['my_a']"),
        ("d = {'a': 1}\nd.a", "my_d = {'a': 1}\nmy_d.a"),
        ("d = {'a': 1}\nd['a']; q('a > 1')", "my_d = {'a': 1}\nmy_d['a']; q('a > 1')"),
        ("d = read()\nd['a']", "my_d = read()\nmy_d['a']"),
    ],
)  # fmt: skip
def test_only_what_is_plain_is_replaced(code: str, other: str) -> None:
    assert changed(code) == [other]


def test_a_new_name_is_never_taken_already() -> None:
    [code] = changed("a_b = 1\nb_a = 2\nmy_a_b = 3")
    names = {
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name)
    }
    assert len(names) == 3


def test_both_notebooks_and_all_cells_are_renamed_alike() -> None:
    cells = ["price = [10, 20]", "price[5]", "price[1]"]
    assert changed(*cells) == [
        "my_price = [11, 21]",
        "my_price[5]",
        "my_price[1]",
    ]


def test_the_copy_computes_the_same() -> None:
    code = (
        "rows = {'unit': [1, 2], 'cost': [3, 4]}\n"
        "def total(of):\n    all_costs = sum(rows['cost'])\n    return all_costs * of\n"
        "result = [total(one) for one in rows['unit'] if one]\n"
    )
    variation = variation_of([code])
    [before, after] = ({}, {})  # type: ignore[var-annotated]
    exec(code, before)
    exec(varied(code, variation), after)
    assert after[variation.names["result"]] == before["result"]
    assert "result" not in after


def test_cells_with_magics_have_no_copy() -> None:
    with pytest.raises(NotebookError, match="not plain Python"):
        variation_of(["%matplotlib inline"])
    assert variation_of(["print()"]) == Variation({}, {}, {})
