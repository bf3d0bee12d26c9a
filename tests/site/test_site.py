"""The site: whole or not at all, nothing of others' texts unless asked for, nothing in it that a browser would run."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from crane_core.errors import SourceError
from crane_core.pipeline.judging.material import Material
from crane_core.site import write
from crane_core.site.blocks import MENU
from crane_core.site.write import write_site

from .conftest import HOSTILE


class Read(HTMLParser):
    """Tags with their attributes, and where links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.targets: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append(tag)
        self.targets += [
            value or ""
            for name, value in attrs
            if name in {"href", "src", "xlink:href"}
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize("which", ["site", "site_with_texts"])
def test_no_page_runs_or_loads_anything(
    which: str, request: pytest.FixtureRequest
) -> None:
    site: Path = request.getfixturevalue(which)
    for path in pages(site):
        read = Read(path.read_text("utf-8"))
        assert not {"script", "img", "iframe", "object"} & set(read.tags), path
        assert read.handlers == []
        for target in read.targets:
            assert (
                target == "data:,"
                or target.startswith("#")
                or (path.parent / target.split("#")[0]).is_file()
            ), target


def test_pages_are_those_of_the_menu_and_one_per_pair(
    site: Path, odd_material: Material
) -> None:
    assert {path.stem for path in site.glob("*.html")} == set(MENU)
    [(n_cases,)] = (
        odd_material.store.cursor()
        .execute("SELECT count(*) FROM cases")
        .fetchall()
    )
    assert len(list((site / "pairs").iterdir())) == n_cases
    assert len(list((site / "pairs").glob("odd*"))) == 2, (
        "names that differ in their case alone share no file"
    )


def test_texts_of_others_are_there_only_when_asked_for(
    site: Path, site_with_texts: Path
) -> None:
    secret = re.compile(r"reason &lt;img|diagnosed &lt;img|x = |said</pre>")
    assert not any(
        secret.search(path.read_text("utf-8")) for path in pages(site)
    )
    told = "".join(
        path.read_text("utf-8")
        for path in (site_with_texts / "pairs").glob("odd*")
    )
    assert {"reason &lt;img", "diagnosed &lt;img", "said</pre>"} <= set(
        secret.findall(told)
    )
    assert HOSTILE not in told


def test_the_statistics_lie_beside_the_pages(site: Path) -> None:
    told = json.loads((site / "statistics.json").read_text("utf-8"))[
        "statistics"
    ]
    assert {"gains", "breakdown", "tables", "claims"} <= {
        row["kind"] for row in told
    }
    assert (site / "statistics.csv").read_text("utf-8").count("\n") >= len(told)


def test_a_site_is_written_whole_or_not_at_all(
    odd_material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        write, "all_statistics", lambda *_: {"gains": [], "across": []}
    )
    with pytest.raises(KeyError):
        write_site(odd_material, tmp_path / "site", with_texts=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_refused(
    odd_material: Material, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SourceError, match="already exists"):
        write_site(odd_material, tmp_path, with_texts=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
