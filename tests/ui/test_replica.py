"""A writer and a replica of one data folder, as real processes: what the replica shows, and that nothing is written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks._server import ServerError, serve
from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Population
from crane_core.cli import main
from crane_core.errors import StoreError
from crane_core.identity.logins import FILE_NAME as SESSIONS
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.loading.load import import_paths, prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.storage.snapshot import publish
from crane_core.ui.frame import is_old, replica_words
from crane_core.ui.navigation import page_files
from tests.given_labels import give_labels
from tests.patience import PATIENCE_S
from tests.ui.lab import copied
from tests.ui.visits import Visitor, asked, session_of

WRITER = "http://writer.lab.example:8443"
LISTED = '"vic@lab.example" = "viewer"\n"ana@lab.example" = "annotator"\n"ada@lab.example" = "admin"\n'


class ReplicaLab(NamedTuple):
    """Addresses of both, and the folder and the roles file that they share."""

    writer: str
    replica: str
    folder: DataFolder
    roles: Path

    def visitor(self, name: str, address: str = "") -> Visitor:
        session = session_of(self.folder.path, f"{name}@lab.example")
        return Visitor(address or self.replica, session)


@pytest.fixture(scope="module")
def lab(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReplicaLab]:
    place = tmp_path_factory.mktemp("lab")
    folder = copied(answered_folder, place)
    roles = place / "roles.toml"
    roles.write_text(LISTED)
    environment = {"CRANE_ROLES": str(roles), "CRANE_ALLOW_EXECUTION": "1"}
    with (
        serve(
            folder.path, arguments=("--publish", "1"), **environment
        ) as writer,
        serve(
            folder.path, arguments=("--replica-of", WRITER), **environment
        ) as replica,
    ):
        yield ReplicaLab(writer, replica, folder, roles)


def wait_until(is_so: Callable[[], bool]) -> None:
    """As `once` of tests/patience.py, with more time between two visits: each draws a page."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.2)


def evidence(folder: DataFolder) -> dict[str, str]:
    """Every file of the data folder but the database and its copies, which the writer goes on writing."""
    files = (file for file in sorted(folder.path.rglob("*")) if file.is_file())
    own = (folder.database.name, folder.replicas.name)
    return {
        str(file.relative_to(folder.path)): sha256(
            file.read_bytes()
        ).hexdigest()
        for file in files
        if not file.relative_to(folder.path).parts[0].startswith(own)
    }


def answers(place: Path, experiment: str) -> Path:
    line = {
        "benchmark": "minibench",
        "instance": "numpy_1_reproduced",
        "detector": "Heron",
        "setting": "code",
    }
    file = place / f"{experiment}.jsonl"
    file.write_text(
        json.dumps(
            line | {"index": 1, "crashes": True, "experiment": experiment}
        )
        + "\n"
    )
    return file


@pytest.mark.slow
def test_an_import_shows_on_the_replica_without_a_restart(
    lab: ReplicaLab, tmp_path: Path
) -> None:
    vic = lab.visitor("vic")
    assert not vic.sees("runs").shows("brought-later")
    import_paths(
        [answers(tmp_path, "brought-later")], lab.folder
    )  # the app that writes holds the database
    wait_until(lambda: vic.sees("runs").shows("brought-later"))


@pytest.mark.slow
def test_labels_show_on_the_replica_without_a_restart(lab: ReplicaLab) -> None:
    vic = lab.visitor("vic")
    store = prepare_or_read(lab.folder)
    plan = drawn_plan(
        store,
        CampaignRequest(
            "pilot",
            ("ana", "ben"),
            Population("minibench", "ours"),
            Design(DrawKind.ALL),
            seed=7,
        ),
    )
    store.close()
    keep_campaign(lab.folder, plan)
    for name in plan.annotators:
        items = (item.item for item in plan.items)
        give_labels(
            lab.folder,
            "pilot",
            name,
            dict.fromkeys(items, "correct"),
            seconds=9.0,
        )
    wait_until(
        lambda: (
            lab.visitor("ana")
            .sees("results")
            .shows("You label in the blind campaign pilot")
        )
    )
    assert not vic.sees("agreement").shows("pilot")
    lock_campaign(lab.folder, "pilot", by="lea")
    wait_until(lambda: vic.sees("agreement").shows("pilot"))


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("annotate", "Continue where you stopped"),
        ("campaigns", "New campaign"),
        ("runs", "Start a run"),
        ("data", "Import path"),
        ("try_a_notebook", "A file on the server"),
    ],
)
@pytest.mark.slow
def test_an_admin_changes_nothing_on_the_replica(
    lab: ReplicaLab, page: str, words: str
) -> None:
    assert not lab.visitor("ada").sees(page).shows(words)
    if page != "annotate":
        assert lab.visitor("ada", lab.writer).sees(page).shows(words)


@pytest.mark.slow
def test_the_link_to_the_writer_keeps_what_is_asked_for_and_nothing_breaks_out_of_it(
    lab: ReplicaLab,
) -> None:
    seen = lab.visitor("vic").sees(
        "cases", "case=numpy_1&find=a%29%5Bx%5D%28http%3A%2F%2Fevil.example%29"
    )
    assert seen.shows(
        f"({WRITER}/cases?case=numpy_1&find=a%29%5Bx%5D%28http%3A%2F%2Fevil.example%29)"
    )


@pytest.mark.slow
def test_pages_that_only_write_send_to_the_writer(lab: ReplicaLab) -> None:
    for name in ("ana", "ada"):
        assert (
            lab.visitor(name)
            .sees("annotate")
            .shows("Nothing can be changed here")
        )
    assert (
        lab.visitor("ada")
        .sees("campaigns")
        .shows("Nothing can be changed here")
    )


@pytest.mark.slow
def test_nobody_uploads_to_the_replica(lab: ReplicaLab) -> None:
    assert lab.visitor("ada").may_upload() == 403
    assert lab.visitor("ada", lab.writer).may_upload() == 204


@pytest.mark.slow
def test_every_page_says_how_fresh_it_is_and_where_things_are_changed_and_writes_nothing(
    lab: ReplicaLab,
) -> None:
    """Beside the first visit, which is noted among the open sessions wherever it is made."""
    visitors = [lab.visitor(name) for name in ("vic", "ada")]
    before = evidence(lab.folder)
    for visitor in visitors:
        visitor.sees("results")
    settled = evidence(lab.folder)
    of_logins = {SESSIONS, f".{SESSIONS}.lock"}
    assert {name for name, _ in before.items() ^ settled.items()} <= of_logins
    for page, visitor in product(page_files(), visitors):
        seen = visitor.sees(page)
        assert not seen.shows("exception {"), page
        if visitor is visitors[1]:
            assert all(
                seen.shows(words)
                for words in ("Read-only copy as of", "UTC", f"({WRITER}/")
            ), page
    assert evidence(lab.folder) == settled


@pytest.mark.slow
def test_logins_and_logouts_count_in_both(lab: ReplicaLab) -> None:
    for name in ("ana", "vic"):
        first, other = (
            (lab.replica, lab.writer)
            if name == "ana"
            else (lab.writer, lab.replica)
        )
        person = lab.visitor(name, other)
        assert not person.sees("results").shows(
            "If you have an invitation link"
        )
        assert (
            asked(first, "/logout", headers={"Cookie": person.cookie}).status
            == 303
        )
        assert person.sees("results").shows("If you have an invitation link")
    assert (
        Visitor(lab.replica)
        .sees("results")
        .shows("If you have an invitation link")
    )
    assert lab.visitor("zoe").sees("results").shows("is not on this server")


@pytest.mark.slow
def test_who_is_taken_off_the_list_is_out_of_the_replica_at_wait_until(
    lab: ReplicaLab,
) -> None:
    try:
        lab.roles.write_text(
            LISTED.replace('"vic@lab.example" = "viewer"\n', "")
        )
        assert lab.visitor("vic").sees("results").shows("is not on this server")
    finally:
        lab.roles.write_text(LISTED)


@pytest.mark.slow
def test_the_replica_goes_on_without_the_writer_and_a_new_writer_is_followed(
    answered_folder: DataFolder, tmp_path: Path
) -> None:
    folder = copied(answered_folder, tmp_path)
    store = prepare_or_read(folder)
    publish(store, folder.replicas, at=time.time())  # as an app that ended did
    store.close()
    (folder.replicas / "left.unfinished").write_text(
        "of a process that was killed"
    )
    with serve(folder.path, arguments=("--replica-of", WRITER)) as replica:
        seen = Visitor(replica).sees("runs")
        assert seen.shows("Read-only copy")
        assert not seen.shows("Start a run")
        assert Visitor(replica).may_upload() == 403
        import_paths([answers(tmp_path, "brought-later")], folder)
        with serve(folder.path, arguments=("--publish", "1")):
            wait_until(
                lambda: Visitor(replica).sees("runs").shows("brought-later")
            )
        assert not (folder.replicas / "left.unfinished").exists()
        assert len(list(folder.replicas.iterdir())) <= 2


def test_a_replica_needs_a_copy_and_publishes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.path.mkdir()
    with (
        pytest.raises(ServerError, match="There is no copy of the database"),
        serve(folder.path, arguments=("--replica-of", WRITER)),
    ):
        pass
    for more, words in (
        (WRITER, "publishes no copy"),
        ("javascript:alert(1)", "is not an address"),
    ):
        with suppress(SystemExit):
            assert (
                main(
                    [
                        "--data",
                        str(folder.path),
                        "app",
                        "--publish",
                        "1",
                        "--replica-of",
                        more,
                    ]
                )
                == 1
            )
        assert words in capsys.readouterr().err


def test_the_core_writes_no_evidence_in_a_replica(
    answered: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_REPLICA_OF", WRITER)
    before = evidence(answered)
    with pytest.raises(StoreError, match="read-only copy"):
        import_paths([answers(tmp_path, "never")], answered)
    with pytest.raises(StoreError, match="read-only copy"):
        ledger.append(answered.ledger / "new.jsonl")
    assert evidence(answered) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=4), "as of 11:59 UTC, 4 s old"),
        (timedelta(minutes=10), "as of 11:50 UTC, 10 min old"),
        (timedelta(hours=13), "as of 23:00 UTC on 2026-11-22, 13 h old"),
        (timedelta(days=3), "as of 12:00 UTC on 2026-11-20, 3 days old"),
    ],
)
def test_the_age_of_a_copy_in_words(age: timedelta, words: str) -> None:
    now = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
    assert words in replica_words(now - age, now)
    assert is_old(now - age, now) is (age > timedelta(minutes=2))
