"""Every page and action by role, over real connections to a server where nobody has been at the start page yet."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from benchmarks._server import serve
from crane_core.annotation.order import Showing
from crane_core.domain import Side
from crane_core.identity.key import FILE_NAME, signing_key
from crane_core.identity.logouts import FILE_NAME as ENDED
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.threads import About, write_message
from crane_core.pipeline.places import DataFolder
from crane_core.ui.navigation import page_files
from tests.ui.lab import LISTED, Lab
from tests.ui.visits import Visitor, asked, session_of

NEEDS = {"annotate": Role.ANNOTATOR, "campaigns": Role.LEAD}
"""Pages that more than a viewer's role opens."""
ACTIONS = {
    "runs": ("Start a run", Role.ADMIN),
    "data": ("Import path", Role.ADMIN),
    "try_a_notebook": ("A file on the server", Role.ADMIN),
    "campaigns": ("New campaign", Role.LEAD),
}
"""Page, and a word of what only this role may do there."""


@pytest.mark.parametrize("page", list(page_files()))
def test_a_stranger_gets_the_login_and_nothing_of_any_page(
    lab: Lab, page: str
) -> None:
    seen = Visitor(lab.address).sees(page)
    assert seen.shows("If you have an invitation link, open it")
    assert seen.shows("Without one, ask the person who runs this server.")
    assert seen.shows("(./docs/index.html)")
    assert not seen.shows("junobench")
    assert not seen.shows("exception {")
    assert len(seen.elements) <= 5


def is_for(page: str, role: Role) -> bool:
    """Whether a role may open a page and do there whatever the page is for."""
    return role >= max(
        NEEDS.get(page, Role.VIEWER), ACTIONS.get(page, ("", Role.VIEWER))[1]
    )


VISITS = [(page, role) for page in page_files() for role in Role]


@pytest.mark.parametrize(
    ("page", "role"), [visit for visit in VISITS if not is_for(*visit)]
)
def test_a_page_or_action_of_a_higher_role_is_refused(
    lab: Lab, page: str, role: Role
) -> None:
    assert_shown_as_the_role_allows(lab, page, role)


@pytest.mark.parametrize(
    ("page", "role"), [visit for visit in VISITS if is_for(*visit)]
)
def test_a_direct_visit_opens_a_page_for_its_roles(
    lab: Lab, page: str, role: Role
) -> None:
    assert_shown_as_the_role_allows(lab, page, role)


def assert_shown_as_the_role_allows(lab: Lab, page: str, role: Role) -> None:
    seen = lab.of(role).sees(page)
    needs = NEEDS.get(page, Role.VIEWER)
    assert seen.shows(
        f"This page needs the role {needs}; you are logged in as"
    ) is (role < needs)
    assert not seen.shows("exception {")
    assert not seen.shows("blind campaign pilot"), (
        "only who labels in it is kept from what could unblind"
    )
    if page in ACTIONS:
        words, of = ACTIONS[page]
        assert seen.shows(words) is (role >= of)


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.ANNOTATOR, Role.LEAD])
def test_an_upload_of_anybody_but_an_admin_is_refused(
    lab: Lab, role: Role | None
) -> None:
    assert (lab.of(role) if role else Visitor(lab.address)).may_upload() == 403


def test_an_admin_may_upload(lab: Lab) -> None:
    assert lab.of(Role.ADMIN).may_upload() == 204


@pytest.mark.parametrize(
    "page",
    [page for page in page_files() if page not in ("annotate", "campaigns")],
)
def test_who_labels_in_an_open_blind_campaign_sees_no_page_that_could_unblind(
    lab: Lab, page: str
) -> None:
    seen = lab.visitor("ana@lab.example").sees(page)
    assert seen.shows("You label in the blind campaign pilot")
    assert not seen.shows("junobench")
    assert not seen.shows("exception {")


def test_an_annotator_opens_the_own_desk_alone(lab: Lab) -> None:
    ana = lab.visitor("ana@lab.example")
    assert ana.sees("annotate").shows("Continue where you stopped")
    own = ana.sees("annotate", "campaign=pilot&annotator=ana")
    assert own.shows("crane_desk")
    assert not own.shows("exception {")
    others = ana.sees("annotate", "campaign=pilot&annotator=ben")
    assert others.shows("This desk is another person")
    assert not others.shows("crane_desk")
    for query in (
        "campaign=pilot&annotator=ana&own=all",
        "campaign=none&annotator=ana",
    ):
        seen = ana.sees("annotate", query)
        assert seen.elements
        assert not seen.shows("exception {"), query
    assert not ana.sees("campaigns").shows("exception {")


def test_a_thread_is_for_its_annotator_and_leads(lab: Lab) -> None:
    item = kept_campaign(lab.folder, "pilot").plan.items[0].item
    acts = [
        {"event": "ana-flag-1", "action": "flag", "item": item, "showing": 1}
    ]
    assert LabelStore(lab.folder, "pilot").take("ana", acts).refused == {}
    about = About("ana", Showing(item, 1))
    write_message(
        lab.folder,
        "pilot",
        about,
        "only for ana to read",
        by="lea",
        side=Side.LEAD,
    )
    ana, ben, lea = (
        lab.visitor(f"{name}@lab.example") for name in ("ana", "ben", "lea")
    )
    name = desk_names(
        lab.folder, kept_campaign(lab.folder, "pilot").plan, "ana"
    ).of(Showing(item, 1))
    as_lead = f"campaign=pilot&thread={name}.ana"
    assert lea.sees("campaigns", as_lead).shows("only for ana to read")
    for annotator in (ana, ben):
        refused = annotator.sees("campaigns", as_lead)
        assert refused.shows("This page needs the role lead")
        assert not refused.shows("only for ana to read")
    own = f"campaign=pilot&annotator={{}}&own={name}"
    assert ana.sees("annotate", own.format("ana")).shows("only for ana to read")
    for annotator, seat in ((ben, "ben"), (ben, "ana"), (lea, "ana")):
        assert not annotator.sees("annotate", own.format(seat)).shows(
            "only for ana to read"
        )


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ANNOTATOR])
def test_agreement_of_an_open_campaign_is_refused_below_a_lead(
    lab: Lab, role: Role
) -> None:
    assert not lab.of(role).sees("agreement").shows("pilot")


@pytest.mark.parametrize("role", [Role.LEAD, Role.ADMIN])
def test_agreement_of_an_open_campaign_is_open_to_leads(
    lab: Lab, role: Role
) -> None:
    assert lab.of(role).sees("agreement").shows("pilot")


def test_a_lead_decides_and_locks_under_the_name_of_the_login(lab: Lab) -> None:
    seen = lab.of(Role.LEAD).sees("campaigns", "campaign=pilot&part=Result")
    assert seen.shows("Lock campaign")
    assert not seen.shows("Locked by")


def test_others_of_a_domain_are_viewers_and_those_of_none_are_refused(
    lab: Lab,
) -> None:
    assert (
        not lab.visitor("zoe@other.example")
        .sees("results")
        .shows("not on this server")
    )
    assert (
        lab.visitor("zoe@other.example")
        .sees("annotate")
        .shows("This page needs the role annotator")
    )
    assert (
        lab.visitor("zoe@evil.example")
        .sees("results")
        .shows("is not on this server")
    )


def test_a_session_that_expired_or_was_tampered_with_is_of_nobody(
    lab: Lab,
) -> None:
    assert (
        lab.visitor("ada@lab.example", seconds=-1)
        .sees("data")
        .shows("This session has expired")
    )
    good = lab.visitor("ada@lab.example").cookie
    for cookie in (
        good[:-9] + "A" * 9,
        good.replace("=", "=x", 1),
        "crane_session=ada@lab.example",
        "crane_session=",
    ):
        seen = Visitor(lab.address, cookie).sees("data")
        assert seen.shows("If you have an invitation link"), cookie
        assert not seen.shows("Import path")
    invitation = signed(
        new_pass("ada@lab.example", seconds=60),
        Purpose.INVITATION,
        signing_key(lab.folder.path),
    )
    assert (
        not Visitor(lab.address, f"crane_session={invitation}")
        .sees("data")
        .shows("Import path")
    )


def test_who_is_taken_off_the_list_is_out(lab: Lab) -> None:
    lea = lab.of(Role.LEAD)
    assert not lea.sees("campaigns").shows("not on this server")
    try:
        lab.roles.write_text(LISTED.replace('"lea@lab.example" = "lead"\n', ""))
        assert lea.sees("campaigns").shows("is not on this server")
        lab.roles.write_text("nonsense")
        assert lea.sees("campaigns").shows("is not TOML")
        assert lab.of(Role.ADMIN).sees("data").shows("is not TOML")
    finally:
        lab.roles.write_text(LISTED)
    assert not lea.sees("campaigns").shows("not on this server")


def test_an_invitation_logs_a_browser_in_until_it_logs_out(lab: Lab) -> None:
    answer = asked(lab.address, lab.invited("ben", "--url", lab.address))
    assert (answer.status, answer.getheader("Location")) == (303, "./annotate")
    assert answer.getheader("Referrer-Policy") == "same-origin"
    cookie, *flags = (answer.getheader("Set-Cookie") or "").split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=1209600"} <= set(
        flags
    )
    assert stat.S_IMODE((lab.folder.path / FILE_NAME).stat().st_mode) == 0o600
    ben = Visitor(lab.address, cookie)
    assert ben.sees("annotate", "campaign=pilot&annotator=ben").shows(
        "crane_desk"
    )
    left = asked(lab.address, "/logout", headers={"Cookie": cookie})
    assert (left.status, left.getheader("Location")) == (303, "./")
    assert 'crane_session=""' in (left.getheader("Set-Cookie") or "")
    assert ben.sees("annotate").shows("If you have an invitation link")


@pytest.mark.slow
def test_who_logged_out_is_out_after_a_restart_too(
    lab: Lab, campaign_folder: DataFolder, tmp_path: Path
) -> None:
    def n_ended() -> int:
        file = lab.folder.path / ENDED
        return (
            len(json.loads(file.read_text())["cookies"]) if file.exists() else 0
        )

    lea = lab.of(Role.LEAD)
    assert lea.sees("campaigns").shows("New campaign")
    before = n_ended()
    assert (
        asked(lab.address, "/logout", headers={"Cookie": lea.cookie}).status
        == 303
    )
    forged = asked(
        lab.address,
        "/logout",
        headers={"Cookie": "crane_session=x; _streamlit_user=y"},
    )
    assert forged.status == 303
    assert n_ended() == before + 1
    # The running server holds its database; the one before it started has the same sources.
    without_database = shutil.ignore_patterns(f"{lab.folder.database.name}*")
    restarted = DataFolder(
        Path(
            shutil.copytree(
                lab.folder.path, tmp_path / "data", ignore=without_database
            )
        )
    )
    shutil.copy(campaign_folder.database, restarted.database)
    with serve(restarted.path, CRANE_ROLES=str(lab.roles)) as address:
        other = session_of(restarted.path, "lea@lab.example")
        assert Visitor(address, other).sees("campaigns").shows("New campaign")
        assert (
            Visitor(address, lea.cookie)
            .sees("campaigns")
            .shows("If you have an invitation link")
        )


def test_sessions_and_invitations_that_were_revoked_are_of_nobody(
    lab: Lab,
) -> None:
    link = lab.invited("cyd")
    cookie = (asked(lab.address, link).getheader("Set-Cookie") or "").partition(
        ";"
    )[0]
    assert Visitor(lab.address, cookie).sees("annotate").shows("pilot") is False
    assert asked(lab.address, link, headers={"Cookie": cookie}).status == 303
    done = lab.invite("Cyd@lab.example", "--revoke")
    assert (done.code, done.out) == (0, "")
    assert (
        "All invitations and sessions of cyd@lab.example have ended" in done.err
    )
    refused = asked(lab.address, link)
    assert (refused.status, "This invitation was ended" in refused.text) == (
        403,
        True,
    )
    assert (
        Visitor(lab.address, cookie)
        .sees("annotate")
        .shows("This session was ended")
    )
    again = asked(lab.address, lab.invited("cyd"))
    assert again.status == 303
    other = (again.getheader("Set-Cookie") or "").partition(";")[0]
    assert (
        not Visitor(lab.address, other)
        .sees("annotate")
        .shows("If you have an invitation link")
    )


def test_an_open_session_of_somebody_who_was_revoked_uploads_nothing(
    lab: Lab,
) -> None:
    ada = lab.of(Role.ADMIN)
    assert ada.may_upload() == 204
    assert (
        ada.may_upload(
            meanwhile=lambda: lab.invite("ada@lab.example", "--revoke")
        )
        == 403
    )
    assert lab.of(Role.ADMIN).may_upload() == 204


def test_an_invitation_adds_a_person_and_never_changes_one(lab: Lab) -> None:
    try:
        spoken = lab.invite(
            "New.Person@lab.example", "--role", "viewer", "--days", "3"
        )
        assert spoken.code == 0, spoken.err
        assert '"new.person@lab.example" = "viewer"' in lab.roles.read_text()
        assert "the link works for 3 days" in spoken.err
        refused = lab.invite("new.person@lab.example", "--role", "admin")
        assert (refused.code, "has the role viewer" in refused.err) == (1, True)
        unknown = lab.invite("who@lab.example")
        assert (unknown.code, "is not in the roles file" in unknown.err) == (
            1,
            True,
        )
    finally:
        lab.roles.write_text(LISTED)


def test_wrong_invitations_lock_their_peer_for_a_while(lab: Lab) -> None:
    right = lab.invited("ana")
    behind_proxy = {"X-Forwarded-For": "203.0.113.9"}
    for _ in range(5):
        assert (
            asked(
                lab.address, "/invitation?token=guess", headers=behind_proxy
            ).status
            == 403
        )
    assert asked(lab.address, right, headers=behind_proxy).status == 429
    assert asked(lab.address, right).status == 303
    assert "Wrong invitation from 203.0.113.9 (5 of 5)" in lab.log()
    assert "guess" not in lab.log()
