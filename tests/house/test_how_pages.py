"""The pages about how it works: what they name exists, and the trace of a verdict is what the command prints."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tools import trace_verdict

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "how").glob("*.md"))
HOLE = re.compile(r"<\w+>")


def prose(page: Path) -> str:
    """A page without its blocks of output."""
    return re.sub(
        r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def named_files(page: Path) -> list[str]:
    return re.findall(r"`((?:crane_core|pages|data|tests|tools)/[^`\s]*)`", prose(page))


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


def test_pages_name_files_and_functions() -> None:
    by_page = {
        page.stem: len(named_files(page)) + len(named_objects(page)) for page in PAGES
    }
    assert {name for name, n in by_page.items() if n < 4} == set(), by_page


def test_names_that_do_not_exist_are_found() -> None:
    assert not exists("crane_core/detectors/<name>.txt")
    assert not is_there("crane_core.ledger_chain.broken")


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
        r"^\d\. (crane_core/\S+)\.py, (\w+):", capsys.readouterr().out, re.MULTILINE
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
