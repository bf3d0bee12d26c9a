"""Which endpoints may be asked, and that a key reaches the one that it is for and no other."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint, resolve
from crane_core.llm.endpoints import FILE, configured_endpoints, named_endpoint
from crane_core.llm.keys import Secret
from crane_core.llm.limiter import Limiter
from crane_core.llm.prices import Price
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience

KEY = "key-of-the-first-server"
ORGANIZATION = {
    "OPENAI_ORG_ID": "org-ours",
    "OPENAI_PROJECT_ID": "proj-ours",
    "OPENAI_ADMIN_KEY": "admin-key-ours",
}
REPLY = json.dumps(
    {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
).encode()


@contextmanager
def listening(redirect: str | None = None) -> Iterator[tuple[str, list[str]]]:
    """A real server on its own port: its address, and the head of every request that reached it."""
    heads: list[str] = []

    class EndpointHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heads.append(f"{self.path}\n{self.headers}")
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307 if redirect else 200)
            if redirect:
                self.send_header("Location", f"{redirect}/chat/completions")
            self.send_header(
                "Content-Length", "0" if redirect else str(len(REPLY))
            )
            self.end_headers()
            self.wfile.write(b"" if redirect else REPLY)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), EndpointHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", heads
        finally:
            server.shutdown()
            thread.join()


def ask(endpoint: Endpoint) -> list[Answer]:
    answers: list[Answer] = []
    patience = RetryPatience(max_attempts=1)
    ask_all(
        [Question(1, "q")],
        endpoint,
        on_answer=answers.append,
        patience=patience,
        limiter=Limiter(),
    )
    return answers


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("CRANE_API_KEY", "CRANE_BASE_URL"),
    ],
)
def test_second_server_never_receives_the_key_of_the_first(
    key: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as (first, at_first), listening() as (second, at_second):
        for name, value in ({key: KEY, address: first} | ORGANIZATION).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        for base_url in (
            first,
            second,
            second.replace("127.0.0.1", "localhost"),
        ):
            assert [answer.text for answer in ask(resolve("m", base_url))] == [
                "x"
            ]
    assert [f"Bearer {KEY}" in head for head in at_first] == [True]
    assert len(at_second) == 2
    secrets = (KEY, *ORGANIZATION.values())
    assert not [
        secret for head in at_second for secret in secrets if secret in head
    ]


def test_redirect_takes_neither_key_nor_question_to_another_server() -> None:
    with (
        listening() as (second, at_second),
        listening(redirect=second) as (first, at_first),
        pytest.raises(DetectorError, match="has moved: status 307"),
    ):
        ask(Endpoint("m", first, Secret(KEY)))
    assert (len(at_first), at_second) == (1, [])


def configured(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "endpoints.toml").write_text(text)
    return {
        FILE: str(tmp_path / "endpoints.toml"),
        "OPENAI_API_KEY": "of-openai",
        "MINE": "of-mine",
    }


OURS = """
[ours]
base_url = "https://llm.example.org/v1/"
key_env = "MINE"
models = ["a", "b"]
price_in = 1
price_out = 2
"""


def test_file_names_the_endpoints_and_nothing_else_does(tmp_path: Path) -> None:
    environ = configured(
        tmp_path, OURS + '[local]\nbase_url = "http://127.0.0.1:11434/v1"\n'
    )
    assert [each.name for each in configured_endpoints(environ, tmp_path)] == [
        "ours",
        "local",
    ]
    endpoint, price = named_endpoint(
        "ours", "a", environ=environ, folder=tmp_path
    )
    assert (endpoint.base_url, endpoint.key, price) == (
        "https://llm.example.org/v1",
        Secret("of-mine"),
        Price(1, 2, "stated for ours"),
    )
    local, unknown = named_endpoint(
        "local", "any", environ=environ, folder=tmp_path
    )
    assert (local.key, unknown) == (None, None)


@pytest.mark.parametrize(
    ("name", "model", "words"),
    [
        ("https://evil.example/v1", "a", r"Choose a configured one \(ours\)"),
        ("", "a", "No endpoint is configured with the name ''"),
        ("ours", "c", "not configured for the model 'c'. Choose one: a, b"),
        ("ours", " ", "not configured for the model"),
    ],
)
def test_what_nobody_configured_is_refused(
    name: str, model: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DetectorError, match=words):
        named_endpoint(
            name, model, environ=configured(tmp_path, OURS), folder=tmp_path
        )


@pytest.mark.parametrize(
    ("environ", "addresses"),
    [
        ({}, []),
        ({"CRANE_API_KEY": "k"}, []),
        (
            {"GEMINI_API_KEY": "k"},
            ["https://generativelanguage.googleapis.com/v1beta/openai"],
        ),
        ({"OPENAI_API_KEY": "k"}, ["https://api.openai.com/v1"]),
        (
            {
                "OPENAI_API_KEY": "k",
                "OPENAI_BASE_URL": "http://127.0.0.1:4000/v1",
            },
            ["http://127.0.0.1:4000/v1"],
        ),
        (
            {"CRANE_BASE_URL": "http://127.0.0.1:11434/v1"},
            ["http://127.0.0.1:11434/v1"],
        ),
    ],
)
def test_without_a_file_the_environment_names_them(
    environ: dict[str, str], addresses: list[str], tmp_path: Path
) -> None:
    assert [
        each.base_url for each in configured_endpoints(environ, tmp_path)
    ] == addresses


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[ours", "cannot be read"),
        ("ours = 1", "ours has no base_url"),
        ('[ours]\nbase_url = "ftp://x"', "not the address of a server"),
        (
            '[ours]\nbase_url = "https://x/v1"\nmodel = "a"',
            "has the unknown member model",
        ),
        (
            '[ours]\nbase_url = "https://x/v1"\nmodels = "a"',
            "has a models of the wrong type",
        ),
        (
            '[ours]\nbase_url = "https://x/v1"\nmodels = [1]',
            "has a model that is not a string",
        ),
        (
            '[ours]\nbase_url = "https://x/v1"\nprice_in = 1',
            "has only one of two prices",
        ),
        (
            '[ours]\nbase_url = "https://x/v1"\nprice_in = nan\nprice_out = 1',
            "has a price that is not a number",
        ),
    ],
)
def test_file_of_another_form_is_refused_with_the_place(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DetectorError, match=words):
        configured_endpoints(configured(tmp_path, text), tmp_path)


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match="cannot be read"):
        configured_endpoints({FILE: str(tmp_path / "none.toml")}, tmp_path)


@pytest.mark.parametrize(
    ("set_here", "address"),
    [
        (("CRANE_BASE_URL", "OPENAI_BASE_URL"), "http://127.0.0.1:1/v1"),
        (("OPENAI_BASE_URL",), "http://127.0.0.1:2/v1"),
    ],
)
def test_our_own_variable_comes_first(
    set_here: tuple[str, ...], address: str, tmp_path: Path
) -> None:
    stated = {
        "CRANE_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_BASE_URL": "http://127.0.0.1:2/v1",
    }
    environ = {name: stated[name] for name in set_here}
    assert resolve("m", environ=environ, folder=tmp_path).base_url == address
