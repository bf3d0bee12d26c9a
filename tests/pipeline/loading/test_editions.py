"""Two releases of one source beside each other: the default keeps its names and numbers, the other has its own."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crane_core.importers.registry import importers
from crane_core.pipeline.cases.pairs import best_origin
from crane_core.pipeline.judging.judges import labels_with_pooled_judges
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import (
    Imported,
    import_paths,
    prepare,
    rebuild,
)
from crane_core.pipeline.loading.sources import staged_sources
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.study.table_scores import STUDY, later_releases
from crane_core.releases import PUBLISHED, Release, commit_named_in
from crane_core.storage import state

DEFAULT = PUBLISHED["crane-llm"].default
LATER = "9a8b7c6d" * 5
THIRD = "5f643513" * 5
CASE = "pandas_1"
VERSIONS = ("reproduced", "fixed")
OCTOBER, LAST = "crane-llm-2025-10", "crane-llm-2026"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder of a checkout without embedded data, which loads in no time."""
    monkeypatch.setattr(load, "embedded", dict)
    return data_folder(tmp_path / "data")


def inputs(target: str) -> dict[str, str]:
    body = f"# Executed Cells:\n## Cell 1:\nprices = [3, 4]\n\n\n# Target Cell:\n{target}\n"
    return {
        f"llms/llms_inputs/executed_code/pandas/{CASE}_{version}.txt": body
        for version in VERSIONS
    }


def october(*, crashes: bool, model: str = "heron") -> dict[str, str]:
    """One case in the layout of October 2025: five answers of a model to each notebook, and a judge's label of each."""
    files = inputs("prices[5]")
    for version in VERSIONS:
        answers = json.dumps(
            [{"reasoning": f"said {n}", "detection": crashes} for n in range(5)]
        )
        files[
            f"llms/llms_outputs/results_raw/{model}/crash_detection_code/{CASE}_{version}.json"
        ] = answers
        labels = json.dumps(["[Correct]" if crashes else "[Wrong]"] * 5)
        files[
            f"llms/llms_outputs/results_parsed_1/{model}/crash_detection_code/{CASE}_{version}.json"
        ] = labels
    return files


def layout_of_2026(*, crashes: bool, model: str = "heron") -> dict[str, str]:
    answers = json.dumps([{"reasoning": "said", "detection": crashes}] * 5)
    raw = f"llms/llms_outputs/results_raw/crash_detection_{model}_code/{CASE}"
    return inputs("prices[7]") | {
        f"{raw}_{version}.json": answers for version in VERSIONS
    }


def as_tar(path: Path, files: dict[str, str], commit: str) -> Path:
    """As `git archive` packs them: the commit stands in the header."""
    told = {"comment": commit} if commit else {}
    with tarfile.open(
        path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers=told
    ) as members:
        for name, text in files.items():
            member = tarfile.TarInfo(f"crane_llm-{path.name}/{name}")
            member.size = len(text.encode())
            members.addfile(member, io.BytesIO(text.encode()))
    return path


def as_zip(path: Path, files: dict[str, str], commit: str) -> Path:
    with zipfile.ZipFile(path, "w") as members:
        members.comment = commit.encode()
        for name, text in files.items():
            members.writestr(f"crane_llm-main/{name}", text)
    return path


def fetched(
    path: Path, folder: DataFolder, files: dict[str, str], commit: str, ref: str
) -> Imported:
    return import_paths(
        [as_tar(path, files, commit)],
        folder,
        release=Release("crane-llm", ref, commit),
    )


def default_of(path: Path, folder: DataFolder) -> Imported:
    return fetched(path, folder, october(crashes=True), DEFAULT, DEFAULT)


def said(
    folder: DataFolder, detector: str = "heron"
) -> dict[str, tuple[int, int]]:
    """Runs that predict a crash and that do not, by experiment."""
    store = prepare(folder)
    frame = verdict_frame(store)
    store.close()
    mine = (
        frame[frame["detector"] == detector]
        .groupby("experiment")[["n_crash", "n_safe"]]
        .sum()
    )
    return {
        str(name): (int(row["n_crash"]), int(row["n_safe"]))
        for name, row in mine.iterrows()
    }


def rows_of_default(folder: DataFolder) -> dict[str, list[tuple[Any, ...]]]:
    """All that the store says of the default release, without which source said it."""
    store = prepare(folder)
    cursor = store.cursor()
    asked = {
        "runs": "SELECT * EXCLUDE source_id FROM runs WHERE experiment = ? ORDER BY ALL",
        "judgements": "SELECT * EXCLUDE source_id FROM judgements WHERE experiment = ? ORDER BY ALL",
        "cells": "SELECT * EXCLUDE source_id FROM cells WHERE origin = ? ORDER BY ALL",
        "prompts": "SELECT * EXCLUDE source_id FROM prompts WHERE origin = ? ORDER BY ALL",
    }
    found = {
        name: cursor.execute(sql, [OCTOBER]).fetchall()
        for name, sql in asked.items()
    }
    labels = labels_with_pooled_judges(store, folder)
    found["labels"] = list(
        labels[labels["experiment"] == OCTOBER].itertuples(
            index=False, name=None
        )
    )
    store.close()
    return found


@pytest.mark.parametrize("other", [october, layout_of_2026])
def test_another_release_stands_beside_the_default_and_changes_nothing_of_it(
    other: Callable[..., dict[str, str]], folder: DataFolder, tmp_path: Path
) -> None:
    default = default_of(tmp_path / "a.tar.gz", folder)
    before = rows_of_default(folder)
    added = fetched(
        tmp_path / "b.tar.gz", folder, other(crashes=False), LATER, "main"
    )
    assert (default.edition, added.edition) == ("", "9a8b7c6")
    assert added.source_id != default.source_id
    assert added.problems == []
    name = f"{OCTOBER if other is october else LAST}@9a8b7c6"
    assert said(folder) == {OCTOBER: (10, 0), name: (0, 10)}
    assert rows_of_default(folder) == before


def test_the_default_release_is_the_same_whether_it_comes_first_or_last(
    folder: DataFolder, tmp_path: Path
) -> None:
    fetched(
        tmp_path / "b.tar.gz", folder, october(crashes=False), LATER, "main"
    )
    default_of(tmp_path / "a.tar.gz", folder)
    assert said(folder) == {OCTOBER: (10, 0), f"{OCTOBER}@9a8b7c6": (0, 10)}


def test_two_commits_of_a_branch_are_two_releases(
    folder: DataFolder, tmp_path: Path
) -> None:
    fetched(
        tmp_path / "b.tar.gz",
        folder,
        layout_of_2026(crashes=False),
        LATER,
        "main",
    )
    fetched(
        tmp_path / "c.tar.gz",
        folder,
        layout_of_2026(crashes=True),
        THIRD,
        "main",
    )
    assert said(folder) == {
        f"{LAST}@9a8b7c6": (0, 10),
        f"{LAST}@5f64351": (10, 0),
    }


def test_annotators_of_another_release_are_others(
    folder: DataFolder, tmp_path: Path
) -> None:
    """Or the agreement of the published judge would be over both releases."""
    default_of(tmp_path / "a.tar.gz", folder)
    fetched(
        tmp_path / "b.tar.gz", folder, october(crashes=False), LATER, "main"
    )
    store = prepare(folder)
    found = store.cursor().execute(
        "SELECT DISTINCT annotator, experiment FROM judgements WHERE detector = 'heron'"
    )
    assert sorted(found.fetchall()) == [
        ("published judge", OCTOBER),
        ("published judge@9a8b7c6", f"{OCTOBER}@9a8b7c6"),
    ]
    store.close()


@pytest.mark.slow
def test_a_rebuild_gives_both_releases_back(
    folder: DataFolder, tmp_path: Path
) -> None:
    default_of(tmp_path / "a.tar.gz", folder)
    fetched(
        tmp_path / "b.tar.gz", folder, october(crashes=False), LATER, "main"
    )
    contents = []
    for _ in range(2):
        store = prepare(folder)
        contents.append(state.content(store.cursor()))
        store.close()
        rebuild(folder)
    assert contents[0] == contents[1]


def test_the_commit_is_kept_with_the_source(
    folder: DataFolder, tmp_path: Path
) -> None:
    default_of(tmp_path / "a.tar.gz", folder)
    fetched(
        tmp_path / "b.tar.gz", folder, october(crashes=False), LATER, "main"
    )
    assert [
        (source.release, source.edition)
        for source in staged_sources(folder.sources)
    ] == [
        (Release("crane-llm", DEFAULT, DEFAULT), ""),
        (Release("crane-llm", "main", LATER), "9a8b7c6"),
    ]


def test_a_commit_that_is_here_is_not_loaded_again_when_it_is_packed_otherwise(
    folder: DataFolder, tmp_path: Path
) -> None:
    first = default_of(tmp_path / "a.tar.gz", folder)
    again = fetched(
        tmp_path / "again.tar.gz",
        folder,
        october(crashes=True),
        DEFAULT,
        "main",
    )
    assert (again.already_loaded, again.source_id) == (True, first.source_id)


@pytest.mark.parametrize("pack", [as_tar, as_zip])
@pytest.mark.parametrize(
    ("commit", "edition"), [(LATER, "9a8b7c6"), (DEFAULT, ""), ("", "")]
)
def test_an_archive_that_is_imported_by_hand_tells_its_commit_itself(
    pack: Callable[..., Path],
    commit: str,
    edition: str,
    folder: DataFolder,
    tmp_path: Path,
) -> None:
    path = pack(
        tmp_path / f"by_hand.{'zip' if pack is as_zip else 'tar.gz'}",
        october(crashes=False),
        commit,
    )
    assert import_paths([path], folder).edition == edition
    assert [source.release for source in staged_sources(folder.sources)] == [
        Release("crane-llm", "", commit) if commit else None
    ]


def test_a_branch_whose_archive_names_no_commit_goes_by_its_content(
    folder: DataFolder, tmp_path: Path
) -> None:
    path = as_tar(tmp_path / "main.tar.gz", october(crashes=False), "")
    added = import_paths(
        [path], folder, release=Release("crane-llm", "main", None)
    )
    assert added.edition == added.source_id[:7]


def test_an_archive_of_ones_own_with_a_commit_is_no_release(
    folder: DataFolder, tmp_path: Path
) -> None:
    line = {
        "instance": f"{CASE}_fixed",
        "detector": "Mine",
        "setting": "code",
        "index": 1,
        "crashes": True,
    }
    added = import_paths(
        [
            as_tar(
                tmp_path / "own.tar.gz", {"mine.jsonl": json.dumps(line)}, LATER
            )
        ],
        folder,
    )
    assert added.edition == ""
    store = prepare(folder)
    assert store.cursor().execute("SELECT experiment FROM runs").fetchall() == [
        ("mine",)
    ]
    store.close()


def test_notebooks_of_another_revision_stand_beside_those_that_came_first(
    folder: DataFolder,
    tmp_path: Path,
    write_pair: Callable[..., tuple[Path, Path]],
) -> None:
    for code, revision in (("lanes[0]", "1" * 40), ("lanes[8]", "2" * 40)):
        there = tmp_path / f"junobench-{revision[:7]}"
        for n in range(1, 11):
            write_pair(there, f"pandas_{n}", [("lanes = []", 1), (code, 2)])
        import_paths(
            [there], folder, release=Release("junobench", "main", revision)
        )
    store = prepare(folder)
    sql = "SELECT DISTINCT origin, code FROM cells WHERE benchmark = 'junobench' AND role = 'target' ORDER BY ALL"
    assert store.cursor().execute(sql).fetchall() == [
        ("notebook", "lanes[0]"),
        ("notebook@2222222", "lanes[8]"),
    ]
    store.close()


def test_texts_of_the_default_release_are_shown_before_those_of_others() -> (
    None
):
    ordered = [
        "notebook",
        OCTOBER,
        LAST,
        "else",
        "notebook@1234567",
        f"{OCTOBER}@1234567",
        f"{OCTOBER}@2345678",
    ]
    for present in permutations(ordered, 3):
        assert best_origin(present) == min(present, key=ordered.index)


def test_ablations_come_from_a_release_of_2026_at_whatever_commit() -> None:
    frame = pd.DataFrame(
        {
            "experiment": [
                f"{LAST}@2345678",
                "mine",
                OCTOBER,
                LAST,
                f"{OCTOBER}@1234567",
                LAST,
            ]
        }
    )
    assert later_releases(frame) == [LAST, f"{LAST}@2345678"]


def test_kinds_of_releases_are_kinds_of_importers() -> None:
    known = {importer.KIND for importer in importers()}
    assert {
        kind for published in PUBLISHED.values() for kind in published.kinds
    } <= known


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x1f\x8b cut",
        b"PK\x05\x06",
        b"plain",
        b"PK\x03\x04 and then nothing",
    ],
)
def test_a_file_that_is_no_archive_names_no_commit(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(content)
    assert commit_named_in(tmp_path / "file") is None


@pytest.fixture
def archive(root: Path) -> Path:
    found = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not found.is_file():
        pytest.skip(
            "the published archive crane_llm.tar.gz is not beside the checkout"
        )
    return found


@pytest.mark.slow
def test_the_study_of_the_default_release_is_untouched_by_another_one(
    archive: Path, whole_folder: DataFolder, tmp_path: Path
) -> None:
    import_paths(
        [archive], whole_folder, release=Release("crane-llm", DEFAULT, DEFAULT)
    )
    fetched(
        tmp_path / "b.tar.gz",
        whole_folder,
        october(crashes=False, model="gpt_5"),
        LATER,
        "main",
    )
    assert said(whole_folder, "gpt-5")[f"{STUDY}@9a8b7c6"] == (0, 10)
    assert sum(said(whole_folder, "gpt-5")[STUDY]) == 2 * 222 * 5
