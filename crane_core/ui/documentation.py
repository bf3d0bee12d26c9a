"""The documentation at /docs/ of the app's own server, and the page of it that "?" opens on each page of the app.

Knows where the built site is, and the texts from which it is built: they are shown, with their links, tables and
pictures, where no site was built. It is the same for all visitors, so it is shown before a login too. Refuses to
know what it says.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from http import HTTPStatus
from pathlib import Path

from markdown import markdown
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crane_core.pipeline.places import CHECKOUT

_EXTENSIONS = [
    *(
        "admonition",
        "attr_list",
        "def_list",
        "fenced_code",
        "footnotes",
        "md_in_html",
        "tables",
        "toc",
    ),
    # As the site's builder reads lists: four spaces or two.
    "sane_lists",
]
_LINK = re.compile(r'(href="(?![a-z]+:|#)[^"#]*)\.md((?:#[^"]*)?")')
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: light-dark(#d9dddc, #3a4347); --link: light-dark(#0b5c8a, #7cc4ee);
  --soft: light-dark(#eef1f0, #1d2225) }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.6; overflow-wrap: break-word;
  font-family: system-ui, sans-serif; background: light-dark(#fcfcfb, #14181a); color: light-dark(#1b2124, #e3e7e6) }}
a {{ color: var(--link) }}
img {{ max-width: 100%; border: 1px solid var(--line) }}
pre, table {{ display: block; overflow-x: auto }}
pre {{ background: var(--soft); padding: .75rem }}
code {{ background: var(--soft); font-size: .9em }}
table {{ border-collapse: collapse }}
th, td {{ border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left;
  vertical-align: top }}
nav, footer {{ color: light-dark(#566066, #9aa5a9); font-size: .9rem }}
</style></head><body>
<nav><a href="{start}">All pages</a></nav>
"""
_END = """
<footer><p>The text of this page. <code>make docs</code> in a checkout builds the site, with a menu and
search.</p></footer>
</body></html>
"""


def page_html(text: str, *, depth: int) -> str:
    """The whole page of a Markdown text that lies `depth` folders below the start page of the documentation."""
    found = _HEADING.search(text)
    title = found[1] if found else "Documentation"
    body = _LINK.sub(
        r"\1.html\2",
        markdown(text, extensions=_EXTENSIONS, output_format="html"),
    )
    return (
        _HEAD.format(title=escape(title), start=f"{'../' * depth}index.html")
        + body
        + _END
    )


SITE = Path(__file__).resolve().parents[1] / "docs_site"
"""What `make docs` builds. A wheel or an image that is made after it has it too."""
SOURCES = CHECKOUT / "docs"
"""The texts of the site, which always ship."""
ADDRESS = "/docs"
OF_PAGES = {
    "overview": "researcher/study",
    "cases": "researcher/cases",
    "results": "researcher/statistics/index",
    "ablations": "reference/settings",
    "annotate": "annotator/label",
    "campaigns": "lead/campaign",
    "agreement": "researcher/statistics/cohen-kappa",
    "runs": "researcher/own-model",
    "try_a_notebook": "engineer/check",
    "data": "researcher/own-notebooks",
}
"""Page of the app to the page of the site that explains it."""
_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'{scripts}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)


def help_address(page: str) -> str:
    """The address, relative to a page of the app, of what explains it.

    An address that names no page is shown a page too: its help is that of the start page.
    """
    return f".{ADDRESS}/{OF_PAGES.get(page, OF_PAGES['overview'])}.html"


class Documentation:
    """ASGI middleware: answers everything below /docs/ from the built site, or from its texts where none was built."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = dict(headers)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        path = scope["path"]
        if scope["type"] != "http" or not (
            path == ADDRESS or path.startswith(f"{ADDRESS}/")
        ):
            await self._app(scope, receive, send)
            return
        answer = await self._answer(scope, path.removeprefix(ADDRESS))
        await answer(scope, receive, self._with_headers(send))

    async def _answer(self, scope: Scope, path: str) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse(
                "Not allowed.", HTTPStatus.METHOD_NOT_ALLOWED
            )
        if not path:
            return RedirectResponse(f"{ADDRESS}/")
        name = path.lstrip("/") or "index.html"
        if SITE.is_dir():
            return await _file(SITE, name, scope) or _not_found()
        if name.endswith(".html"):
            return (
                await _text(f"{name.removesuffix('.html')}.md", scope)
                or _not_found()
            )
        return await _file(SOURCES, name, scope) or _not_found()

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        return sending


async def _file(folder: Path, name: str, scope: Scope) -> Response | None:
    """A file of the folder; None if there is none of this name in it."""
    try:
        found = await StaticFiles(directory=folder).get_response(name, scope)
    except HTTPException:
        return None
    if name.endswith(".html"):
        page = (folder / name).read_text("utf-8")
        found.headers["Content-Security-Policy"] = _POLICY.format(
            scripts=_digests(page)
        )
    return found


async def _text(name: str, scope: Scope) -> Response | None:
    """The text of a page of the site, drawn without its menu; None if there is none of this name."""
    if await _file(SOURCES, name, scope) is None:
        return None
    page = page_html((SOURCES / name).read_text("utf-8"), depth=name.count("/"))
    return HTMLResponse(
        page, headers={"Content-Security-Policy": _POLICY.format(scripts="")}
    )


def _digests(page: str) -> str:
    """The scripts that the site's builder writes into a page, as a policy names them."""
    digests = {
        b64encode(sha256(script.encode()).digest()).decode()
        for script in _SCRIPT.findall(page)
    }
    return "".join(f" 'sha256-{digest}'" for digest in sorted(digests))


def _not_found() -> Response:
    return PlainTextResponse(
        "The documentation has no such page.", HTTPStatus.NOT_FOUND
    )
