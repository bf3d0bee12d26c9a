"""Who is logged in and who did what: on the page, on the command line, and in a backup."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from crane_core.pipeline.audit import FILE, audit_file
from tests.ui.lab import AUDITED, LISTED, Lab
from tests.ui.visits import Drawn, asked, drawn, in_own_loop, run


def test_a_link_works_once_and_is_not_used_up_by_a_preview_or_its_own_browser(
    lab: Lab,
) -> None:
    link = lab.invited("ana")
    assert (
        asked(
            lab.address, link, headers={"Sec-Purpose": "prefetch;prerender"}
        ).status
        == 403
    )
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
    listed = lab.command("invite", "--list").out
    assert "ana@lab.example, works once, given out" in listed
    assert "ana@lab.example, reusable, given out" in listed
    assert "by invitation from 127.0.0.1, since" in listed


def test_an_admin_sees_who_is_logged_in_and_ends_a_session_with_one_click(
    lab: Lab,
) -> None:
    before = set(lab.sessions("lea"))
    lea, ada = lab.logged_in("lea"), lab.logged_in("ada")
    assert lea.sees("campaigns").shows("New campaign")
    assert not lea.sees("data").shows("End session")
    [session] = set(lab.sessions("lea")) - before

    def button_of(seen: Drawn) -> str:
        return next((id_ for id_ in seen.ids if f"end_{session}" in id_), "")

    async def ending() -> None:
        async with await ada._joined() as socket:
            seen = await drawn(socket, "data", "")
            pressed = WidgetStates(
                widgets=[WidgetState(id=button_of(seen), trigger_value=True)]
            )
            await run(
                socket, ClientState(page_name="data", widget_states=pressed)
            )

    in_own_loop(ending())
    assert lea.sees("campaigns").shows("If you have an invitation link")
    after = ada.sees("data")
    assert after.shows("Sessions")
    assert not button_of(after)


def test_the_command_line_lists_and_ends_sessions(lab: Lab) -> None:
    before = set(lab.sessions("ana"))
    ana = lab.logged_in("ana")
    [newest] = set(lab.sessions("ana")) - before
    assert newest in lab.command("sessions").out
    assert lab.command("sessions", "--end", newest).code == 0
    assert ana.sees("annotate").shows("If you have an invitation link")
    wrong = lab.command("sessions", "--end", "0000")
    assert (wrong.code, "No open session" in wrong.err) == (1, True)


@pytest.mark.slow
def test_the_audit_log_tells_of_roles_logins_locks_exports_and_runs(
    lab: Lab, tmp_path: Path
) -> None:
    ada = lab.logged_in("ada")
    ada.sees("data")
    lab.roles.write_text(LISTED.replace('"annotator"', '"viewer"'))
    ada.sees("data")
    lab.roles.write_text(LISTED)
    ada.sees("data")
    asked(lab.address, "/logout", headers={"Cookie": ada.cookie})
    for arguments in (
        ("export", AUDITED, "--out", str(tmp_path / "out")),
        ("lock", AUDITED, "--by", "=lea", "--anyway"),
        ("again", AUDITED, "--everything", "--by", "lea"),
    ):
        done = lab.command("campaign", *arguments)
        assert done.code == 0, done.err
    about = ("--benchmark", "minibench", "--instances", "pandas_1*")
    done = lab.command(
        "detect",
        "--detector",
        "rules",
        "--setting",
        "code",
        "--concurrency",
        "1",
        *about,
    )
    assert done.code == 0, done.err
    lab.command("invite", "lea@lab.example", "--revoke")
    found = lab.acts()
    told = {(act["action"], act["what"], act["detail"]) for act in found}
    assert ("change role", "ana@lab.example", "annotator to viewer") in told
    assert ("change role", "ana@lab.example", "viewer to annotator") in told
    assert ("change role", "lea@lab.example", "no role to lead") in told
    assert ("lock", "campaign audited", "locked by =lea") in told
    assert ("open again", "campaign audited", "by lea") in told
    assert ("export", "campaign audited", "to out") in told
    assert (
        "end access",
        "lea@lab.example",
        "all invitations and sessions",
    ) in told
    assert {"log in", "log out", "invite", "start run"} <= {
        act["action"] for act in found
    }
    by_page = next(act for act in found if act["action"] == "log out")
    assert (by_page["who"], by_page["from"]) == ("ada@lab.example", "127.0.0.1")
    lock = next(act for act in found if act["action"] == "lock")
    assert lock["who"]
    assert lock["from"].startswith("command line of")
    times = [act["when"] for act in found]
    assert times == sorted(times, reverse=True)


def test_the_log_is_shown_to_leads_and_no_annotator_and_is_part_of_a_backup(
    lab: Lab, tmp_path: Path
) -> None:
    assert lab.logged_in("lea").sees("data").shows("Audit log")
    assert not lab.logged_in("ana").sees("data").shows("Audit log")
    assert lab.command("backup", str(tmp_path / "backup")).code == 0
    assert (tmp_path / "backup" / "ledger" / FILE).read_bytes() == audit_file(
        lab.folder
    ).read_bytes()
    packed = lab.command(
        "export", "--out", str(tmp_path / "pack"), "--without-statistics"
    )
    assert packed.code == 0, packed.err
    assert not (tmp_path / "pack" / "ledger" / FILE).exists()
    table = list(csv.reader(io.StringIO(lab.command("audit", "--csv").out)))
    assert table[0] == ["when", "who", "from", "action", "what", "detail"]


def test_an_altered_log_is_found(lab: Lab) -> None:
    file = audit_file(lab.folder)
    lab.logged_in("ana")
    before = file.read_bytes()
    first, _, rest = before.partition(b"\n")
    try:
        file.write_bytes(rest)
        found = lab.command("doctor")
        assert found.code == 1
        assert f"ledger/{FILE}" in found.out + found.err
    finally:
        file.write_bytes(before)
    assert first
