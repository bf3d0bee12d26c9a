"""What a page may be given, and what a browser must get: hostile texts, a check of finished HTML, running servers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmarks._server import serve
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Population
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.ui.lab import AUDITED, LISTED, PASSWORD, PILOT, Lab

VOID = {"br", "hr", "img", "input", "wbr"}
TAGS = {
    "abbr", "article", "b", "br", "caption", "code", "del", "details", "div", "h2", "h4", "i", "ins", "li", "ol", "p",
    "section", "span", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "class",
    "scope",
    "title",
    "open",
    "colspan",
    "style",
    "tabindex",
    "aria-label",
}
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of everything": "</code></div></details></td></table><h1>",
    "attribute": '" onmouseover="alert(1)" x="',
    "quotes": 'it\'s "quoted" & <b>bold</b> &amp; &#x3c;',
    "comment": "<!-- ]]> -->",
    "null bytes": "a\0b\0<\0i\0>",
    "right to left": "\u202e\u2066txt.exe\u2069 שלום",
    "control": "\x1b[31mred\x07\r\n\u2028line",
    "emoji": "😀" * 3,
    "huge": "<" * 1_000_000,
    "many lines": "</p>\n" * 50_000,
}


class Checker(HTMLParser):
    """Follows open tags; refuses what our builders never write."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"<{tag}> is not ours"
        assert {name for name, _ in attrs} <= ATTRIBUTES, f"<{tag}> has {attrs}"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag, f"</{tag}> closes another"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:40]}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl[:40]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data[:40]}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="session")
def text_of() -> Callable[[str], str]:
    """The text that a reader sees of HTML that is balanced and holds our own tags and attributes alone."""

    def check(html: str) -> str:
        checker = Checker()
        checker.feed(html)
        checker.close()
        assert checker.stack == []
        return "".join(checker.text)

    return check


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def campaign_folder(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """A data folder with the two campaigns of a Lab; to be copied, not changed."""
    folder = DataFolder(
        Path(
            shutil.copytree(
                answered_folder.path, tmp_path_factory.mktemp("campaigns") / "data"
            )
        )
    )
    ours = Population("minibench", "ours")
    store = prepare(folder)
    try:
        plan = drawn_plan(
            store,
            CampaignRequest(PILOT, ("ana", "ben"), ours, Design(DrawKind.ALL), seed=7),
        )
        other = drawn_plan(
            store,
            CampaignRequest(
                AUDITED, ("eva", "fay"), ours, Design(DrawKind.ALL), seed=7
            ),
        )
    finally:
        store.close()
    keep_campaign(folder, plan)
    keep_campaign(folder, other)
    everything = [
        (PILOT, name, item.item) for name in plan.annotators for item in plan.items
    ]
    for campaign, name, item in [*everything, (AUDITED, "eva", other.items[0].item)]:
        act = {
            "event": f"{name}-{item}",
            "action": "label",
            "item": item,
            "showing": 1,
            "label": "correct",
        }
        assert (
            LabelStore(folder, campaign).take(name, [act | {"seconds": 9.0}]).refused
            == {}
        )
    return folder


@pytest.fixture(scope="session")
def lab(
    campaign_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """A server with logins, for all tests of a run: a start takes as long as thirty visits."""
    place = tmp_path_factory.mktemp("lab")
    folder = DataFolder(Path(shutil.copytree(campaign_folder.path, place / "data")))
    roles = place / "roles.toml"
    roles.write_text(LISTED)
    settings = {"CRANE_ALLOW_EXECUTION": "1", "CRANE_PROXY_FROM": "127.0.0.1"}
    with serve(folder.path, CRANE_ROLES=str(roles), **settings) as address:
        yield Lab(address, folder, roles)


@pytest.fixture(scope="session")
def open_folder(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """The data folder of `open_app`."""
    return DataFolder(
        Path(
            shutil.copytree(
                answered_folder.path, tmp_path_factory.mktemp("open") / "data"
            )
        )
    )


@pytest.fixture(scope="session")
def open_app(open_folder: DataFolder) -> Iterator[str]:
    """Address of an app without logins and password that a proxy shows as crane.example."""
    with serve(open_folder.path, CRANE_HOSTS="crane.example") as address:
        yield address


@pytest.fixture(scope="session")
def locked_app(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app with a shared password."""
    data = Path(
        shutil.copytree(
            prepared_folder.path, tmp_path_factory.mktemp("locked") / "data"
        )
    )
    with serve(data, CRANE_PASSWORD=PASSWORD) as address:
        yield address
