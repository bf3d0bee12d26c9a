"""A loss of evidence is found, named and never rebuilt over in silence; what is new or copied is not a loss."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import AnnotatorKind, Judgement, Label, Run, Setting
from crane_core.errors import LedgerError
from crane_core.ledger import manifest as ledger_manifest
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import import_paths, prepare, rebuild
from crane_core.pipeline.loading.losses import ACCEPTED, losses
from crane_core.pipeline.places import DataFolder
from tests.pipeline.conftest import ship_minibench_alone
from tests.stored import counts, labels_of, told

RUN = Run(
    "minibench",
    "numpy_1_reproduced",
    "own",
    Setting.CODE,
    "own-1",
    1,
    crashes=True,
    reasoning="because",
)
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
N_RUNS = 9
LINE = (
    '{"instance": "numpy_1_fixed", "benchmark": "minibench", "detector": "Mine", "setting": "code", '
    '"index": 1, "crashes": true}\n'
)


@pytest.fixture(scope="module")
def grown(
    minibench_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """A data folder with the minibench alone, a run file of N_RUNS lines, a label file of two, and a source."""
    made = DataFolder(
        Path(
            shutil.copytree(
                minibench_folder.path, tmp_path_factory.mktemp("grown") / "data"
            )
        )
    )
    for index in range(N_RUNS):
        ledger.append(runs_of(made), replace(RUN, run_index=index + 1))
    ledger.append(
        labels_of(made), LABEL, replace(LABEL, instance_id="numpy_1_fixed")
    )
    source = made.path.parent / "mine.jsonl"
    source.write_text(LINE)
    with pytest.MonkeyPatch.context() as patch:
        ship_minibench_alone(patch)
        import_paths([source], made)
        prepare(made).close()
    return made


@pytest.fixture
def folder(
    grown: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DataFolder:
    """Such a data folder of the test's own, and its source beside it."""
    ship_minibench_alone(monkeypatch)
    shutil.copyfile(grown.path.parent / "mine.jsonl", tmp_path / "mine.jsonl")
    return DataFolder(Path(shutil.copytree(grown.path, tmp_path / "data")))


def runs_of(folder: DataFolder) -> Path:
    return folder.ledger / "runs" / "own-1.jsonl"


def source_of(folder: DataFolder) -> Path:
    [kept] = folder.sources.glob("*/mine.jsonl")
    return kept


def edit(path: Path, line: int, old: bytes, new: bytes) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_bytes(b"".join(lines))


def cut(path: Path, n_lines: int) -> None:
    path.write_bytes(
        b"".join(path.read_bytes().splitlines(keepends=True)[:n_lines])
    )


def take_out(path: Path, line: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: line - 1] + lines[line:]))


DAMAGE: dict[str, tuple[Callable[[DataFolder], None], str]] = {
    "label file gone": (
        lambda f: labels_of(f).unlink(),
        r"labels/pilot/ann\.jsonl is missing: 2 judgements are lost",
    ),
    "all labels gone": (
        lambda f: shutil.rmtree(f.ledger / "labels"),
        r"ann\.jsonl is missing: 2 judgements are lost",
    ),
    "cut short": (
        lambda f: cut(runs_of(f), 5),
        r"own-1\.jsonl is shorter .* line 5: 4 of 9 lines are lost",
    ),
    "emptied": (
        lambda f: cut(runs_of(f), 0),
        r"own-1\.jsonl is shorter .* line 0: 9 of 9 lines are lost",
    ),
    "one byte, same size": (
        lambda f: edit(runs_of(f), 4, b"because", b"becausf"),
        r"own-1\.jsonl was altered: line 4 ",
    ),
    "readable edit": (
        lambda f: edit(runs_of(f), 2, b"true", b"false"),
        r"own-1\.jsonl was altered: line 2 ",
    ),
    "last line": (
        lambda f: edit(runs_of(f), N_RUNS, b"true", b"null"),
        r"own-1\.jsonl was altered: line 9 ",
    ),
    "line taken out": (
        lambda f: take_out(runs_of(f), 3),
        r"own-1\.jsonl is shorter .*1 of 9 lines are lost; was altered: line 2 ",
    ),
    "source altered": (
        lambda f: source_of(f).write_text(LINE.replace("true", "null")),
        "mine.*sha256 differs",
    ),
    "source gone": (
        lambda f: shutil.rmtree(source_of(f).parent),
        "sources/.*mine.* is missing",
    ),
    "source without its file": (
        lambda f: source_of(f).unlink(),
        r"lost its file mine\.jsonl",
    ),
}


def test_nothing_is_lost_of_what_stands(folder: DataFolder) -> None:
    assert told(folder) == []
    rebuild(folder)
    assert told(folder) == []


OF_EACH_SORT = (
    "label file gone",
    "cut short",
    "one byte, same size",
    "source gone",
)
ACCEPTED_KINDS = [
    kind if kind in OF_EACH_SORT else pytest.param(kind, marks=pytest.mark.slow)
    for kind in DAMAGE
]
"""A loss of each sort; `make test-all` accepts the others too, each in three rebuilds."""


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_loss_is_named_and_rebuild_refuses_it(
    folder: DataFolder, kind: str
) -> None:
    harm, words = DAMAGE[kind]
    before = folder.database.read_bytes()
    harm(folder)
    [loss] = losses(folder)
    with pytest.raises(LedgerError, match=words) as refused:
        rebuild(folder)
    assert str(loss) in refused.value.args[0]
    assert "--accept-loss" in refused.value.remedy
    assert folder.database.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ACCEPTED_KINDS)
def test_a_loss_that_is_accepted_is_kept_in_a_list_and_refused_no_more(
    folder: DataFolder, kind: str
) -> None:
    DAMAGE[kind][0](folder)
    [loss] = losses(folder)
    rebuild(folder, accept_loss=True)
    assert told(folder) == []
    assert (
        str(loss)
        in (folder.ledger / ledger_manifest.FOLDER / ACCEPTED).read_text()
    )
    for index in range(2):
        ledger.append(runs_of(folder), replace(RUN, run_index=100 + index))
    counts(folder)
    assert told(folder) == []
    rebuild(folder)


@pytest.mark.parametrize("kind", ACCEPTED_KINDS)
def test_the_manifest_alone_finds_it_when_the_database_is_gone(
    folder: DataFolder, kind: str
) -> None:
    DAMAGE[kind][0](folder)
    folder.database.unlink()
    assert len(told(folder)) == 1
    with pytest.raises(LedgerError, match="would lose evidence"):
        rebuild(folder)


@pytest.mark.parametrize(
    "kind",
    sorted(DAMAGE.keys() - {"source altered", "source without its file"}),
)
def test_the_database_and_the_chain_find_it_when_the_manifest_is_gone(
    folder: DataFolder, kind: str
) -> None:
    shutil.rmtree(folder.ledger / ledger_manifest.FOLDER)
    DAMAGE[kind][0](folder)
    assert len(told(folder)) == 1


@pytest.mark.slow
def test_a_loss_that_was_accepted_does_not_hide_the_next_one(
    folder: DataFolder,
) -> None:
    edit(runs_of(folder), 2, b"true", b"null")
    rebuild(folder, accept_loss=True)
    edit(runs_of(folder), 5, b"true", b"null")
    [loss] = told(folder)
    assert "line 5 " in loss
    rebuild(folder, accept_loss=True)
    ledger.append(
        runs_of(folder),
        *(replace(RUN, run_index=index) for index in (20, 21, 22)),
    )
    edit(runs_of(folder), N_RUNS + 2, b"true", b"null")
    [loss] = told(folder)
    assert f"line {N_RUNS + 2} " in loss
    assert "line 5 " not in loss


def test_an_altered_source_is_set_aside_and_can_be_imported_anew(
    folder: DataFolder, tmp_path: Path
) -> None:
    before = counts(folder)
    source_of(folder).write_text(LINE.replace("true", "null"))
    rebuild(folder, accept_loss=True)
    assert counts(folder)["runs"] == before["runs"] - 1
    import_paths([tmp_path / "mine.jsonl"], folder)
    assert counts(folder) == before
    assert told(folder) == []


def test_files_that_were_copied_from_another_machine_are_no_loss(
    folder: DataFolder,
) -> None:
    """A new file, one that continues where ours ends, and both again with what they are next to in the manifest."""
    theirs = folder.ledger / "labels" / "pilot" / "bob.jsonl"
    shutil.copyfile(labels_of(folder), theirs)
    elsewhere = folder.path.parent / "elsewhere.jsonl"
    shutil.copyfile(runs_of(folder), elsewhere)
    ledger.append(elsewhere, replace(RUN, run_index=40))
    elsewhere.replace(runs_of(folder))
    assert told(folder) == []
    counts(folder)
    assert told(folder) == []
    theirs.unlink()
    assert told(folder) == [
        "ledger/labels/pilot/bob.jsonl is missing: 2 judgements are lost"
    ]


def test_a_ledger_of_an_older_version_is_read_and_chained_from_there_on(
    folder: DataFolder,
) -> None:
    old = folder.ledger / "runs" / "old.jsonl"
    old.write_bytes(
        b"".join(
            ledger.to_line(replace(RUN, experiment="old", run_index=i + 1))
            for i in range(4)
        )
    )
    counts(folder)
    assert told(folder) == []
    edit(old, 2, b"because", b"becausf")
    assert [loss.partition(" was")[0] for loss in told(folder)] == [
        "ledger/runs/old.jsonl"
    ]
    edit(old, 2, b"becausf", b"because")
    ledger.append(old, replace(RUN, experiment="old", run_index=5))
    counts(folder)
    assert told(folder) == []
    rebuild(folder)


def test_a_changed_checkout_does_not_rebuild_over_a_loss(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels_of(folder).unlink()
    monkeypatch.setattr(load, "_embedded_changed", lambda store: True)
    with pytest.raises(LedgerError, match="2 judgements are lost"):
        prepare(folder)
