"""The worked examples of docs/how/extend.md: each is as few files as it says, found by its folder alone, and works."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Population
from crane_core.cli import main
from crane_core.detectors.rules.family import all_rules
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.campaigns.export.forms import label_forms
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.kernel_side.crane_probe import dispatch
from crane_core.ui import navigation
from tests.detectors.rules.conftest import predicted_here

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how" / "extend.md").read_text("utf-8")
BLOCK = re.compile(
    r"^```(?:python|diff)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
NETWORKX = """
class Graph:
    def __init__(self):
        self._node = {}
        self._adj = {}

    def add_edge(self, one, other):
        for node, neighbour in ((one, other), (other, one)):
            self._node.setdefault(node, {})
            self._adj.setdefault(node, {})[neighbour] = {}

    def __getitem__(self, node):
        return self._adj[node]
"""
"""What NetworkX 3 does in these methods, and where it keeps nodes and edges."""
ROADS = "import networkx as nx\nroads = nx.Graph()\nroads.add_edge(1, 2)"


def examples() -> dict[str, dict[str, str]]:
    """Heading to the files of its example."""
    _, *sections = re.split("^## ", PAGE, flags=re.MULTILINE)
    return {
        text.partition("\n")[0]: dict(BLOCK.findall(text)) for text in sections
    }


@pytest.fixture(autouse=True)
def extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which the new files lie, as if they lay in the checkout."""
    for files in examples().values():
        for name, code in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code, "utf-8")
            if path.parts[-2] != "pages":
                package = importlib.import_module(
                    ".".join(Path(name).parent.parts)
                )
                extended_path = [*package.__path__, str(path.parent)]
                monkeypatch.setattr(package, "__path__", extended_path)
    loaded = set(sys.modules)
    forget()
    yield tmp_path
    forget()
    for name in set(sys.modules) - loaded:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def forget() -> None:
    """What was found in folders before."""
    all_rules.cache_clear()
    label_forms.cache_clear()
    dispatch._files.pop("networkx", None)


def test_an_example_is_as_few_files_as_the_page_says() -> None:
    said = re.findall(r"^\| [^|]* \| [^|]*?(\d) files? \|", PAGE, re.MULTILINE)
    assert [len(files) for files in examples().values()] == list(map(int, said))
    assert said == ["2", "2", "1", "1"]


def test_rules_for_a_library_are_found_and_agree_with_what_happens(
    extended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = extended / "stand_in" / "networkx"
    stand_in.mkdir(parents=True)
    (stand_in / "classes.py").write_text(NETWORKX)
    (stand_in / "__init__.py").write_text("from networkx.classes import Graph")
    monkeypatch.syspath_prepend(stand_in.parent)
    for target, exception in (
        ("roads[3]", "KeyError"),
        ("roads[1]", None),
        ("roads[True]", None),
        ("roads.add_edge(2, 3)\nroads[3]", None),
        ("roads[3] if len(str(roads)) > 2000 else 0", None),
    ):
        seen = predicted_here(ROADS, target)
        assert (seen.exception, seen.raised) == (exception, exception), target
        assert not seen.errors


def test_a_section_of_results_is_drawn(
    extended: Path, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    diff = (extended / "pages" / "2_results.py").read_text("utf-8")
    imported, listed = [line.removeprefix("+") for line in diff.splitlines()]
    pages = shutil.copytree(
        ROOT / "pages", extended / "pages", dirs_exist_ok=True
    )
    page = pages / "2_results.py"
    old = page.read_text("utf-8")
    start = "OF_CHOSEN = {\n"
    assert start in old
    page.write_text(
        old.replace(start, f"{imported}\n{start}{listed}\n"), "utf-8"
    )
    monkeypatch.setattr(navigation, "PAGES", pages)
    monkeypatch.setenv("CRANE_DATA", str(folder.path))
    # A script that runs in this process becomes its main module, which later tests' processes would start with.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    app = shutil.copy(ROOT / "app.py", extended)
    shown = AppTest.from_file(str(app), default_timeout=120)
    shown.run().switch_page("pages/2_results.py")
    shown.query_params["part"] = "Who was asked"
    shown.run()
    assert not shown.exception, shown.exception
    assert "Who was asked?" in [one.value for one in shown.header]


def test_a_form_of_an_export_is_offered_and_written(
    answered: DataFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = Population("minibench", "ours")
    everything = Design(kind=DrawKind.ALL)
    store = prepare(answered)
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana",), ours, everything)
    )
    store.close()
    keep_campaign(answered, plan)
    data = ["--data", str(answered.path)]
    out = tmp_path / "out"
    export = [
        "campaign",
        "export",
        "pilot",
        "--form",
        "seconds",
        "--out",
        str(out),
    ]
    assert main([*data, *export]) == 0
    lines = (out / "seconds.csv").read_text("utf-8").splitlines()
    assert (lines[0], lines[1]) == ("annotator,position,seconds", "ana,1,")
    with pytest.raises(SystemExit):
        main(["campaign", "export", "--help"])
    helped = " ".join(capsys.readouterr().out.split())
    assert "seconds: one CSV of the seconds of each label" in helped


def test_a_command_is_listed_helped_and_run(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["glance", "--help"], ["--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert (
            "show how many cases each benchmark has" in capsys.readouterr().out
        )
    assert main(["--data", str(folder.path), "glance"]) == 0
    assert "minibench: 40 cases" in capsys.readouterr().out
