"""With a key, who has not got it can change nothing of the ledger unseen, however well they know how it is written."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import AnnotatorKind, Judgement, Label, Setting
from crane_core.errors import LedgerError
from crane_core.ledger import manifest as ledger_manifest
from crane_core.ledger import roll as ledger_roll
from crane_core.ledger.signature import VARIABLE
from crane_core.pipeline.loading.load import import_paths, prepare, rebuild
from crane_core.pipeline.loading.losses import RESTORE, SIGN, losses
from crane_core.pipeline.loading.sources import fingerprint
from crane_core.pipeline.maintenance.backup import back_up, restore
from crane_core.pipeline.places import DataFolder
from crane_core.verbs import doctor
from tests.pipeline.conftest import ship_minibench_alone
from tests.stored import told

LABEL = Judgement(
    "minibench",
    "numpy_1_reproduced",
    "own",
    Setting.CODE,
    "own-1",
    "ann",
    AnnotatorKind.HUMAN,
    Label.PARTIAL,
)
N_LINES = 4
LINE = (
    '{"instance": "numpy_1_fixed", "benchmark": "minibench", "detector": "Mine", "setting": "code", '
    '"index": 1, "crashes": true}\n'
)
Key = Callable[[str | None], None]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Key:
    """Sets the key of this process by its name, as a start with another environment does; None: no key."""

    def set_key(name: str | None) -> None:
        monkeypatch.setattr(ledger, "_ENDS", {})
        if name is None:
            monkeypatch.delenv(VARIABLE, raising=False)
            return
        path = tmp_path / f"{name}.key"
        path.write_text(name * 40)
        path.chmod(0o600)
        monkeypatch.setenv(VARIABLE, str(path))

    set_key(None)
    return set_key


@pytest.fixture
def folder(
    minibench_folder: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: Key,
) -> DataFolder:
    """A data folder that was signed from the start, with two label files and a source."""
    ship_minibench_alone(monkeypatch)
    made = DataFolder(
        Path(shutil.copytree(minibench_folder.path, tmp_path / "data"))
    )
    key("a")
    source = tmp_path / "mine.jsonl"
    source.write_text(LINE)
    import_paths([source], made)
    for name in ("ann", "bob"):
        for index in range(N_LINES):
            ledger.append(
                labels(made, name),
                replace(LABEL, annotator=name, note=f"{index}"),
            )
    prepare(made).close()
    return made


def labels(folder: DataFolder, name: str = "ann") -> Path:
    return folder.ledger / "labels" / "pilot" / f"{name}.jsonl"


def manifest(folder: DataFolder) -> Path:
    return folder.ledger / ledger_manifest.FOLDER


def forged(folder: DataFolder, **change: object) -> bytes:
    """The file of `ann` with other labels, chained as a program chains them that knows everything but the key."""
    elsewhere = folder.path.parent / "forged.jsonl"
    ledger.append(
        elsewhere,
        *(replace(LABEL, note=f"{n}", **change) for n in range(N_LINES)),
    )  # type: ignore[arg-type]
    return elsewhere.read_bytes()


def rewrite(folder: DataFolder) -> None:
    """Other labels, with a chain and an entry that agree; the database is gone."""
    labels(folder).write_bytes(content := forged(folder, label=Label.CORRECT))
    file = ledger_manifest.entry_file(labels(folder))
    assert file is not None
    before = ledger_manifest.read(file)
    assert before is not None
    ledger_manifest.write(
        file, replace(ledger_manifest.of(content), signature=before.signature)
    )
    folder.database.unlink()


def rewrite_and_strip(folder: DataFolder) -> None:
    rewrite(folder)
    file = ledger_manifest.entry_file(labels(folder))
    assert file is not None
    ledger_manifest.write(file, ledger_manifest.of(labels(folder).read_bytes()))


def swap(folder: DataFolder) -> None:
    """Labels and entry of one person in the place of another's, each rightly signed."""
    for suffix, top in ((".jsonl", folder.ledger), (".json", manifest(folder))):
        place = top / "labels" / "pilot"
        (place / "ann").with_suffix(suffix).write_bytes(
            (place / "bob").with_suffix(suffix).read_bytes()
        )
    folder.database.unlink()


def lines_after(folder: DataFolder) -> None:
    head = ledger_manifest.of(labels(folder).read_bytes()).head
    line = ledger.linked(ledger.to_line(replace(LABEL, note="forged")), head)
    labels(folder).write_bytes(labels(folder).read_bytes() + line)


def remove_with_its_entry(folder: DataFolder) -> None:
    labels(folder).unlink()
    (manifest(folder) / "labels" / "pilot" / "ann.json").unlink()
    folder.database.unlink()


def remove_and_begin_again(folder: DataFolder) -> None:
    """The file and its entry are gone, and then the app writes to a file of that name."""
    remove_with_its_entry(folder)
    ledger._ENDS.clear()
    ledger.append(labels(folder), LABEL)


def remove_from_the_roll(folder: DataFolder) -> None:
    remove_with_its_entry(folder)
    roll = manifest(folder) / ledger_roll.FILE_NAME
    body = json.loads(roll.read_text())
    body["files"].remove("labels/pilot/ann.jsonl")
    roll.write_text(json.dumps(body))


def exchange_the_source(folder: DataFolder) -> None:
    """Another file, and everything that states its sha256."""
    [sidecar] = folder.sources.glob("*/source.json")
    file = sidecar.parent / json.loads(sidecar.read_text())["file"]
    file.write_text(LINE.replace("true", "false"))
    body = json.loads(sidecar.read_text()) | {"sha256": fingerprint(file)}
    sidecar.write_text(json.dumps(body))
    (manifest(folder) / "sources" / f"{sidecar.parent.name}.json").write_text(
        json.dumps(body)
    )
    folder.database.unlink()


FORGERIES: dict[str, tuple[Callable[[DataFolder], None], str]] = {
    "rewritten": (
        rewrite,
        "ann.jsonl was altered: the signature in the manifest is wrong",
    ),
    "rewritten, signature removed": (
        rewrite_and_strip,
        "ann.jsonl is not signed",
    ),
    "another's labels": (
        swap,
        "ann.jsonl was altered: the signature in the manifest is wrong",
    ),
    "lines put after the last": (
        lines_after,
        "ann.jsonl has lines that are not signed: 5 to 5",
    ),
    "removed": (remove_with_its_entry, "ann.jsonl is missing"),
    "removed, begun again": (remove_and_begin_again, "ann.jsonl is not signed"),
    "removed from the list too": (
        remove_from_the_roll,
        "roll was altered: the signature in the manifest is wrong",
    ),
    "list removed": (
        lambda f: (manifest(f) / ledger_roll.FILE_NAME).unlink(),
        "roll is not signed",
    ),
    "manifest removed": (
        lambda f: shutil.rmtree(manifest(f)),
        "ann.jsonl is not signed",
    ),
    "source exchanged": (exchange_the_source, "differs from what was signed"),
}


QUICK_FORGERIES = ("rewritten", "removed", "source exchanged")


@pytest.mark.parametrize(
    "kind",
    [
        kind
        if kind in QUICK_FORGERIES
        else pytest.param(kind, marks=pytest.mark.slow)
        for kind in FORGERIES
    ],
)
def test_a_forgery_without_the_key_is_told_and_not_signed_by_going_on(
    folder: DataFolder, kind: str
) -> None:
    assert told(folder) == []
    forge, words = FORGERIES[kind]
    forge(folder)
    for _ in range(2):
        assert [what for what in told(folder) if words in what], told(folder)
        with pytest.raises(LedgerError, match="would lose evidence"):
            rebuild(folder)
        ledger.append(labels(folder, "bob"), LABEL)
        prepare(folder).close()


@pytest.mark.parametrize("step", [49, pytest.param(7, marks=pytest.mark.slow)])
def test_the_flip_of_any_letter_of_an_entry_or_the_roll_is_told(
    folder: DataFolder, step: int
) -> None:
    for file in (
        manifest(folder) / "labels" / "pilot" / "ann.json",
        manifest(folder) / ledger_roll.FILE_NAME,
    ):
        whole = file.read_bytes()
        for place in range(0, len(whole.rstrip()), step):
            flipped = bytes([whole[place] ^ 1])
            file.write_bytes(whole[:place] + flipped + whole[place + 1 :])
            same = json.loads(whole) == _json_or_none(file)
            assert same or told(folder), (file.name, place)
        file.write_bytes(whole)
    assert told(folder) == []


def _json_or_none(file: Path) -> object:
    try:
        return json.loads(file.read_text())
    except ValueError:
        return None


def test_what_is_written_with_the_key_is_signed_by_the_next_process_too(
    folder: DataFolder, key: Key
) -> None:
    key("a")
    ledger.append(labels(folder), LABEL, LABEL)
    ledger.append(labels(folder, "cyd"), LABEL)
    assert told(folder) == []
    rebuild(folder)


def test_without_a_key_nothing_is_signed_and_nothing_is_missed(
    folder: DataFolder, key: Key
) -> None:
    key(None)
    shutil.rmtree(manifest(folder))
    prepare(folder).close()
    ledger.append(labels(folder), LABEL)
    assert told(folder) == []
    assert not (manifest(folder) / ledger_roll.FILE_NAME).exists()
    assert {
        json.loads(file.read_text())["signature"]
        for file in (manifest(folder) / "labels").rglob("*.json")
    } == {""}


def test_a_key_that_is_lost_or_another_is_told_and_can_be_given_up(
    folder: DataFolder, key: Key
) -> None:
    for name, words in (
        (None, "is signed, but CRANE_LEDGER_KEY is not set"),
        ("b", "is signed with another key"),
    ):
        key(name)
        found = losses(folder)
        assert {words in loss.what for loss in found} == {True}
        assert len(found) == 3  # two files and the roll
        assert all(
            "Set CRANE_LEDGER_KEY to the key that signed it" in loss.remedy
            for loss in found
        )
        ledger.append(labels(folder), LABEL)  # labels are taken all the same
        with pytest.raises(LedgerError, match=words):
            rebuild(folder)
    rebuild(folder, accept_loss=True)
    assert told(folder) == []
    ledger.append(labels(folder), LABEL)
    assert told(folder) == []
    key("a")
    assert len(told(folder)) == 3


@pytest.mark.slow
def test_an_old_ledger_is_signed_when_a_person_says_so(
    folder: DataFolder, key: Key, capsys: pytest.CaptureFixture[str]
) -> None:
    key(None)
    shutil.rmtree(manifest(folder))
    prepare(folder).close()
    with pytest.raises(LedgerError, match="no key to sign with"):
        asked(folder, "--sign")
    key("a")
    assert {loss.remedy for loss in losses(folder)} == {SIGN}
    assert asked(folder) == 1
    assert (
        "ann.jsonl is not signed. If it is as it should be, sign it: `doctor --sign`."
        in capsys.readouterr().out
    )
    assert asked(folder, "--sign") == 0
    assert told(folder) == []
    ledger.append(labels(folder), LABEL)
    assert told(folder) == []


def test_nothing_is_signed_beside_a_loss(folder: DataFolder) -> None:
    rewrite(folder)
    assert [loss.remedy for loss in losses(folder)] == [RESTORE]
    with pytest.raises(
        LedgerError, match=r"Nothing was signed: .*ann\.jsonl was altered"
    ):
        asked(folder, "--sign")
    assert len(told(folder)) == 1


def asked(folder: DataFolder, *arguments: str) -> int:
    """The exit code of `doctor`."""
    verb = argparse.ArgumentParser()
    doctor.add_arguments(verb)
    return doctor.run(verb.parse_args(list(arguments)), folder)


def test_a_backup_is_signed_and_comes_back_signed(
    folder: DataFolder, tmp_path: Path, key: Key
) -> None:
    back_up(folder, tmp_path / "backup")
    other = DataFolder(tmp_path / "other")
    other.path.mkdir()
    restore(tmp_path / "backup", other)
    assert told(other) == []
    key(None)
    with pytest.raises(LedgerError, match="CRANE_LEDGER_KEY is not set"):
        back_up(folder, tmp_path / "again")


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (None, 0, "cannot be read: No such file"),
        ("k" * 31, 0o600, "fewer than 32 bytes"),
        ("k" * 32, 0o644, "can be read by others"),
        ("k" * 5_000, 0o600, "larger than"),
    ],
)
def test_a_key_that_is_none_is_refused_before_anything_is_written(
    folder: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str | None,
    mode: int,
    words: str,
) -> None:
    path = tmp_path / "wrong.key"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    monkeypatch.setenv(VARIABLE, str(path))
    before = labels(folder).read_bytes()
    with pytest.raises(LedgerError, match=words):
        ledger.append(labels(folder), LABEL)
    assert labels(folder).read_bytes() == before
