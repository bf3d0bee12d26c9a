"""The server for assistants: its tools and schemas, what it refuses, the audit log, and both transports."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from crane_core.agents.kernels import KernelTools
from crane_core.agents.server import GUIDELINE_URI, server
from crane_core.agents.study import StudyTools
from crane_core.api import open_data
from crane_core.cli import main
from crane_core.domain import AuditAction
from crane_core.errors import StoreError
from crane_core.pipeline.audit import entries
from crane_core.pipeline.places import CHECKOUT, DataFolder
from tests.agents.conftest import Ask, Call, words

TOOLS = {
    "list_kernels",
    "check_cell",
    "kernel_state",
    "rehearse_cell",
    "suggest_fix",
    "explain_crash",
    "search_cases",
    "study_results",
}
TOKEN = "-".join(["for", "these", "tests", "alone"])
KEY = "-".join(["sk", "a" * 30])


@pytest.mark.parametrize(
    "may_run",
    [(), ("check_cell", "rehearse_cell", "suggest_fix")],
    ids=["reads", "runs"],
)
def test_each_tool_has_schemas_and_says_whether_it_only_reads(
    small_folder: DataFolder, tmp_path: Path, may_run: tuple[str, ...]
) -> None:
    kernels = KernelTools(tmp_path, may_execute=bool(may_run))
    made = server(kernels, StudyTools(small_folder))
    tools = {tool.name: tool for tool in asyncio.run(made.list_tools())}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema and tool.output_schema["properties"]
        assert tool.annotations
    runs = {
        name
        for name, tool in tools.items()
        if tool.annotations and not tool.annotations.read_only_hint
    }
    assert runs == set(may_run)


def test_cases_are_found(ask: Ask) -> None:
    every, none = ask(
        ("search_cases", {"benchmark": "minibench", "limit": 1}),
        ("search_cases", {"text": "no case has these words"}),
    )
    assert every.structured_content
    assert len(every.structured_content["cases"]) == 1
    assert every.structured_content["n_found"] == 3
    assert none.structured_content == {"cases": [], "n_found": 0}


@pytest.mark.slow
def test_results_are_the_leaderboard(
    answered_folder: DataFolder, tmp_path: Path
) -> None:
    copied = shutil.copytree(answered_folder.path, tmp_path / "data")
    study = StudyTools(DataFolder(Path(copied)))
    told = study.study_results("minibench")
    with open_data(study.folder.path) as data:
        expected = data.leaderboard("minibench")
    assert len(told.rows) == len(expected) > 0
    assert [row["name"] for row in told.rows] == list(expected["name"])
    assert [row["accuracy"] for row in told.rows] == list(expected["accuracy"])
    # It goes to the assistant as JSON.
    assert json.loads(json.dumps(told.rows)) == told.rows
    with pytest.raises(StoreError, match="minibench"):
        study.study_results("nowhere")


def test_a_found_case_is_a_resource(ask: Ask, small_folder: DataFolder) -> None:
    [found] = ask(("search_cases", {"benchmark": "minibench", "limit": 1}))
    assert found.structured_content
    [case] = found.structured_content["cases"]
    made = server(
        KernelTools(Path(), may_execute=False), StudyTools(small_folder)
    )

    async def read(uri: str) -> str:
        async with Client(made) as client:
            [content] = (await client.read_resource(uri)).contents
        return str(getattr(content, "text", ""))

    told = json.loads(asyncio.run(read(case["uri"])))
    assert told["case"]["case_id"] == case["case_id"]
    assert {cell["role"] for cell in told["cells"]} == {
        "executed",
        "not run",
        "target",
    }
    assert "correct" in asyncio.run(read(GUIDELINE_URI))


def test_nothing_runs_without_leave(ask: Ask) -> None:
    given = {"kernel": "any", "code": "1"}
    for refused in ask(("rehearse_cell", given), ("suggest_fix", given)):
        assert refused.is_error
        assert "--allow-execution" in words(refused)


def test_a_saved_notebook_is_judged_from_its_code(
    ask: Ask, tmp_path: Path
) -> None:
    cells = ["beds = {}", "print(bedz)"]
    document = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "id": f"c{place}",
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for place, source in enumerate(cells)
        ],
    }
    (tmp_path / "trip.ipynb").write_text(json.dumps(document), "utf-8")
    (tmp_path.parent / "other.ipynb").write_text(json.dumps(document), "utf-8")
    inside, outside, both = ask(
        ("check_cell", {"notebook": "trip.ipynb", "cell": 1}),
        ("check_cell", {"notebook": "../other.ipynb"}),
        ("check_cell", {"notebook": "trip.ipynb", "code": "1"}),
    )
    assert inside.structured_content
    assert inside.structured_content["crashes"] is True
    assert inside.structured_content["knows_values"] is False
    assert "--allow-execution" in inside.structured_content["note"]
    assert "outside" in words(outside)
    assert "Give code and kernel" in words(both)


def test_a_traceback_names_the_line(ask: Ask) -> None:
    traceback = (
        "\x1b[31mKeyError\x1b[0m        Traceback (most recent call last)\n"
        "Cell In[3], line 2\n      1 beds = {}\n----> 2 beds['x']\n\nKeyError: 'x'"
    )
    told, none = ask(
        (
            "explain_crash",
            {"traceback": traceback, "code": "beds = {}\nbeds['x']"},
        ),
        ("explain_crash", {"traceback": "nothing", "code": "1"}),
    )
    assert told.structured_content and none.structured_content
    assert told.structured_content["exception"] == "KeyError"
    assert told.structured_content["message"] == "'x'"
    assert told.structured_content["line"] == 2
    assert none.structured_content["exception"] == ""
    assert none.structured_content["line"] is None


HOSTILE: list[Any] = [
    None,
    "",
    "\0",
    "../../etc/passwd",
    "/etc/passwd",
    "~root/.ssh/id_rsa",
    "'; DROP TABLE cases; --",
    "<script>alert(1)</script>",
    "\ud800",
    "x" * 300_000,
    -1,
    10**30,
    1.5,
    float("nan"),
    [],
    {"a": {"b": []}},
]


def hostile_calls() -> Iterator[Call]:
    """Each value for each argument of each tool, and tools that there are not."""
    takes = {
        "check_cell": ("code", "kernel", "notebook", "cell"),
        "kernel_state": ("kernel", "code"),
        "rehearse_cell": ("kernel", "code", "seconds"),
        "suggest_fix": ("kernel", "code"),
        "explain_crash": ("traceback", "code", "kernel"),
        "search_cases": ("text", "benchmark", "library", "limit"),
        "study_results": ("benchmark", "credit"),
    }
    for tool, names in takes.items():
        for name in names:
            for value in HOSTILE:
                if value != "\ud800":
                    yield tool, {name: value}
    yield "no_tool", {}
    yield "__init__", {"code": "1"}


@pytest.mark.slow
def test_hostile_calls_are_answered_or_refused_and_each_is_noted(
    ask: Ask, small_folder: DataFolder
) -> None:
    calls = list(hostile_calls())
    assert len(calls) > 100
    results = ask(*calls, may_execute=True)
    for (tool, arguments), result in zip(calls, results, strict=True):
        said = words(result)
        if not result.is_error:
            assert tool in ("search_cases", "explain_crash"), arguments
            continue
        assert said
        assert "Traceback" not in said
        # What was expected has words of ours or of the schema; the rest would be this alone.
        assert said != f"Error executing tool {tool}", arguments
    noted = [
        entry
        for entry in entries(small_folder)
        if entry.action is AuditAction.ASSIST
    ]
    assert len(noted) == len(calls)


def test_each_call_is_noted_without_its_secrets(
    ask: Ask, small_folder: DataFolder
) -> None:
    ask(
        ("search_cases", {"text": KEY}),
        ("kernel_state", {"kernel": "none", "code": f"key = '{KEY}'"}),
        ("no_tool", {}),
    )
    noted = [
        entry
        for entry in entries(small_folder)
        if entry.action is AuditAction.ASSIST
    ]
    assert sorted(entry.what for entry in noted) == [
        "kernel_state",
        "no_tool",
        "search_cases",
    ]
    assert {entry.acted_from for entry in noted} == {"assistant over stdio"}
    assert KEY not in repr(noted)


@pytest.mark.slow
def test_over_stdio(small_folder: DataFolder, tmp_path: Path) -> None:
    command = ["-m", "crane_core", "--data", str(small_folder.path), "mcp"]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*command, "--notebooks", str(tmp_path)],
        cwd=str(CHECKOUT),
    )

    async def names() -> set[str]:
        async with Client(stdio_client(parameters)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(names()) == TOOLS


@contextmanager
def over_http(folder: DataFolder) -> Iterator[str]:
    """The address of a server that ends with the body."""
    command = [sys.executable, "-m", "crane_core", "--data", str(folder.path)]
    with subprocess.Popen(
        [*command, "mcp", "--http"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        env={"CRANE_MCP_TOKEN": TOKEN, "PATH": ""},
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("Listening at http://127.0.0.1:"), line
            yield line.split()[-1]
        finally:
            process.terminate()


@pytest.mark.slow
def test_over_http_with_a_token_alone(small_folder: DataFolder) -> None:
    async def names(address: str, token: str) -> set[str]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as web,
            Client(streamable_http_client(address, http_client=web)) as client,
        ):
            return {tool.name for tool in (await client.list_tools()).tools}

    with over_http(small_folder) as address:
        assert asyncio.run(names(address, TOKEN)) == TOOLS
        for headers in (
            {},
            {"Authorization": "Bearer another token"},
            {"Authorization": f"Basic {TOKEN}"},
        ):
            answer = httpx2.post(address, json={}, headers=headers)
            assert answer.status_code == 401
        # As a page of another site would come, whose name leads to this machine.
        told = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
        assert httpx2.post(address, json={}, headers=told).status_code == 421


@pytest.mark.parametrize(
    ("options", "environment", "words_"),
    [
        (["--http"], {"CRANE_MCP_TOKEN": "short"}, "CRANE_MCP_TOKEN is too"),
        (["--notebooks", "nowhere"], {}, "nowhere is not a folder"),
        (
            ["--allow-execution"],
            {"CRANE_ALLOW_EXECUTION": "0"},
            "forbids running notebooks",
        ),
    ],
)
def test_what_the_command_refuses(
    options: list[str],
    environment: dict[str, str],
    words_: str,
    small_folder: DataFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["--data", str(small_folder.path), "mcp", *options]) == 1
    assert words_ in capsys.readouterr().err
