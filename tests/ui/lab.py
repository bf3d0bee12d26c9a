"""A server with logins and a labelled campaign, as the tests of roles, sessions and connections visit it."""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from crane_core.cli import main
from crane_core.identity.visitor import Role
from crane_core.pipeline.places import DataFolder
from tests.spoken import Spoken
from tests.ui.visits import Visitor, asked, session_of

LISTED = """
"vic@lab.example" = "viewer"
"ana@lab.example" = "annotator"
"ben@lab.example" = "annotator"
"cyd@lab.example" = "annotator"
"lea@lab.example" = "lead"
"ada@lab.example" = "admin"
"*@other.example" = "viewer"
"""
PASSWORD = "open sesame"
"""Of the app that has a shared one instead."""
OF_ROLE = {
    Role.VIEWER: "vic",
    Role.ANNOTATOR: "cyd",
    Role.LEAD: "lea",
    Role.ADMIN: "ada",
}
PILOT = "pilot"
"""The blind campaign in which ana and ben have labelled everything."""
AUDITED = "audited"
"""A campaign of two people who do not log in, to be locked and opened again."""


def copied(folder: DataFolder, place: Path) -> DataFolder:
    """A copy of a data folder, for one server."""
    return DataFolder(Path(shutil.copytree(folder.path, place / "data")))


class Lab(NamedTuple):
    """A running server with a roles file and two campaigns. A test leaves it as it was."""

    address: str
    folder: DataFolder
    roles: Path

    def visitor(self, email: str, *, seconds: int = 600) -> Visitor:
        """Somebody with a session of this server; it has expired where `seconds` is not positive."""
        return Visitor(
            self.address, session_of(self.folder.path, email, seconds=seconds)
        )

    def of(self, role: Role) -> Visitor:
        return self.visitor(f"{OF_ROLE[role]}@lab.example")

    def logged_in(self, name: str) -> Visitor:
        """Somebody who opened an invitation link."""
        answer = asked(self.address, self.invited(name))
        return Visitor(
            self.address,
            (answer.getheader("Set-Cookie") or "").partition(";")[0],
        )

    def command(self, *arguments: str) -> Spoken:
        """What a command beside the server says. It runs in this process, which holds nothing of the server."""
        written = io.BytesIO()
        out, err = (
            io.TextIOWrapper(written, "utf-8", write_through=True),
            io.StringIO(),
        )
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            patch.setattr(os, "environ", os.environ.copy())
            code = main(["--data", str(self.folder.path), *arguments])
        return Spoken(code, written.getvalue().decode(), err.getvalue())

    def invite(self, email: str, *options: str) -> Spoken:
        return self.command(
            "invite", email, "--roles", str(self.roles), *options
        )

    def invited(self, name: str, *options: str) -> str:
        """The address of a new invitation, without the server's."""
        link = self.invite(f"{name}@lab.example", *options).out.strip()
        return link[link.index("/invitation") :]

    def sessions(self, name: str) -> list[str]:
        """Ids of somebody's open sessions."""
        listed = json.loads(self.command("sessions", "--json").out)
        return [
            each["id"]
            for each in listed
            if each["email"] == f"{name}@lab.example"
        ]

    def acts(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(
            self.command("audit", "--json").out
        )
        return found

    def log(self) -> str:
        """What the server printed so far."""
        file = self.folder.path.with_name(
            f"{self.folder.path.name}.{urlsplit(self.address).port}.log"
        )
        return file.read_text("utf-8")
