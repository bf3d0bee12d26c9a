"""What is shown before Streamlit's script has run: the sheet of styles, the app's name, its menu and the page's name.

Streamlit's page is empty until its own code has loaded and a first run of the script is over, which takes seconds on a
busy machine. Knows that page's HTML. Refuses to know what pages show.
"""

import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crane_core.ui import keys, navigation

STYLES = tuple(
    Path(__file__).with_name(name) for name in ("style.css", "frame.css")
)
SOON = re.compile(
    r"^(ArrowVegaLiteChart|embed|vega-interpreter|BidiComponent|Html|PageLink)\..*\.js$"
)
"""Parts of Streamlit that every page needs and that it asks for only once it has something to draw with them."""
_LIKE_A_PAGE = re.compile(r"/[^/._][^/.]*")
"""Addresses at which Streamlit serves its page though no page has that name."""
_BELOW_A_PAGE = re.compile(
    rf"/({'|'.join(navigation.ITEM_OF_PAGE)})((?:/[^/_][^/]*)+)"
)
"""Addresses below a page of many things. Below other names the server has addresses, too: /auth/login."""
_ROOT = b'<div id="root">'
"""By which that page differs from other HTML."""
AGAIN = (b"if-none-match", b"if-modified-since", b"accept-encoding")
"""Headers of a request for Streamlit's page that must not pass: the answer is that page and more."""


class FirstPaint:
    """ASGI middleware: puts style, name and menu into the page that Streamlit serves at the app's addresses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        names = navigation.page_files()
        first = next(iter(names))
        self._pages = {f"/{name}": name for name in names} | {"/": first}
        self._start = f"/{first}"
        self._head = f"{_preloads()}<title>Crane Workbench</title><style>{sheet()}</style>".encode()

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        is_asked = scope["type"] == "http" and scope["method"] == "GET"
        if is_asked and (meant := _meant_below(scope)):
            await RedirectResponse(meant)(scope, receive, send)
            return
        name = self._shown_at(scope) if is_asked else None
        if name is None:
            await self._app(scope, receive, send)
            return
        if (
            scope["path"].rstrip("/") == self._start
        ):  # Streamlit knows the start page by no other address than /
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"/?{query}" if query else "/")(
                scope, receive, send
            )
            return
        asked = {
            **scope,
            "headers": [
                (key, value)
                for key, value in scope["headers"]
                if key not in AGAIN
            ],
        }
        await self._app(
            asked,
            receive,
            _with_paint(send, self._head, _skeleton(name).encode()),
        )

    def _shown_at(self, scope: Scope) -> str | None:
        """What is shown at this address: a page, or that there is none; None where Streamlit's page is not served."""
        path = scope["path"].rstrip("/") or "/"
        return self._pages.get(path) or (
            navigation.NOT_FOUND if _LIKE_A_PAGE.fullmatch(path) else None
        )


def _meant_below(scope: Scope) -> str | None:
    """The address that a visitor means who typed a thing's path below its page; None where the path is none.

    Streamlit would serve its page there, too, whose files are then looked for below that path: nothing is ever drawn.
    """
    # Only what a browser opens as a page: files of pages and components are asked for by other headers.
    is_opened = "text/html" in Headers(scope=scope).get("accept", "")
    below = _BELOW_A_PAGE.fullmatch(scope["path"].rstrip("/"))
    if not is_opened or not below:
        return None
    page, path = below.groups()
    *between, last = path.split("/")[1:]
    of = [(keys.BENCHMARK, between[-1])] if between else []
    named = [(navigation.ITEM_OF_PAGE[page], last)]
    query = parse_qsl(scope["query_string"].decode("latin-1"))
    return f"/{page}?{urlencode([*of, *named, *query])}"


def _with_paint(send: Send, head: bytes, skeleton: bytes) -> Send:
    """Holds the answer back until it is whole; everything but HTML passes unchanged."""
    started: list[Message] = []
    body = bytearray()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)
            return
        body.extend(message.get("body", b""))
        if message.get("more_body"):
            return
        whole = bytes(body)
        if _ROOT in whole and Headers(raw=started[0]["headers"]).get(
            "content-type", ""
        ).startswith("text/html"):
            # Streamlit's title would win over ours, which stands behind it.
            whole = re.sub(rb"<title>.*?</title>", b"", whole)
            whole = whole.replace(b"</head>", head + b"</head>", 1).replace(
                b"<body>", b"<body>" + skeleton, 1
            )
            headers = MutableHeaders(scope=started[0])
            headers["content-length"] = str(len(whole))
            # They are of Streamlit's page alone, and would stay the same when our part of it changes.
            del headers["etag"]
            del headers["last-modified"]
        await send(started[0])
        await send({"type": "http.response.body", "body": whole})

    return sending


def sheet() -> str:
    """All styles of ours."""
    return (
        "".join(file.read_text("utf-8") for file in STYLES)
        + navigation.group_style()
    )


def _preloads() -> str:
    folder = files("streamlit").joinpath("static", "static", "js")
    # The names hold digests that change with every release of Streamlit, so they are looked up.
    names = sorted(
        entry.name for entry in folder.iterdir() if SOON.match(entry.name)
    )
    return "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{name}">'
        for name in names
    )


def _skeleton(shown: str) -> str:
    """Name, menu and title in their final places; the style sheet hides each once the real one is there."""
    mark = b64encode(navigation.MARK.read_bytes()).decode()
    links = "".join(
        _link(name, is_shown=name == shown) for name in navigation.page_files()
    )
    return (
        f'<div id="cw-first" aria-hidden="true"><div><img src="data:image/svg+xml;base64,{mark}" alt="">'
        f"<b>Crane Workbench</b><span>{links}</span></div><p>{escape(navigation.title(shown))}</p></div>"
    )


def _link(name: str, *, is_shown: bool) -> str:
    css = ' class="cw-here"' if is_shown else ""
    group = escape(navigation.group_of(name) or "")
    return f'<i{css} data-group="{group}">{escape(navigation.title(name))}</i>'
