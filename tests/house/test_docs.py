"""What the documents say is what the program does."""

import argparse
import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image

from crane_core import __version__
from crane_core.cli import verb_modules
from crane_core.domain import Setting
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.study.study_tables import (
    drift,
    status_counts,
    study_tables,
)
from crane_core.pipeline.study.table_cells import CellStatus
from crane_core.storage.store import Store
from crane_core.ui.navigation import page_files, title
from tests.browser.screen import TITLES
from tools import commands_page
from tools.screenshots import MENU, PICTURES, TITLE

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
NUMBERS = {"twelve": 12, "forty": 40}
MOST_LINES, MOST_LETTERS = 64, 100
"""Two screens of a terminal: what a user reads before upgrading. The long lists are in docs/reference/history.md."""
MOST_WORDS = 900
"""Of the README, as `wc -w` counts: a newcomer reads it to its end."""
VARIABLE = re.compile(r"CRANE_[A-Z_]+")
OF_TESTS = {"CRANE_CHROMIUM"}


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


def section(name: str, heading: str) -> str:
    """The text of a page under a second-level heading."""
    return page(name).split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[list[str]]:
    """The body of every Markdown table of a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines
    ]


def variables_of(source: str) -> set[str]:
    """The names of environment variables among the string constants of a file."""
    strings = {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
    }
    return {
        text
        for text in strings
        if isinstance(text, str) and VARIABLE.fullmatch(text)
    }


def test_the_readme_is_read_to_its_end() -> None:
    assert len(README.split()) <= MOST_WORDS
    assert len(re.findall(r"!\[", README)) == 3


def test_the_page_of_commands_is_written_from_the_commands() -> None:
    assert page("reference/commands") == commands_page.page(), (
        "python -m tools.commands_page writes it"
    )


def test_every_command_and_option_stands_on_the_page_of_commands() -> None:
    told = page("reference/commands")
    for name, module in verb_modules().items():
        verb = argparse.ArgumentParser()
        module.add_arguments(verb)
        options = [
            action.option_strings[-1]
            for action in verb._actions
            if action.option_strings
        ]
        shown = told.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]
        assert [
            option
            for option in options
            if option != "--help" and f"`{option}" not in shown
        ] == [], name


def test_every_page_of_the_app_stands_in_menu_order() -> None:
    assert [
        name for name, _ in rows(section("index", "The pages of the app"))[2:]
    ] == [title(name) for name in page_files()]


def test_settings_are_those_of_the_program() -> None:
    sentence = re.search(
        r"Settings are (.*?)\.\n",
        section("reference/settings", "What a detector is shown"),
    )
    assert sentence
    assert re.findall(r"`([^`]+)`", sentence[1]) == [
        str(setting) for setting in Setting
    ]


def test_the_table_of_variables_has_those_that_the_code_reads() -> None:
    files = [
        *(ROOT / "crane_core").rglob("*.py"),
        ROOT / "app.py",
        *(ROOT / "pages").glob("*.py"),
    ]
    read = set().union(
        *(variables_of(path.read_text("utf-8")) for path in files)
    )
    told = {
        cell.strip("`")
        for cell, *_ in rows(
            section("reference/settings", "Environment variables")
        )
    }
    assert {name for name in told if VARIABLE.fullmatch(name)} == read


def test_a_variable_is_found_in_code() -> None:
    assert variables_of(
        'import os\nPLACE = "CRANE_PLACE"\nos.environ.get("CRANE_X")\n'
    ) == {
        "CRANE_PLACE",
        "CRANE_X",
    }


def test_documents_name_only_variables_that_exist() -> None:
    told = set(
        VARIABLE.findall(section("reference/settings", "Environment variables"))
    )
    documents = [ROOT / "README.md", *DOCS.rglob("*.md")]
    named = {
        path.name: set(
            re.findall(r"\bCRANE_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
        )
        for path in documents
    }
    assert {
        name: more
        for name, found in named.items()
        if (more := found - told - OF_TESTS)
    } == {}


def test_links_and_pictures_of_the_readme_exist() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_proof_of_the_readme_is_what_the_data_say(
    embedded_store: Store,
) -> None:
    found = re.search(
        r"0 false alarms of the rules on the (\d+) fixed notebooks.*?([\d,]+) printed cells",
        README,
        re.S,
    )
    assert found
    frame = verdict_frame(embedded_store)
    fixed = frame[(frame["detector"] == "rules") & ~frame["truth"]]
    assert fixed["n_crash"].sum() == 0
    assert len(fixed[["benchmark", "instance_id"]].drop_duplicates()) == int(
        found[1]
    )
    tables = study_tables(frame, printed_numbers(embedded_store)).values()
    assert drift(tables) == []
    assert sum(
        counts[CellStatus.EQUAL] for counts in status_counts(tables).values()
    ) == int(found[2].replace(",", ""))


def test_pictures_of_the_readme_show_the_pages_of_today() -> None:
    """`tools.screenshots` writes into each picture which menu and which title it shows."""
    pages = [title(name) for name in page_files()]
    pictures = re.findall(r"\]\((docs/pictures/[^)]+\.png)\)", README)
    assert pictures == [f"docs/pictures/{name}.png" for name in PICTURES]
    for picture, address in zip(pictures, PICTURES.values(), strict=True):
        told = Image.open(ROOT / picture).info
        assert told[MENU].split("\n") == pages, picture
        shown = TITLES.get(
            "/" + address,
            parse_qs(urlsplit(address).query).get("case", [""])[0],
        )
        # Most titles are what the page has found, and some are known by their form alone.
        is_form = isinstance(shown, re.Pattern)
        wanted = shown if is_form else re.compile(f"^{re.escape(shown)}$")
        assert wanted.search(told[TITLE]), picture


def test_minibench_has_as_many_pairs_as_told() -> None:
    word = re.search(r"(\w+) example notebook pairs", README)
    assert word
    assert (
        len(list((ROOT / "data" / "minibench" / "benchmark").iterdir()))
        == NUMBERS[word[1].lower()]
    )


def test_no_text_of_the_published_artifacts_is_tracked() -> None:
    script = ROOT.parent / "shared" / "tools" / "no_verbatim.py"
    if not script.is_file() or not (ROOT / ".git").exists():
        pytest.skip(
            "the published archives and the check for their texts are not available"
        )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_changelog_begins_with_the_version_of_the_project() -> None:
    headings = re.findall(
        r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    versions = [
        re.fullmatch(
            r"(\d+)\.(\d+)\.(\d+)(?: \(unreleased\)|, \d{4}-\d\d-\d\d)", line
        )
        for line in headings
    ]
    assert all(versions), headings
    numbers = [tuple(map(int, found.groups())) for found in versions if found]
    assert numbers == sorted(set(numbers), reverse=True)
    assert headings[0].split()[0].rstrip(",") == __version__
    assert [line for line in headings[1:] if "unreleased" in line] == []


def test_every_file_that_states_the_version_states_the_same() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    extension = json.loads(
        (ROOT / "labextension" / "package.json").read_text("utf-8")
    )
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [
        __version__
    ]
    assert extension["version"] == __version__


def test_the_citation_has_the_day_of_the_release() -> None:
    newest = re.search(
        r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    released = re.search(
        r'^date-released: "(.+)"$',
        (ROOT / "CITATION.cff").read_text("utf-8"),
        re.MULTILINE,
    )
    assert newest
    assert released
    assert newest[1] == f"{__version__}, {released[1]}"


def test_the_newest_entry_of_the_changelog_is_two_screens_at_most() -> None:
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    lines = newest.strip().splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > MOST_LETTERS] == []
