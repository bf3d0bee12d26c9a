"""Addresses that lead to another: the start page's name, and what people type below a page's."""

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


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("/cases/torch_13", "/cases?case=torch_13"),
        ("/cases/torch_13/", "/cases?case=torch_13"),
        (
            "/cases/minibench/pandas_1",
            "/cases?benchmark=minibench&case=pandas_1",
        ),
        (
            "/cases/a%26b?benchmark=minibench",
            "/cases?case=a%26b&benchmark=minibench",
        ),
        ("/campaigns/pilot", "/campaigns?campaign=pilot"),
        ("/annotate/pilot", "/annotate?campaign=pilot"),
        ("/cases/%5Cevil.example", "/cases?case=%5Cevil.example"),
    ],
)
def test_a_path_below_a_page_leads_to_what_it_names(
    client: TestClient, asked: str, leads_to: str
) -> None:
    answer = client.get(asked, headers={"Accept": "text/html,*/*"})
    assert (answer.status_code, answer.headers["location"]) == (307, leads_to)


@pytest.mark.parametrize(
    "asked",
    [
        "/component/crane.bar/index.html",
        "/static/index.html",
        "/cases/_stcore/health",
        "/auth/logins",
        "/base/of/a/proxy",
    ],
)
def test_files_that_a_page_asks_for_are_answered(
    client: TestClient, asked: str
) -> None:
    answer = client.get(asked, headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 200
    assert client.get("/cases/media/1.png").status_code == 200
