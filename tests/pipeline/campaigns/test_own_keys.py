"""Keys of a person in the ledger: the last choice is in force, and one that cannot be read is told and replaced."""

from __future__ import annotations

import pytest

from crane_core import ledger
from crane_core.domain import KeyChoice
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.own_keys import keep_keys, key_file, own_keys
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

J = {"isOff": False, "keys": {"label-correct": "j"}}
OFF = {"isOff": True, "keys": {}}


def choices(folder: DataFolder, person: str) -> list[object]:
    file = key_file(folder, person)
    assert file is not None
    return list(ledger.tail(file).records)


def test_the_last_choice_of_each_person_is_in_force(empty: DataFolder) -> None:
    assert own_keys(empty, "ana") is None
    keep_keys(empty, "ana", J | {"n": 1})
    keep_keys(empty, "ana", J)  # the same again is not written again
    keep_keys(empty, "ben", OFF)
    assert (own_keys(empty, "ana"), own_keys(empty, "ben")) == (J, OFF)
    keep_keys(empty, "ana", OFF)
    assert own_keys(empty, "ana") == OFF
    assert len(choices(empty, "ana")) == 2


@pytest.mark.parametrize("person", ["", "Ana K.", "../ana", "a/b", "x" * 41])
def test_a_name_that_is_no_file_has_no_keys(
    empty: DataFolder, person: str
) -> None:
    assert own_keys(empty, person) is None
    with pytest.raises(
        CampaignError, match="is not a name that keys are kept for"
    ):
        keep_keys(empty, person, J)
    assert not empty.ledger.exists()


def test_an_invalid_choice_is_not_stored(empty: DataFolder) -> None:
    keep_keys(empty, "ana", J)
    with pytest.raises(CampaignError, match="'r' cannot be the key of skip"):
        keep_keys(empty, "ana", {"isOff": False, "keys": {"skip": "r"}})
    assert own_keys(empty, "ana") == J


@pytest.mark.parametrize(
    "chosen",
    [
        "not JSON",
        "[]",
        '{"isOff": false, "keys": {"skip": "r"}}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_told_and_replaced_by_the_next_choice(
    empty: DataFolder, chosen: str
) -> None:
    file = key_file(empty, "ana")
    assert file is not None
    ledger.append(
        file, KeyChoice("ana", "2026-11-21T10:00:00.000+00:00", chosen)
    )
    with pytest.raises(
        CampaignError,
        match="The keys kept for ana cannot be read, so the standard keys are on",
    ):
        own_keys(empty, "ana")
    keep_keys(empty, "ana", J)
    assert own_keys(empty, "ana") == J


def test_a_damaged_line_and_a_torn_one(empty: DataFolder) -> None:
    keep_keys(empty, "ana", J)
    file = key_file(empty, "ana")
    assert file is not None
    with file.open("ab") as opened:
        opened.write(b'{"record": "key_choice", "annotator": "ana", "chos')
    assert own_keys(empty, "ana") == J
    with file.open("ab") as opened:
        opened.write(b"\n")
    with pytest.raises(CampaignError, match="cannot be read"):
        own_keys(empty, "ana")


def test_a_rebuilt_database_has_every_choice(folder: DataFolder) -> None:
    keep_keys(folder, "ana", J)
    keep_keys(folder, "ana", OFF)
    store = prepare(folder)
    rows = (
        store.cursor()
        .execute("SELECT annotator, chosen FROM key_choices ORDER BY chosen_at")
        .fetchall()
    )
    store.close()
    assert [person for person, _ in rows] == ["ana", "ana"]
    assert rows[0][1] == '{"isOff": false, "keys": {"label-correct": "j"}}'
