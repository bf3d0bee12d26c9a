"""The pages about how it works: what they name exists, and the trace of a verdict is what the command prints."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tools import trace_verdict

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "how").rglob("*.md"))
WINGS = sorted((ROOT / "docs" / "how" / "wings").glob("*.md"))
HOLE = re.compile(r"<\w+>")


def prose(page: Path) -> str:
    """A page without its blocks of output."""
    return re.sub(
        r"^```.*?^```",
        "",
        page.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )


def named_files(page: Path) -> list[str]:
    return re.findall(
        r"`((?:crane_core|pages|data|tests|tools)/[^`\s]*)`", prose(page)
    )


def named_objects(page: Path) -> list[str]:
    return re.findall(r"`(crane_core(?:\.\w+)+)`", prose(page))


def exists(name: str) -> bool:
    """A hole such as <kind> stands for any name."""
    return any(ROOT.glob(HOLE.sub("*", name).rstrip("/")))


def is_there(dotted: str) -> bool:
    module, _, name = dotted.rpartition(".")
    return hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    assert [name for name in named_files(page) if not exists(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_that_a_page_names_exist(page: Path) -> None:
    assert [name for name in named_objects(page) if not is_there(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_files_and_functions(page: Path) -> None:
    fewest = 2 if page in WINGS else 4
    assert len(named_files(page)) + len(named_objects(page)) >= fewest


@pytest.mark.parametrize("page", WINGS, ids=lambda page: page.stem)
def test_the_page_of_a_wing_says_what_a_stranger_asks(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "Comes in",
        "Goes out",
        "Refuses to know",
        "Three decisions that a change must respect",
    ]
    assert re.findall(r"^(\d)\. \*\*", text, re.MULTILINE) == ["1", "2", "3"]


def test_every_wing_has_a_page() -> None:
    named = {name for page in WINGS for name in named_files(page)}
    wings = {
        f"crane_core/{folder.name}/"
        for folder in (ROOT / "crane_core").iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert wings - named == set()


def test_names_that_do_not_exist_are_found() -> None:
    assert not exists("crane_core/detectors/<name>.txt")
    assert not is_there("crane_core.ledger.chain.broken")


def test_the_trace_of_a_verdict_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert trace_verdict.main() == 0
    printed = capsys.readouterr().out.strip("\n")
    shown = re.search(
        r"^```text\n(.*?)\n```",
        (ROOT / "docs" / "how" / "verdict.md").read_text("utf-8"),
        re.M | re.S,
    )
    assert shown
    assert shown[1] == printed


def test_files_and_functions_of_the_trace_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trace_verdict.main()
    steps = re.findall(
        r"^\d\. (crane_core/\S+)\.py, (\w+):",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert len(steps) == 6
    assert [
        (path, name)
        for path, name in steps
        if not is_there(f"{path.replace('/', '.')}.{name}")
    ] == []


def test_a_case_that_does_not_exist_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert trace_verdict.main("no_such_case") == 2
    assert "no case of minibench" in capsys.readouterr().err
