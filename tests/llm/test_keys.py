"""Keys come from two places, go to one, and are seen nowhere."""

from __future__ import annotations

import base64
import copy
import dataclasses
import html
import json
import logging
import pickle
import traceback
from pathlib import Path
from urllib.parse import quote

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint, resolve
from crane_core.llm.fake_server import FakePlan, ServerFault, fake_server
from crane_core.llm.keys import (
    OPENAI,
    Secret,
    key_for,
    without_keys,
    without_secrets,
)
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience

KEY = "a-key-of-no-known-form/+7f3c"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
EVERY = {
    "OPENAI_API_KEY": "of-openai",
    "GEMINI_API_KEY": "of-gemini",
    "OPENROUTER_API_KEY": "of-openrouter",
    "CRANE_API_KEY": "of-another",
}


@pytest.mark.parametrize(
    ("base_url", "key"),
    [
        (OPENAI, "of-openai"),
        (GEMINI, "of-gemini"),
        ("https://openrouter.ai/api/v1", "of-openrouter"),
        ("https://models.example.org/v1", None),
        ("https://api.openai.com.example.org/v1", None),
        ("https://openrouter.ai.example.org/api/v1", None),
        ("http://localhost:11434/v1", None),
    ],
)
def test_each_endpoint_gets_its_own_key(
    base_url: str, key: str | None, tmp_path: Path
) -> None:
    wanted = None if key is None else Secret(key)
    assert key_for(base_url, environ=EVERY, folder=tmp_path) == wanted
    lines = [
        f"export {name}='{value}'  # a remark" for name, value in EVERY.items()
    ]
    (tmp_path / ".env").write_text("\n".join(lines))
    assert key_for(base_url, environ={}, folder=tmp_path) == wanted


GATEWAY = "https://models.example.org/v1"


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("CRANE_API_KEY", "CRANE_BASE_URL"),
    ],
)
def test_key_is_for_the_address_that_is_stated_beside_it(
    key: str, address: str, tmp_path: Path
) -> None:
    pair = {key: "of-the-gateway", address: GATEWAY}
    assert key_for(
        "https://models.example.org:443/other", environ=pair, folder=tmp_path
    ) == Secret("of-the-gateway")
    for other in (
        "http://models.example.org/v1",
        "https://models.example.org:444/v1",
        "https://example.org/v1",
    ):
        assert key_for(other, environ=pair, folder=tmp_path) is None
    with pytest.raises(DetectorError, match=r"no key for api\.openai\.com"):
        key_for(OPENAI, environ=pair, folder=tmp_path)
    (tmp_path / ".env").write_text(
        "\n".join(f"{name}={value}" for name, value in pair.items())
    )
    assert key_for(GATEWAY, environ={}, folder=tmp_path) == Secret(
        "of-the-gateway"
    )


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("CRANE_API_KEY", "CRANE_BASE_URL"),
    ],
)
def test_file_of_a_folder_cannot_redirect_a_key_of_the_environment(
    key: str, address: str, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(f"{address}={GATEWAY}\n")
    assert (
        key_for(GATEWAY, environ={key: "of-the-environment"}, folder=tmp_path)
        is None
    )


def test_key_that_is_named_goes_where_it_is_sent(tmp_path: Path) -> None:
    assert key_for(
        GATEWAY, key_env="MINE", environ={"MINE": "k-1"}, folder=tmp_path
    ) == Secret("k-1")
    with pytest.raises(
        DetectorError, match=r"no key for models\.example\.org\. Set MINE"
    ):
        key_for(GATEWAY, key_env="MINE", environ=EVERY, folder=tmp_path)


def test_address_is_the_stated_one_where_none_is_given(tmp_path: Path) -> None:
    environ = {"OPENAI_BASE_URL": f"{GATEWAY}/", "OPENAI_API_KEY": "k-2"}
    endpoint = resolve("m", environ=environ, folder=tmp_path)
    assert (endpoint.base_url, endpoint.key) == (GATEWAY, Secret("k-2"))


def test_environment_goes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=of-the-file\n")
    assert key_for(OPENAI, environ=EVERY, folder=tmp_path) == Secret(
        "of-openai"
    )
    assert key_for(
        OPENAI, environ={"OPENAI_API_KEY": " "}, folder=tmp_path
    ) == Secret("of-the-file")


def test_file_of_the_working_directory_is_read_and_none_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=of-the-file\n")
    (tmp_path / "below").mkdir()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert key_for(OPENAI) == Secret("of-the-file")
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(
        DetectorError, match=r"no key for api\.openai\.com\. Set OPENAI_API_KEY"
    ):
        key_for(OPENAI)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.8.0.1", "[::1]"]
)
def test_endpoint_on_this_machine_needs_no_key(
    host: str, tmp_path: Path
) -> None:
    endpoint = resolve(
        "m", f"http://{host}:8000/v1/", environ={}, folder=tmp_path
    )
    assert (endpoint.key, endpoint.is_local, endpoint.base_url) == (
        None,
        True,
        f"http://{host}:8000/v1",
    )


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("http://api.openai.com/v1", "unencrypted"),
        ("https://user:hunter2@models.example.org/v1", "password"),
        ("https://models.example.org/v1?key=hunter2", "password"),
        ("models.example.org/v1", "not the address"),
        ("ftp://models.example.org", "not the address"),
        ("https://[::1/v1", "not the address"),
        ("https://models.example.org:99999/v1", "not the address"),
    ],
)
def test_address_that_would_lose_a_secret_or_is_none_is_refused(
    base_url: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DetectorError, match=words) as refused:
        resolve("m", base_url, environ=EVERY, folder=tmp_path)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        b"OPENAI_API_KEY=a\xc3\xa4\xc3\xb6\xc3\xbckey\n",
        b"a" * 1_000_001,
    ],
)
def test_file_that_holds_no_key_is_refused(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(DetectorError):
        key_for(OPENAI, environ={}, folder=tmp_path)


def test_key_cannot_be_shown_or_written() -> None:
    secret = Secret(KEY)
    endpoint = Endpoint("m", OPENAI, secret)
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>40}",
        repr(endpoint),
        repr([secret]),
    ]
    assert not [text for text in shown if KEY in text]
    for write in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="not stored"):
            write(secret)
    with pytest.raises(TypeError, match="not stored"):
        dataclasses.asdict(endpoint)


def test_keys_are_taken_out_of_texts() -> None:
    Secret(KEY)
    text = (
        f"Bearer {KEY}; ?key=a-key-of-no-known-form%2F%2B7f3c; sk-{'a1' * 20}"
    )
    assert without_keys(text) == f"Bearer <key>; ?key=<key>; sk-{'a1' * 20}"
    assert (
        without_secrets(text)
        == "Bearer <key>; ?key=<key>; <secret of 43 characters>"
    )


def test_keys_are_taken_out_however_a_server_quotes_them() -> None:
    key = "k3y/of<a>&server's\\own"
    Secret(key)
    quoted = {
        "address": quote(key, safe=""),
        "JSON": json.dumps(key)[1:-1],
        "JSON with escaped slashes": json.dumps(key)[1:-1].replace("/", r"\/"),
        "JSON by Go": json.dumps(key)[1:-1]
        .replace("<", r"\u003c")
        .replace(">", r"\u003e")
        .replace("&", r"\u0026"),
        "HTML": html.escape(key),
        "base64": base64.b64encode(key.encode()).decode().rstrip("="),
        "base64 of the header": base64.b64encode(f"Bearer {key}".encode())
        .decode()
        .rstrip("="),
    }
    assert {
        how: without_keys(f"you sent {text}.") for how, text in quoted.items()
    } == dict.fromkeys(quoted, "you sent <key>.")


def test_a_key_that_a_limit_cuts_is_taken_out_too() -> None:
    Secret(KEY)
    assert without_keys(f"you sent {KEY[:-1]}") == "you sent <key>"
    assert without_keys(f"you sent {KEY[:8]}") == "you sent <key>"
    assert without_keys(f"you sent {KEY[:7]}") == f"you sent {KEY[:7]}"


@pytest.mark.parametrize(
    "plan",
    [
        FakePlan(key="another", echoes_key=True),
        FakePlan(models=("another",), echoes_key=True),
        FakePlan(has_quota=False, echoes_key=True),
        FakePlan(faults={ServerFault.ERROR: 1}, echoes_key=True),
        FakePlan(
            storm_every=1, storm_length=1, echoes_key=True, retry_after_s=0.001
        ),
        FakePlan(
            storm_every=1, storm_length=1, echoes_key=True, retry_after_s=9_999
        ),
        FakePlan(rejects=frozenset({"model"}), echoes_key=True),
        FakePlan(faults={ServerFault.HANG: 1}),
        FakePlan(faults={ServerFault.CUT: 1}),
        FakePlan(key=KEY),
    ],
)
def test_key_stands_in_no_error_answer_or_log(
    plan: FakePlan,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    answers: list[Answer] = []
    raised: list[DetectorError] = []
    with fake_server(plan) as url:
        endpoint = Endpoint("m", url, Secret(KEY), timeout_s=0.5)
        patience = RetryPatience(max_attempts=2, first_s=0.01)
        try:
            ask_all(
                [Question(1, "q")],
                endpoint,
                on_answer=answers.append,
                patience=patience,
                limiter=Limiter(),
            )
        except DetectorError as error:
            raised.append(error)
    assert len(answers) + len(raised) == 1
    told = [
        text
        for error in raised
        for text in (
            repr(error),
            error.remedy,
            *traceback.format_exception(error),
        )
    ]
    seen = [repr(answers), *told, caplog.text, *capfd.readouterr()]
    assert not [text for text in seen if KEY in text]
    assert [(error.__cause__, error.__context__) for error in raised] == [
        (None, None)
    ] * len(raised)
