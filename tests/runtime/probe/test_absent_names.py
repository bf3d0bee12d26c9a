"""Names and modules that the target asks for and will not find, and where the notebook would have defined them."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from crane_core.runtime.kernel_side.crane_probe.absences import finders

from .looks import after, lacks


def test_a_missing_name_tells_the_cells_that_would_define_it() -> None:
    others = [
        {
            "code": "import numpy\n",
            "notebook_index": 3,
            "executed": False,
            "order": None,
        },
        {
            "code": "\nif True:\n    to_celsius = 1\n",
            "notebook_index": 4,
            "executed": False,
            "order": None,
        },
        {
            "code": "def to_celsius(f):\n    return f\n",
            "notebook_index": 6,
            "executed": False,
            "order": None,
        },
    ]
    absent = after("fahrenheit = 3", "to_celsius(fahrenheit)", others=others)[
        "absent"
    ]["names"]
    assert absent == [
        {
            "name": "to_celsius",
            "would_be_defined_in": [
                {"cell": 4, "line": 3},
                {"cell": 6, "line": 1},
            ],
            "line": 1,
            "certain": True,
        }
    ]


def test_a_deleted_name_tells_where_it_was_deleted() -> None:
    absent = after("x = 1\nx = 2\ndel x", "x + 1")["absent"]["names"]
    assert absent == [
        {
            "name": "x",
            "deleted_in": {"cell": 0, "line": 3},
            "line": 1,
            "certain": True,
        }
    ]


def test_a_misspelt_name_tells_the_names_like_it() -> None:
    (absent,) = after("X_train, y_train = 1, 2", "fit(x_train)\n")["absent"][
        "names"
    ][1:]
    assert absent["similar"] == ["X_train"]


def test_builtins_and_names_of_the_target_are_not_missing() -> None:
    state = after(
        "a = 1", "print(len([b for b in range(a)]))\nc = a\nc\n__name__"
    )
    assert state["absent"]["names"] == []


def test_a_name_missing_in_a_function_of_the_notebook_tells_the_way() -> None:
    code = "def inner():\n    return EXTRA\ndef outer():\n    return inner()"
    (absent,) = after(code, "x = 1\nouter()")["absent"]["names"]
    assert absent == {
        "name": "EXTRA",
        "line": 2,
        "certain": True,
        "via": ["outer", "inner"],
    }


def test_a_star_import_makes_missing_names_uncertain() -> None:
    (absent,) = after("", "from math import *\nsqrt(2)")["absent"]["names"]
    assert absent["certain"] is False


def test_a_module_that_is_not_installed_is_missing() -> None:
    absent = after(
        "",
        "import no_such_module_here.part\nimport json, numpy.linalg\nfrom os import path",
    )["absent"]
    assert [entry["module"] for entry in absent["modules"]] == [
        "no_such_module_here.part"
    ]
    assert absent["attributes"] == []


def _finder(where: str, name: str, **held: Any) -> Any:
    return type(name, (), {"__module__": where, **held})()


@pytest.mark.parametrize(
    ("finder", "module", "is_certain"),
    [
        (
            _finder("_distutils_hack", "DistutilsMetaFinder"),
            "no_such_module",
            True,
        ),
        (_finder("_virtualenv", "_Finder"), "no_such_module", True),
        (_finder("somebody", "Finder"), "no_such_module", False),
        (
            type(_finder("__editable___own_finder", "_EditableFinder")),
            "no_such_module",
            True,
        ),
        (
            type(_finder("__editable___own_finder", "_EditableFinder")),
            "own.no_such_module",
            False,
        ),
        (
            type(_finder("__editable___gone_finder", "_EditableFinder")),
            "no_such_module",
            False,
        ),
    ],
)
def test_a_missing_module_is_certain_where_no_finder_could_give_it(
    monkeypatch: pytest.MonkeyPatch,
    finder: Any,
    module: str,
    *,
    is_certain: bool,
) -> None:
    """setuptools, virtualenv and packages that are installed in place put their own finders beside Python's."""
    editable = types.ModuleType("__editable___own_finder")
    editable.MAPPING, editable.NAMESPACES = {"own": "/nowhere"}, {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__editable___own_finder", editable)
    monkeypatch.setattr(
        sys, "meta_path", [finder, importlib.machinery.PathFinder]
    )
    (absent,) = after("", f"import {module}")["absent"]["modules"]
    assert absent["certain"] is is_certain


@pytest.mark.parametrize(
    "before",
    [
        "!pip install no_such_module",
        "%pip install no_such_module",
        "import sys\nsys.path.append('lib')",
        "import os\nos.system('pip install no_such_module')",
        "with open('no_such_module.py', 'w') as file:\n    pass",
        "prepare()",
        "import own_file",
    ],
)
def test_a_module_that_the_target_may_bring_is_not_certainly_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str
) -> None:
    (tmp_path / "own_file.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [importlib.machinery.PathFinder])
    code = "import os\ndef prepare():\n    os.system('pip install no_such_module')\n"
    (absent,) = after(code, f"{before}\nimport no_such_module")["absent"][
        "modules"
    ]
    assert absent["certain"] is False
    (absent,) = after(code, "x = 1\nimport no_such_module")["absent"]["modules"]
    assert absent["certain"] is True


def test_an_import_that_is_tried_is_not_certain_to_raise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "meta_path", [importlib.machinery.PathFinder])
    target = "try:\n    import no_such_module\nexcept ImportError:\n    pass"
    (absent,) = after("", target)["absent"]["modules"]
    assert absent["certain"] is False


def test_the_finder_that_brings_the_probe_knows_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finder = _finder("crane_requests", "_Brought")
    monkeypatch.setattr(finders, "__loader__", finder)
    monkeypatch.setattr(
        sys, "meta_path", [finder, importlib.machinery.PathFinder]
    )
    (absent,) = after("", "import no_such_module")["absent"]["modules"]
    assert absent["certain"] is True


def test_a_file_of_the_working_folder_can_be_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The look has the folder taken from the path."""
    (tmp_path / "own_file.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys,
        "path",
        [entry for entry in sys.path if entry not in ("", str(tmp_path))],
    )
    assert after("", "import own_file")["absent"]["modules"] == []


def test_finders_of_six_know_what_they_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finder = _finder("six", "_SixMetaPathImporter")
    finder.known_modules = {"gone.moves.urllib": None}
    monkeypatch.setattr(
        sys, "meta_path", [importlib.machinery.PathFinder, finder]
    )
    absent = after("", "import gone.moves.urllib\nimport gone.moves.other")[
        "absent"
    ]["modules"]
    assert [entry["certain"] for entry in absent] == [False, True]


def test_a_name_that_a_loaded_module_does_not_have_is_missing() -> None:
    absent = after(
        "import json, sklearn.preprocessing",
        "from json import loadz\nfrom sklearn.preprocessing import Imputer",
    )
    assert lacks(absent, "attributes", "of", "attribute") == [
        ("json", "loadz"),
        ("sklearn.preprocessing", "Imputer"),
    ]


def test_places_of_the_last_assignment() -> None:
    code = "a, (b, *c) = 1, (2, 3)\nfor i in range(2):\n    d = i\nwith open('/dev/null') as e:\n    pass\na = 2\n"
    variables = after(code, "a, b, c, d, e, i")["variables"]
    lines = {
        name: entry["assigned"]["line"] for name, entry in variables.items()
    }
    assert lines == {"a": 6, "b": 1, "c": 1, "d": 3, "e": 4, "i": 2}


def test_the_last_cell_in_order_of_execution_counts() -> None:
    others = [
        {"code": "\n\nx = 1", "notebook_index": 7, "executed": True, "order": 0}
    ]
    assert after("x = 1", "x", others=others)["variables"]["x"]["assigned"] == {
        "cell": 0,
        "line": 1,
    }


def test_variables_that_only_functions_need_are_additions() -> None:
    code = "limit = 3\ndef check(x):\n    return x < limit\nrows = [1]"
    variables = after(code, "check(rows[0])")["variables"]
    assert variables["limit"]["via"] == ["check"]
    assert variables["limit"]["values"] == {}
    assert variables["limit"]["plus"]["values"]["value"] == 3
    assert "via" not in variables["rows"]


def test_a_variable_that_only_functions_need_is_so_when_it_cannot_be_looked_at() -> (
    None
):
    state = after(
        "rows = [1]\ndef check():\n    return rows", "check()", variables=1
    )
    assert state["unavailable"] == {"rows": "the state is full"}
    slow = after(
        "rows = [1]\ndef check():\n    return rows", "check()", total_seconds=0
    )
    assert slow["variables"]["rows"]["via"] == ["check"]


def test_a_target_that_is_no_python_says_so() -> None:
    state = after("x = 1", "x = = 1")
    assert state["syntax_error"].startswith("line 1: ")
    assert state["variables"] == {}


def test_docs_stand_with_what_the_target_calls() -> None:
    state = after(
        "import json\nrows = [3, 1]\ndef f(a, *, b=2):\n    pass",
        "json.dumps(rows)\nrows.sort()\nf(1)",
    )
    assert state["variables"]["f"]["docs"]["signature"] == "(a, *, b=2)"
    assert state["accesses"]["json.dumps"]["docs"]["signature"].startswith(
        "(obj, *, skipkeys=False"
    )
    assert (
        state["accesses"]["rows.sort"]["docs"]["signature"]
        == "(*, key=None, reverse=False)"
    )
