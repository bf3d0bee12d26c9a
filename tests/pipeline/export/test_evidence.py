"""An evidence pack: another machine has the same tables from it; what was changed or contradicts is refused whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crane_core import ledger
from crane_core.cli import main
from crane_core.domain import Detector, DetectorKind, Job, Reply, Setting
from crane_core.errors import SourceError
from crane_core.pipeline.export import evidence
from crane_core.pipeline.export.evidence import MANIFEST, unpack
from crane_core.pipeline.jobs.files import job_file
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.storage import state
from tests.pipeline.conftest import (
    ship_minibench_alone,
    write_pairs_folder,
    write_predictions,
)

TIME = "2026-11-21T10:00:00.000+00:00"
HERON = Detector("heron", "Heron", DetectorKind.LLM)
JOB = Job("heron-code", "minibench", "heron", Setting.CODE, "{}", TIME)
Content = dict[str, list[tuple[Any, ...]]]


def reply(
    index: int, text: str = '{"reasoning": "It fails.", "detection": true}'
) -> Reply:
    where = (
        JOB.job,
        "minibench",
        "numpy_1_fixed",
        "heron",
        Setting.CODE,
        index,
    )
    return Reply(*where, "0" * 64, TIME, text)


@pytest.fixture(scope="module", autouse=True)
def minibench_ships_alone() -> Iterator[None]:
    """Here and on the other machine, which loads all that ships."""
    with pytest.MonkeyPatch.context() as patch:
        ship_minibench_alone(patch)
        yield


@pytest.fixture(scope="module")
def grown(
    minibench_folder: DataFolder,
    root: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> DataFolder:
    """The minibench, two sources and a job; to be copied, not changed."""
    place = tmp_path_factory.mktemp("grown")
    folder = DataFolder(
        Path(shutil.copytree(minibench_folder.path, place / "data"))
    )
    for source in (write_predictions(place), write_pairs_folder(root, place)):
        import_paths([source], folder)
    ledger.append(
        job_file(folder, JOB.job), HERON, JOB, reply(1), reply(2, "no answer")
    )
    return folder


@pytest.fixture
def full(grown: DataFolder, tmp_path: Path) -> DataFolder:
    """Such a data folder of the test's own."""
    return DataFolder(Path(shutil.copytree(grown.path, tmp_path / "data")))


@pytest.fixture(scope="module")
def its_pack(
    grown: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Its evidence pack; to be copied, not changed."""
    return packed(grown, tmp_path_factory.mktemp("packed") / "pack")


@pytest.fixture
def pack(its_pack: Path, tmp_path: Path) -> Path:
    """A pack of the test's own."""
    return Path(shutil.copytree(its_pack, tmp_path / "pack"))


@pytest.fixture
def elsewhere(tmp_path: Path) -> DataFolder:
    return data_folder(tmp_path / "elsewhere")


def speak(folder: DataFolder, *arguments: str | Path) -> int:
    return main(["--data", str(folder.path), *map(str, arguments)])


def content(folder: DataFolder) -> Content:
    store = prepare(folder)
    try:
        return state.content(store.cursor())
    finally:
        store.close()


def packed(folder: DataFolder, out: Path, *more: str) -> Path:
    assert (
        speak(folder, "export", "--out", out, "--without-statistics", *more)
        == 0
    )
    return out


@pytest.mark.slow
def test_another_machine_has_identical_tables(
    full: DataFolder, elsewhere: DataFolder, tmp_path: Path
) -> None:
    pack = packed(full, tmp_path / "pack")
    assert speak(elsewhere, "import", pack) == 0
    ours = content(full)
    assert content(elsewhere) == ours
    assert len(ours["replies"]) == 2
    assert len(ours["jobs"]) == 1


@pytest.mark.slow
def test_a_second_import_brings_nothing_and_a_later_pack_what_is_new(
    full: DataFolder,
    elsewhere: DataFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    packed(full, tmp_path / "early")
    ledger.append(job_file(full, JOB.job), reply(3))
    packed(full, tmp_path / "late")
    speak(elsewhere, "import", tmp_path / "early")
    capsys.readouterr()
    assert speak(elsewhere, "import", tmp_path / "early", "--json") == 0
    told = json.loads(capsys.readouterr().out)["pack"]
    assert (
        told["n_ledger_files"],
        told["n_ledger_known"],
        told["n_sources"],
        told["n_sources_known"],
    ) == (0, 1, 0, 2)
    speak(elsewhere, "import", tmp_path / "late")
    speak(elsewhere, "import", tmp_path / "early")
    assert content(elsewhere) == content(full)


@pytest.mark.slow
def test_a_published_source_is_named_unless_asked_for(
    full: DataFolder,
    elsewhere: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(evidence, "PUBLISHED", frozenset({"predictions"}))
    pack = packed(full, tmp_path / "pack")
    [named] = [
        source
        for source in json.loads((pack / MANIFEST).read_text())["sources"]
        if not source["is_included"]
    ]
    assert named["sha256"] in (pack / "README.md").read_text()
    assert not (pack / "sources" / named["source_id"]).exists()
    capsys.readouterr()
    assert speak(elsewhere, "import", pack) == 0
    assert f"missing: {named['name']}" in capsys.readouterr().out
    assert content(elsewhere) != content(full)
    whole = packed(full, tmp_path / "whole", "--with-sources")
    assert speak(elsewhere, "import", whole) == 0
    assert "missing" not in capsys.readouterr().out
    assert content(elsewhere)["runs"] == content(full)["runs"]


def test_no_place_of_this_machine_is_in_it(
    pack: Path, full: DataFolder
) -> None:
    origins = [
        json.loads(file.read_text("utf-8"))["origin"]
        for file in pack.glob("sources/*/source.json")
    ]
    assert origins and [origin for origin in origins if "/" in origin] == []
    assert any(
        "/" in json.loads(f.read_text("utf-8"))["origin"]
        for f in full.sources.glob("*/source.json")
    )


def test_tables_of_the_report_lie_in_it(
    full: DataFolder, tmp_path: Path
) -> None:
    tables = packed(full, tmp_path / "pack") / "tables"
    assert sorted(path.name for path in tables.iterdir()) == [
        "report.csv",
        "report.json",
        "report.md",
    ]
    assert "2b" in json.loads((tables / "report.json").read_text())["tables"]


def edited(pack: Path, change: Callable[[dict[str, Any]], None]) -> None:
    body = json.loads((pack / MANIFEST).read_text())
    change(body)
    (pack / MANIFEST).write_text(json.dumps(body))


def nothing_taken(folder: DataFolder) -> bool:
    return not folder.ledger.exists() and not folder.sources.exists()


@pytest.mark.parametrize(
    "path",
    [
        "../../outside.jsonl",
        "/etc/outside.jsonl",
        "ledger/../../outside.jsonl",
        "ledger",
        "sources/x.jsonl",
        "",
    ],
)
def test_a_list_that_points_outside_is_refused(
    pack: Path, elsewhere: DataFolder, path: str
) -> None:
    edited(pack, lambda body: body["ledger"][0].update(path=path))
    with pytest.raises(
        SourceError, match="not the manifest of an evidence pack"
    ):
        unpack(pack, elsewhere)
    assert nothing_taken(elsewhere)


@pytest.mark.parametrize(
    "where",
    [
        "ledger/runs/heron-code.jsonl",
        "sources/*/source.json",
        "sources/*/*.tar.gz",
    ],
)
def test_a_pack_of_which_anything_was_changed_is_refused_whole(
    pack: Path, elsewhere: DataFolder, where: str
) -> None:
    path = next(iter(sorted(pack.glob(where))))
    path.write_bytes(path.read_bytes().replace(b"sha256", b"sha255")[:-1])
    with pytest.raises(SourceError):
        unpack(pack, elsewhere)
    assert nothing_taken(elsewhere)


def test_a_link_in_place_of_a_file_is_refused(
    pack: Path, elsewhere: DataFolder, tmp_path: Path
) -> None:
    file = pack / "ledger" / "runs" / "heron-code.jsonl"
    outside = tmp_path / "outside.jsonl"
    shutil.move(file, outside)
    file.symlink_to(outside)
    with pytest.raises(SourceError, match="differs from the pack's manifest"):
        unpack(pack, elsewhere)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"kind": "crane evidence pack", "version": 2}',
    ],
)
def test_a_list_that_is_none_is_refused(
    pack: Path, elsewhere: DataFolder, text: str
) -> None:
    (pack / MANIFEST).write_text(text)
    with pytest.raises(
        SourceError, match="not the manifest of an evidence pack"
    ):
        unpack(pack, elsewhere)


def test_a_ledger_file_that_says_something_else_is_refused_whole(
    pack: Path, elsewhere: DataFolder
) -> None:
    ledger.append(
        job_file(elsewhere, JOB.job), HERON, JOB, reply(1, "something else")
    )
    before = job_file(elsewhere, JOB.job).read_bytes()
    with pytest.raises(
        SourceError, match="the same name but different content"
    ):
        unpack(pack, elsewhere)
    assert job_file(elsewhere, JOB.job).read_bytes() == before
    assert not elsewhere.sources.exists()


def test_an_export_never_writes_over_anything(
    full: DataFolder, tmp_path: Path
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    assert speak(full, "export", "--out", tmp_path / "taken") == 1
    assert [path.name for path in (tmp_path / "taken").iterdir()] == [
        "thesis.txt"
    ]


def test_a_line_that_is_being_written_is_not_in_it_yet(
    full: DataFolder, tmp_path: Path
) -> None:
    file = job_file(full, JOB.job)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"record": "reply", "job')
    pack = packed(full, tmp_path / "pack")
    assert (pack / "ledger" / "runs" / file.name).read_bytes() == whole
