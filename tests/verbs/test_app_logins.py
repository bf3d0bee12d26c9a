"""Whom `app` lets the network reach: beyond this machine only with a login, or where it is said plainly."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from crane_core.errors import CraneError, IdentityError
from crane_core.pipeline.places import DataFolder
from crane_core.verbs import app


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every start ends at the port, which comes after the logins were looked at."""

    def taken(address: str, port: int) -> None:
        raise CraneError("the logins are in order.", remedy="")

    monkeypatch.setattr(app, "_refuse_taken_port", taken)
    for name in (
        "CRANE_ROLES",
        "CRANE_PASSWORD",
        "CRANE_ADDRESS",
        "CRANE_PROXY_HEADER",
        "CRANE_PROXY_FROM",
    ):
        monkeypatch.setenv(name, "")  # so that what a start sets is undone
        monkeypatch.delenv(name)


def started(*arguments: str) -> None:
    verb = argparse.ArgumentParser()
    app.add_arguments(verb)
    app.run(verb.parse_args(list(arguments)), DataFolder(Path("unused")))


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.0.0.2", "localhost", "::1"]
)
def test_this_machine_needs_no_login(address: str) -> None:
    with pytest.raises(CraneError, match="in order"):
        started("--address", address)


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "::", "192.168.1.5", "crane.lab.example"]
)
def test_other_machines_are_refused_without_a_login(address: str) -> None:
    with pytest.raises(IdentityError, match="asks nobody to log in") as refused:
        started("--address", address)
    assert all(
        way in refused.value.remedy
        for way in ("CRANE_PASSWORD", "--roles FILE", "--no-login")
    )


def test_a_flag_says_that_no_login_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CraneError, match="in order"):
        started("--address", "0.0.0.0", "--no-login")
    assert "WARNING: no login is asked at 0.0.0.0" in capsys.readouterr().err


def test_a_password_or_a_roles_file_is_a_login(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text('"lea@lab.example" = "admin"')
    with pytest.raises(CraneError, match="in order"):
        started("--address", "0.0.0.0", "--roles", str(roles))
    monkeypatch.setenv("CRANE_ROLES", "")
    monkeypatch.setenv("CRANE_PASSWORD", "open sesame")
    with pytest.raises(CraneError, match="in order"):
        started("--address", "0.0.0.0")
    with pytest.raises(
        IdentityError, match="Both a roles file and CRANE_PASSWORD"
    ):
        started("--roles", str(roles))


@pytest.mark.parametrize("text", ["nonsense", '"lea@lab.example" = "boss"'])
def test_a_malformed_roles_file_stops_the_start(
    tmp_path: Path, text: str
) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text(text)
    with pytest.raises(
        IdentityError, match=r"The roles file \(--roles or CRANE_ROLES\)"
    ):
        started("--roles", str(roles))


def test_a_roles_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(IdentityError, match="cannot be read"):
        started("--roles", str(tmp_path / "roles.toml"))


def test_a_wrong_network_of_proxies_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text('"lea@lab.example" = "admin"')
    monkeypatch.setenv("CRANE_PROXY_FROM", "proxy.example")
    with pytest.raises(IdentityError, match="CRANE_PROXY_FROM"):
        started("--roles", str(roles))
