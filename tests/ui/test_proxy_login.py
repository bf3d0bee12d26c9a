"""A proxy that names the visitor in a header: believed where it is the proxy, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks._server import serve
from crane_core.pipeline.places import DataFolder
from tests.ui.lab import LISTED, Lab, copied
from tests.ui.visits import Visitor, asked

LEA = {"X-Forwarded-Email": "lea@lab.example"}
ASKED = "If you have an invitation link"


@pytest.fixture(scope="module")
def proxied_app(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app behind a proxy at 127.0.0.1, which names the visitor."""
    place = tmp_path_factory.mktemp("proxied")
    data = copied(prepared_folder, place).path
    roles = place / "roles.toml"
    roles.write_text(LISTED)
    settings = {
        "CRANE_PROXY_HEADER": "X-Forwarded-Email",
        "CRANE_PROXY_LOGOUT": "/oauth2/sign_out",
    }
    with serve(
        data, CRANE_ROLES=str(roles), CRANE_PROXY_FROM="127.0.0.1", **settings
    ) as address:
        yield address


@pytest.mark.slow
def test_the_proxys_header_is_who_visits(proxied_app: str) -> None:
    assert (
        Visitor(proxied_app, headers=LEA)
        .sees("campaigns")
        .shows("New campaign")
    )
    far = LEA | {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    secure = Visitor(
        proxied_app, headers=far, origin=proxied_app.replace("http", "https")
    )
    assert secure.sees("campaigns").shows("New campaign")
    with pytest.raises(InvalidStatus):
        Visitor(proxied_app, headers=far).sees(
            "campaigns"
        )  # a page of http beside the one of https
    assert (
        Visitor(
            proxied_app, headers={"x-forwarded-email": "ADA@lab.example"}
        ).may_upload()
        == 204
    )
    assert Visitor(proxied_app, headers=LEA).may_upload() == 403
    assert (
        Visitor(proxied_app, headers={"X-Forwarded-Email": "eve@lab.example"})
        .sees("data")
        .shows("not on this server")
    )
    for header in (
        {},
        {"X-Forwarded-Email": ""},
        {"X_Forwarded_Email": "lea@lab.example"},
    ):
        assert (
            Visitor(proxied_app, headers=header)
            .sees("campaigns")
            .shows("it did not name you")
        ), header
    left = asked(proxied_app, "/logout")
    assert (left.status, left.getheader("Location")) == (
        303,
        "/oauth2/sign_out",
    )


def is_nothing(header: Visitor) -> None:
    for forwarded in ({}, {"X-Forwarded-For": "10.9.8.7"}):
        seen = replace(header, headers=LEA | forwarded).sees("campaigns")
        assert seen.shows(ASKED)
        assert not seen.shows("New campaign")


@pytest.mark.skipif(
    not Path("/proc").is_dir(),
    reason="only Linux has more than one address of loopback",
)
@pytest.mark.slow
def test_the_header_of_another_peer_is_nothing(proxied_app: str) -> None:
    is_nothing(Visitor(proxied_app, peer="127.0.0.2"))


def test_the_header_is_nothing_where_none_is_configured(lab: Lab) -> None:
    is_nothing(Visitor(lab.address))
