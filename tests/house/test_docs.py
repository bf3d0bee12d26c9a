"""What the documents say is what the program does."""

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
from crane_core.fetch import MIRROR_VARIABLE
from crane_core.ui.navigation import page_files, title
from tests.browser.screen import TITLES
from tools.screenshots import MENU, PICTURES, TITLE

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
NUMBERS = {"twelve": 12, "forty": 40}
MOST_LINES, MOST_LETTERS = 64, 100
"""Two screens of a terminal: what a user reads before upgrading. The long lists are in docs/reference/history.md."""


def section(heading: str) -> str:
    """The text under a second-level heading of the README."""
    return README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[list[str]]:
    """The body of the first Markdown table of a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_command_and_its_help_stand_in_the_readme() -> None:
    told = {verb.strip("`"): does for verb, does in rows(section("Commands"))}
    assert told == {name: module.HELP for name, module in verb_modules().items()}


def test_every_page_stands_in_the_readme_in_menu_order() -> None:
    assert [name for name, _ in rows(section("What you see"))] == [title(name) for name in page_files()]


def test_settings_are_those_of_the_program() -> None:
    sentence = re.search(r"Settings are (.*?)\. Import", README, re.DOTALL)
    assert sentence
    assert re.findall(r"`([^`]+)`", sentence[1]) == [str(setting) for setting in Setting]


def test_variables_that_the_readme_names_are_read() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "crane_core").rglob("*.py"))
    named = set(re.findall(r"`(CRANE_[A-Z_]+)`", README))
    assert MIRROR_VARIABLE in named
    assert all(f'"{name}"' in code for name in named)


def test_links_and_pictures_of_the_readme_exist() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_pictures_of_the_readme_show_the_pages_of_today() -> None:
    """`tools.screenshots` writes into each picture which menu and which title it shows."""
    pages = [title(name) for name in page_files()]
    pictures = re.findall(r"\]\((docs/pictures/[^)]+\.png)\)", README)
    assert pictures == [f"docs/pictures/{name}.png" for name in PICTURES]
    for picture, address in zip(pictures, PICTURES.values(), strict=True):
        told = Image.open(ROOT / picture).info
        assert told[MENU].split("\n") == pages, picture
        shown = TITLES.get("/" + address, parse_qs(urlsplit(address).query).get("case", [""])[0])
        assert told[TITLE] == shown, picture


def test_minibench_has_as_many_pairs_as_told() -> None:
    word = re.search(r"(\w+) example notebook pairs", README)
    assert word
    assert len(list((ROOT / "data" / "minibench" / "benchmark").iterdir())) == NUMBERS[word[1].lower()]


def test_no_text_of_the_published_artifacts_is_tracked() -> None:
    script = ROOT.parent / "shared" / "tools" / "no_verbatim.py"
    if not script.is_file() or not (ROOT / ".git").exists():
        pytest.skip("the published archives and the check for their texts are not available")
    done = subprocess.run([sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_changelog_begins_with_the_version_of_the_project() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    versions = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?: \(unreleased\)|, \d{4}-\d\d-\d\d)", line) for line in headings]
    assert all(versions), headings
    numbers = [tuple(map(int, found.groups())) for found in versions if found]
    assert numbers == sorted(set(numbers), reverse=True)
    assert headings[0].split()[0].rstrip(",") == __version__
    assert [line for line in headings[1:] if "unreleased" in line] == []


def test_every_file_that_states_the_version_states_the_same() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    extension = json.loads((ROOT / "labextension" / "package.json").read_text("utf-8"))
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [__version__]
    assert extension["version"] == __version__


def test_the_citation_has_the_day_of_the_release() -> None:
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    released = re.search(r'^date-released: "(.+)"$', (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert newest
    assert released
    assert newest[1] == f"{__version__}, {released[1]}"


def test_the_newest_entry_of_the_changelog_is_two_screens_at_most() -> None:
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    lines = newest.strip().splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > MOST_LETTERS] == []
