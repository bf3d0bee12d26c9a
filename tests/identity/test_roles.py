"""Who is listed with which role; a file that is wrong anywhere lets nobody in."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.errors import IdentityError
from crane_core.identity.roles import (
    FILE,
    add_person,
    as_email,
    configured_roles,
    parsed,
)
from crane_core.identity.visitor import Role, Visitor

LISTED = """
"lea@lab.example" = "lead"
"Ana.B@lab.example" = { role = "annotator", name = "ana" }
"*@lab.example" = "viewer"
"""


def test_people_have_the_role_and_the_name_that_the_file_gives_them() -> None:
    roles = parsed(LISTED)
    assert roles.visitor("lea@lab.example") == Visitor(
        "lea@lab.example", "lea", Role.LEAD
    )
    assert roles.visitor(" ANA.B@LAB.EXAMPLE ") == Visitor(
        "ana.b@lab.example", "ana", Role.ANNOTATOR
    )
    assert roles.annotators() == ["lea", "ana"]


def test_others_of_a_named_domain_are_viewers_and_strangers_are_nobody() -> (
    None
):
    roles = parsed(LISTED)
    found = roles.visitor("zoe@lab.example")
    assert found is not None
    assert (found.role, found.name) == (Role.VIEWER, "zoe@lab.example")
    for stranger in (
        "zoe@evil.example",
        "zoe@sub.lab.example",
        "zoe@lab.example.evil",
        "lab.example",
        "",
        "*@lab.example",
    ):
        assert roles.visitor(stranger) is None, stranger


def test_each_role_may_do_what_those_before_it_may() -> None:
    order = [Role.VIEWER, Role.ANNOTATOR, Role.LEAD, Role.ADMIN]
    for place, role in enumerate(order):
        somebody = Visitor("a@b.example", "a", role)
        assert [somebody.may(other) for other in order] == [
            number <= place for number in range(4)
        ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "lists nobody"),
        ('"*@lab.example" = "viewer"', "lists nobody"),
        ("a b", "is not TOML"),
        ('"ana" = "lead"', "not an e-mail address"),
        (
            '"аna@lab.example" = "lead"',
            "not an e-mail address",
        ),  # a Cyrillic letter
        (
            '"ana@lab.example" = "root"',
            "none of viewer, annotator, lead, admin",
        ),
        ('"ana@lab.example" = 4', "other than role and name"),
        (
            '"ana@lab.example" = { role = "lead", rank = 1 }',
            "other than role and name",
        ),
        ('"ana@lab.example" = { name = "ana" }', "none of viewer"),
        ('"ana+b@lab.example" = "lead"', "needs a name"),
        (
            '"ana@lab.example" = { role = "lead", name = "../ana" }',
            "needs a name",
        ),
        ('"ana@a.example" = "lead"\n"ana@b.example" = "viewer"', "calls both"),
        ('"ana@lab.example" = "lead"\n"ANA@lab.example" = "admin"', "twice"),
        (
            '"ana@lab.example" = "lead"\n"*@lab.example" = "annotator"',
            "another role",
        ),
        ('"ana@lab.example" = "lead"\n"*@" = "viewer"', "not a domain"),
    ],
)
def test_a_wrong_entry_is_named_and_nobody_is_let_in(
    text: str, told: str
) -> None:
    with pytest.raises(IdentityError, match=told):
        parsed(text)


def test_without_a_file_there_are_no_roles_and_a_missing_file_is_an_error(
    tmp_path: Path,
) -> None:
    assert configured_roles({}) is None
    with pytest.raises(IdentityError, match="cannot be read"):
        configured_roles({FILE: str(tmp_path / "roles.toml")})


def test_who_is_taken_off_the_list_is_nobody_at_once(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    environ = {FILE: str(path)}
    path.write_text(
        '"ana@lab.example" = "lead"\n"ben@lab.example" = "viewer"\n'
    )
    before = configured_roles(environ)
    assert before is not None
    assert before.visitor("ana@lab.example") is not None
    path.write_text('"ben@lab.example" = "viewer"\n')
    after = configured_roles(environ)
    assert after is not None
    assert after.visitor("ana@lab.example") is None


def test_a_person_is_appended_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    add_person(path, "lea@lab.example", Role.LEAD)
    path.write_text(path.read_text() + "# the annotators")
    add_person(path, "ana@lab.example", Role.ANNOTATOR)
    assert (
        path.read_text()
        == '"lea@lab.example" = "lead"\n# the annotators\n"ana@lab.example" = "annotator"\n'
    )
    with pytest.raises(IdentityError):
        add_person(
            path, "ana@other.example", Role.VIEWER
        )  # two would be called ana
    assert "other.example" not in path.read_text()


def test_a_person_is_not_appended_to_the_entry_of_another(
    tmp_path: Path,
) -> None:
    path = tmp_path / "roles.toml"
    path.write_text('["lea@lab.example"]\nrole = "lead"\n')
    with pytest.raises(IdentityError):
        add_person(path, "ana@lab.example", Role.ADMIN)
    assert "ana" not in path.read_text()


@given(
    st.text(max_size=60)
    | st.text(alphabet=string.ascii_letters + "@.", max_size=20)
)
def test_an_address_is_its_own_lower_case_or_none(text: str) -> None:
    address = as_email(text)
    assert address is None or (
        address == text.strip().lower()
        and address.isascii()
        and address.count("@") == 1
    )
