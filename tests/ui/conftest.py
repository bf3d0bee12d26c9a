"""What a page may be given, and what a browser must get: hostile texts, a check of finished HTML, running servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from html.parser import HTMLParser

import pytest

from benchmarks._server import serve
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Population
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels
from tests.ui.lab import AUDITED, LISTED, PASSWORD, PILOT, Lab, copied

VOID = {"br", "hr", "img", "input", "wbr"}
TAGS = {
    "a", "abbr", "article", "b", "br", "caption", "code", "del", "details", "div", "h2", "h3", "h4", "i", "ins", "li",
    "ol", "p", "section", "span", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "class",
    "href",
    "id",
    "scope",
    "title",
    "open",
    "colspan",
    "style",
    "tabindex",
    "aria-label",
    "data-head",
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

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
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
    folder = copied(answered_folder, tmp_path_factory.mktemp("campaigns"))
    ours = Population("minibench", "ours")
    with closing(prepare(folder)) as store:
        plan, other = (
            drawn_plan(
                store,
                CampaignRequest(
                    name, people, ours, Design(DrawKind.ALL), seed=7
                ),
            )
            for name, people in (
                (PILOT, ("ana", "ben")),
                (AUDITED, ("eva", "fay")),
            )
        )
    keep_campaign(folder, plan)
    keep_campaign(folder, other)
    everything = dict.fromkeys((item.item for item in plan.items), "correct")
    for name in plan.annotators:
        give_labels(folder, PILOT, name, everything, seconds=9.0)
    give_labels(
        folder, AUDITED, "eva", {other.items[0].item: "correct"}, seconds=9.0
    )
    return folder


@pytest.fixture(scope="session")
def lab(
    campaign_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """A server with logins, for all tests of a run: a start takes as long as thirty visits."""
    place = tmp_path_factory.mktemp("lab")
    folder = copied(campaign_folder, place)
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
    return copied(answered_folder, tmp_path_factory.mktemp("open"))


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
    folder = copied(prepared_folder, tmp_path_factory.mktemp("locked"))
    with serve(folder.path, CRANE_PASSWORD=PASSWORD) as address:
        yield address
