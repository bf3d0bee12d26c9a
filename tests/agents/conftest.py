"""A server for assistants, and its official client, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.types import CallToolResult

from crane_core.agents.kernels import KernelTools
from crane_core.agents.server import server
from crane_core.agents.study import StudyTools
from crane_core.pipeline.places import DataFolder

Call = tuple[str, dict[str, Any]]
Ask = Callable[..., list[CallToolResult]]


@pytest.fixture
def ask(small_folder: DataFolder, tmp_path: Path) -> Ask:
    """Calls tools one after the other: `ask((name, arguments), ...)`."""

    def asked(*calls: Call, may_execute: bool = False) -> list[CallToolResult]:
        made = server(
            KernelTools(tmp_path, may_execute), StudyTools(small_folder)
        )

        async def all_of_them() -> list[CallToolResult]:
            async with Client(made) as client:
                return [await client.call_tool(*call) for call in calls]

        return asyncio.run(all_of_them())

    return asked


def words(result: CallToolResult) -> str:
    """The text of a result."""
    return " ".join(getattr(part, "text", "") for part in result.content)
