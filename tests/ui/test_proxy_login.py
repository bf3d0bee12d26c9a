"""A proxy that names the visitor in a header: believed where it is the proxy, and nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks._server import serve
from crane_core.pipeline.places import DataFolder
from tests.ui.visits import Visitor, asked

LEA = {"X-Forwarded-Email": "lea@lab.example"}
ASKED = "If you have an invitation link"


@contextmanager
def app(prepared_folder: DataFolder, place: Path, **settings: str) -> Iterator[str]:
    data = Path(shutil.copytree(prepared_folder.path, place / "data"))
    roles = place / "roles.toml"
    roles.write_text('"lea@lab.example" = "lead"\n"ada@lab.example" = "admin"\n')
    with serve(data, CRANE_ROLES=str(roles), **{"CRANE_PROXY_FROM": "127.0.0.1"} | settings) as address:
        yield address


def test_the_proxys_header_is_who_visits(prepared_folder: DataFolder, tmp_path: Path) -> None:
    settings = {"CRANE_PROXY_HEADER": "X-Forwarded-Email", "CRANE_PROXY_LOGOUT": "/oauth2/sign_out"}
    with app(prepared_folder, tmp_path, **settings) as address:
        assert Visitor(address, headers=LEA).sees("campaigns").shows("New campaign")
        far = LEA | {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
        secure = Visitor(address, headers=far, origin=address.replace("http", "https"))
        assert secure.sees("campaigns").shows("New campaign")
        with pytest.raises(InvalidStatus):
            Visitor(address, headers=far).sees("campaigns")  # a page of http beside the one of https
        assert Visitor(address, headers={"x-forwarded-email": "ADA@lab.example"}).may_upload() == 204
        assert Visitor(address, headers=LEA).may_upload() == 403
        assert (
            Visitor(address, headers={"X-Forwarded-Email": "eve@lab.example"}).sees("data").shows("not on this server")
        )
        for header in ({}, {"X-Forwarded-Email": ""}, {"X_Forwarded_Email": "lea@lab.example"}):
            assert Visitor(address, headers=header).sees("campaigns").shows("it did not name you"), header
        left = asked(address, "/logout")
        assert (left.status, left.getheader("Location")) == (303, "/oauth2/sign_out")


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"CRANE_PROXY_HEADER": "X-Forwarded-Email", "CRANE_PROXY_FROM": "10.9.8.7"}, id="another peer"),
        pytest.param({}, id="no header configured"),
    ],
)
def test_the_header_of_anybody_else_is_nothing(
    prepared_folder: DataFolder, tmp_path: Path, settings: dict[str, str]
) -> None:
    with app(prepared_folder, tmp_path, **settings) as address:
        for forwarded in ({}, {"X-Forwarded-For": "10.9.8.7"}):
            seen = Visitor(address, headers=LEA | forwarded).sees("campaigns")
            assert seen.shows(ASKED)
            assert not seen.shows("New campaign")
