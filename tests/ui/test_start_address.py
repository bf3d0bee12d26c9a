"""The start page has one address: its name leads there, whatever follows it, and no dialog says that it is missing."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from crane_core.ui.first_paint import FirstPaint


@pytest.fixture
def client() -> TestClient:
    page = Route(
        "/{anything:path}",
        lambda request: PlainTextResponse("Streamlit's page"),
    )
    return TestClient(
        FirstPaint(Starlette(routes=[page])), follow_redirects=False
    )


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("/overview", "/"),
        ("/overview/", "/"),
        ("/overview?library=a%26b", "/?library=a%26b"),
    ],
)
def test_its_name_leads_to_the_start(
    client: TestClient, asked: str, leads_to: str
) -> None:
    answer = client.get(asked)
    assert (answer.status_code, answer.headers["location"]) == (307, leads_to)


@pytest.mark.parametrize("asked", ["/", "/cases", "/overview_of_it"])
def test_other_addresses_are_answered(client: TestClient, asked: str) -> None:
    assert client.get(asked).status_code == 200
