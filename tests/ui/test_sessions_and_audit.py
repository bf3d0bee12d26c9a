"""Who is logged in and who did what: on the page, on the command line, and in a backup."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from benchmarks._server import CHECKOUT, serve
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Kind, Population
from crane_core.pipeline.audit import FILE, audit_file
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.ui.visits import Drawn, Visitor, asked, drawn, in_own_loop, run

LISTED = '"ana@lab.example" = "annotator"\n"lea@lab.example" = "lead"\n"ada@lab.example" = "admin"\n'


class Lab(NamedTuple):
    """A running server with a roles file and a campaign."""

    address: str
    folder: DataFolder
    roles: Path

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "crane_core", "--data", str(self.folder.path), *arguments],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )

    def invited(self, name: str, *options: str) -> str:
        """The address of a new invitation, without the server's."""
        link = self.command("invite", f"{name}@lab.example", "--roles", str(self.roles), *options).stdout.strip()
        return link[link.index("/invitation") :]

    def logged_in(self, name: str) -> Visitor:
        answer = asked(self.address, self.invited(name))
        return Visitor(self.address, (answer.getheader("Set-Cookie") or "").partition(";")[0])

    def acts(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.command("audit", "--json").stdout)
        return found


@pytest.fixture(scope="module")
def lab(answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    place = tmp_path_factory.mktemp("sessions")
    folder = DataFolder(Path(shutil.copytree(answered_folder.path, place / "data")))
    store = prepare(folder)
    wish = CampaignRequest("pilot", ("ana", "ben"), Population("minibench", "ours"), Design(Kind.ALL), seed=7)
    try:
        plan = drawn_plan(store, wish)
    finally:
        store.close()
    keep_campaign(folder, plan)
    first = plan.orders["ana"][0].item
    label = {"event": "ana-first", "action": "label", "item": first, "showing": 1, "label": "correct", "seconds": 9.0}
    assert LabelStore(folder, "pilot").take("ana", [label]).refused == {}
    roles = place / "roles.toml"
    roles.write_text(LISTED)
    with serve(folder.path, CRANE_ROLES=str(roles)) as address:
        yield Lab(address, folder, roles)


def test_a_link_works_once_and_is_not_used_up_by_a_preview_or_its_own_browser(lab: Lab) -> None:
    link = lab.invited("ana")
    assert asked(lab.address, link, headers={"Sec-Purpose": "prefetch;prerender"}).status == 403
    first = asked(lab.address, link)
    assert first.status == 303
    cookie = (first.getheader("Set-Cookie") or "").partition(";")[0]
    again = asked(lab.address, link, headers={"Cookie": cookie})
    assert (again.status, again.getheader("Set-Cookie")) == (303, None)
    for _ in range(6):  # no guess, so that nobody is locked
        stolen = asked(lab.address, link)
        assert (stolen.status, "opened before" in stolen.text) == (403, True)
    reusable = lab.invited("ana", "--reusable")
    assert [asked(lab.address, reusable).status for _ in range(2)] == [303, 303]
    listed = lab.command("invite", "--list").stdout
    assert "ana@lab.example, works once, given out" in listed
    assert "ana@lab.example, reusable, given out" in listed
    assert "by invitation from 127.0.0.1, since" in listed


def test_an_admin_sees_who_is_logged_in_and_ends_a_session_with_one_click(lab: Lab) -> None:
    lea, ada = lab.logged_in("lea"), lab.logged_in("ada")
    assert lea.sees("campaigns").shows("New campaign")
    assert not lea.sees("data").shows("End session")
    [session] = [each for each in json.loads(lab.command("sessions", "--json").stdout) if each["email"][:3] == "lea"]

    def button_of(seen: Drawn) -> str:
        return next((id_ for id_ in seen.ids if f"end_{session['id']}" in id_), "")

    async def ending() -> None:
        async with await ada._joined() as socket:
            seen = await drawn(socket, "data", "")
            pressed = WidgetStates(widgets=[WidgetState(id=button_of(seen), trigger_value=True)])
            await run(socket, ClientState(page_name="data", widget_states=pressed))

    in_own_loop(ending())
    assert lea.sees("campaigns").shows("If you have an invitation link")
    after = ada.sees("data")
    assert after.shows("Sessions")
    assert not button_of(after)


def test_the_command_line_lists_and_ends_sessions(lab: Lab) -> None:
    ana = lab.logged_in("ana")
    listed = json.loads(lab.command("sessions", "--json").stdout)
    newest = next(each for each in listed if each["email"] == "ana@lab.example")
    assert newest["id"] in lab.command("sessions").stdout
    assert lab.command("sessions", "--end", newest["id"]).returncode == 0
    assert ana.sees("annotate").shows("If you have an invitation link")
    wrong = lab.command("sessions", "--end", "0000")
    assert (wrong.returncode, "No open session" in wrong.stderr) == (1, True)


def test_the_audit_log_tells_of_roles_logins_locks_exports_and_runs(lab: Lab, tmp_path: Path) -> None:
    ada = lab.logged_in("ada")
    ada.sees("data")
    lab.roles.write_text(LISTED.replace('"annotator"', '"viewer"'))
    ada.sees("data")
    lab.roles.write_text(LISTED)
    ada.sees("data")
    asked(lab.address, "/logout", headers={"Cookie": ada.cookie})
    lab.command("campaign", "export", "pilot", "--out", str(tmp_path / "out"))
    lab.command("campaign", "lock", "pilot", "--by", "=lea", "--anyway")
    lab.command("campaign", "again", "pilot", "--everything", "--by", "lea")
    about = ("--benchmark", "minibench", "--instances", "pandas_1*")
    lab.command("detect", "--detector", "rules", "--setting", "code", *about)
    lab.command("invite", "lea@lab.example", "--revoke")
    found = lab.acts()
    told = {(act["action"], act["what"], act["detail"]) for act in found}
    assert ("change role", "ana@lab.example", "annotator to viewer") in told
    assert ("change role", "ana@lab.example", "viewer to annotator") in told
    assert ("change role", "lea@lab.example", "no role to lead") in told
    assert ("lock", "campaign pilot", "locked by =lea") in told
    assert ("open again", "campaign pilot", "by lea") in told
    assert ("export", "campaign pilot", "to out") in told
    assert ("end access", "lea@lab.example", "all invitations and sessions") in told
    assert {"log in", "log out", "invite", "start run"} <= {act["action"] for act in found}
    by_page = next(act for act in found if act["action"] == "log out")
    assert (by_page["who"], by_page["from"]) == ("ada@lab.example", "127.0.0.1")
    lock = next(act for act in found if act["action"] == "lock")
    assert lock["who"]
    assert lock["from"].startswith("command line of")
    times = [act["when"] for act in found]
    assert times == sorted(times, reverse=True)


def test_the_log_is_shown_to_leads_and_no_annotator_and_is_part_of_a_backup(lab: Lab, tmp_path: Path) -> None:
    assert lab.logged_in("lea").sees("data").shows("Audit log")
    assert not lab.logged_in("ana").sees("data").shows("Audit log")
    assert lab.command("backup", str(tmp_path / "backup")).returncode == 0
    assert (tmp_path / "backup" / "ledger" / FILE).read_bytes() == audit_file(lab.folder).read_bytes()
    packed = lab.command("export", "--out", str(tmp_path / "pack"), "--without-statistics")
    assert packed.returncode == 0, packed.stderr
    assert not (tmp_path / "pack" / "ledger" / FILE).exists()
    table = list(csv.reader(io.StringIO(lab.command("audit", "--csv").stdout)))
    assert table[0] == ["when", "who", "from", "action", "what", "detail"]


def test_an_altered_log_is_found(lab: Lab) -> None:
    file = audit_file(lab.folder)
    lab.logged_in("ana")
    before = file.read_bytes()
    first, _, rest = before.partition(b"\n")
    try:
        file.write_bytes(rest)
        found = lab.command("doctor")
        assert found.returncode == 1
        assert f"ledger/{FILE}" in found.stdout + found.stderr
    finally:
        file.write_bytes(before)
    assert first
