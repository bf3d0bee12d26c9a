"""Runs and judgements that stay in Parquet: counted as others are, rebuilt, backed up, refused where they are bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crane_core import ledger
from crane_core.domain import (
    InventoryAct,
    InventoryAction,
    Listed,
    answer_name,
)
from crane_core.errors import LedgerError, SourceError, StoreError
from crane_core.pipeline.inventory import inventory_file
from crane_core.pipeline.loading.in_place import import_in_place
from crane_core.pipeline.loading.load import import_paths, prepare, rebuild
from crane_core.pipeline.loading.losses import losses
from crane_core.pipeline.loading.sources import staged_sources
from crane_core.pipeline.maintenance.backup import back_up, restore
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.case_measures import compared_by_case
from crane_core.pipeline.results.evaluate import conditions, verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, gain_table
from crane_core.storage import state
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui.gains_view import readable

BENCHMARK, EXPERIMENT = "minibench", "a lab's; DROP TABLE runs --'"
CASES = [
    f"{library}_{number}"
    for library in ("numpy", "pandas")
    for number in (1, 2)
]
INSTANCES = [
    f"{case}_{version}" for case in CASES for version in ("reproduced", "fixed")
]
KEY = {"benchmark": BENCHMARK, "experiment": EXPERIMENT, "detector": "heron"}
Rows = list[dict[str, Any]]


def runs() -> Rows:
    """Two inputs, three runs each: with runtime state one more case is right."""
    right = {"code": {"numpy_1"}, "runtime": {"numpy_1", "pandas_1"}}
    return [
        KEY
        | {"setting": setting, "instance": name, "index": index}
        | {
            "crashes": name.endswith("_reproduced")
            == (name.rpartition("_")[0] in right[setting])
        }
        for setting in right
        for name in INSTANCES
        for index in (1, 2, 3)
    ]


def judgements() -> Rows:
    label = {
        "annotator": PUBLISHED_HUMAN,
        "annotator_kind": "human",
        "label": "correct",
    }
    return [
        KEY | {"setting": "runtime", "instance": "pandas_1_reproduced"} | label
    ]


def written(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.fixture
def folder(only_minibench: DataFolder) -> DataFolder:
    """Nothing here is about the published study."""
    return only_minibench


@pytest.fixture
def used(folder: DataFolder, tmp_path: Path) -> DataFolder:
    lab = tmp_path / "lab's [files] \u202e"
    written(lab / "one'; DROP TABLE runs; --.parquet", runs())
    written(lab / "deep" / "labels.parquet", judgements())
    imported = list(import_in_place([lab], folder))
    assert sorted(entry.kind for entry in imported) == [
        "judgements-parquet",
        "runs-parquet",
    ]
    assert sorted(
        (added.record, added.n_new)
        for entry in imported
        for added in entry.added
    )[-1] == ("runs", 48)
    return folder


def content(folder: DataFolder) -> dict[str, list[tuple[Any, ...]]]:
    store = prepare(folder)
    try:
        return state.content(store.cursor())
    finally:
        store.close()


def kept(folder: DataFolder, kind: str = "runs-parquet") -> Path:
    [source] = [
        source
        for source in staged_sources(folder.sources)
        if source.kind == kind
    ]
    return folder.sources / source.source_id / source.file


def test_every_question_counts_what_stays_in_parquet(used: DataFolder) -> None:
    store = prepare(used)
    try:
        frame = verdict_frame(store)
        mine = frame[frame["experiment"] == EXPERIMENT]
        assert len(mine) == 16
        assert mine["human"].notna().sum() == 1
        assert (
            len(
                store.cursor()
                .execute("FROM verdicts WHERE experiment = ?", [EXPERIMENT])
                .fetchall()
            )
            == 16
        )
        [(in_table,)] = (
            store.bare_cursor()
            .execute("SELECT count(*) FROM runs WHERE detector = 'heron'")
            .fetchall()
        )
        assert in_table == 0
        asked: dict[str, Any] = {
            "rule": VoteRule.MAJORITY,
            "credit": Credit.DETECTION,
        }
        known = conditions(store)
        shown = known[known["experiment"] == EXPERIMENT].assign(
            asked=lambda rows: rows["detector"], is_beside=False
        )
        table = compared_by_case(store, BENCHMARK, shown, **asked).comparison
        assert table["n"].tolist() == [8]
        assert table["difference"].tolist() == pytest.approx(
            gain_table(mine, **asked)["difference"].tolist()
        )
        assert readable(table, ("−RT", "+RT"))["Difference"].tolist() == [
            "+25.0 pp"
        ]
    finally:
        store.close()


def test_a_rebuild_and_a_backup_bring_every_row_again(
    used: DataFolder, tmp_path: Path
) -> None:
    before = content(used)
    assert sum(row[2] == "heron" for row in before["runs"]) == 48
    rebuild(used)
    assert content(used) == before
    back_up(used, tmp_path / "backup")
    fresh = DataFolder(tmp_path / "fresh")
    fresh.path.mkdir()
    restore(tmp_path / "backup", fresh)
    assert content(fresh) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Listed.SOURCE, None),
        (Listed.RUN, EXPERIMENT),
        (Listed.BENCHMARK, BENCHMARK),
    ],
)
def test_what_is_removed_counts_no_more(
    used: DataFolder, kind: Listed, name: str | None
) -> None:
    before = content(used)
    for action, n_rows in (
        (InventoryAction.REMOVE, 0),
        (InventoryAction.RESTORE, 48),
    ):
        acted = InventoryAct(
            kind,
            name or kept(used).parent.name,
            action,
            f"2026-01-0{n_rows % 7 + 1}T00:00:00",
            "me",
        )
        ledger.append(inventory_file(used), acted)
        after = content(used)
        assert sum(row[2] == "heron" for row in after["runs"]) == n_rows
    assert after["runs"] == before["runs"]


def test_an_invalid_answer_of_a_kept_file_counts_no_more(
    used: DataFolder,
) -> None:
    name = answer_name(
        *(BENCHMARK, EXPERIMENT, "heron", "runtime"), INSTANCES[0], 2
    )
    for action, n_rows in (
        (InventoryAction.REMOVE, 47),
        (InventoryAction.RESTORE, 48),
    ):
        acted = InventoryAct(
            Listed.ANSWER, name, action, f"2026-01-{n_rows - 20}", "me"
        )
        ledger.append(inventory_file(used), acted)
        after = content(used)
        assert sum(row[2] == "heron" for row in after["runs"]) == n_rows


def test_a_damaged_and_a_vanished_file_are_told_and_never_skipped(
    used: DataFolder,
) -> None:
    file = kept(used)
    good = file.read_bytes()
    file.write_bytes(good[: len(good) // 2])
    assert [loss.file for loss in losses(used)] == [
        f"sources/{file.parent.name}"
    ]
    file.unlink()
    store = prepare(used)
    try:
        with pytest.raises(
            StoreError,
            match=r"A kept Parquet file cannot be read: .*runs\.parquet",
        ):
            store.cursor()
    finally:
        store.close()
    with pytest.raises(LedgerError, match="lost its file"):
        rebuild(used)
    rebuild(used, accept_loss=True)
    assert not [row for row in content(used)["runs"] if row[2] == "heron"]


def changed(**members: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [rows[0] | members, *rows[1:]]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda rows: [
                {k: v for k, v in row.items() if k != "index"} for row in rows
            ],
            "the column index is missing",
        ),
        (
            lambda rows: [row | {"crashes": "yes"} for row in rows],
            "column crashes has the type VARCHAR",
        ),
        (changed(setting="magic"), "row 1: setting is none of code"),
        (changed(detector="../../etc"), "row 1: detector must be lower-case"),
        (changed(detector=None), "row 1: detector is missing"),
        (changed(instance="numpy_1"), "row 1: instance must end in"),
        (changed(index=0), "row 1: index is not between"),
        (changed(experiment="x" * 300), "row 1: experiment is empty or longer"),
        (lambda rows: [*rows, rows[0]], "more than once"),
        (lambda rows: [], "cannot be read as Parquet"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(
    folder: DataFolder, tmp_path: Path, spoil: Callable[[Rows], Rows], told: str
) -> None:
    file = written(tmp_path / "mine.parquet", spoil(runs()))
    with pytest.raises(SourceError, match=rf"mine\.parquet.*{told}"):
        list(import_in_place([file], folder))
    assert not staged_sources(folder.sources)


def test_what_is_no_parquet_and_links_are_refused(
    folder: DataFolder, tmp_path: Path
) -> None:
    (tmp_path / "text.parquet").write_text("no")
    (tmp_path / "link.parquet").symlink_to(
        written(tmp_path / "good" / "runs.parquet", runs())
    )
    for name, told in (
        ("text", "cannot be read as Parquet"),
        ("link", "is a link or no file"),
        ("none", "no file that"),
    ):
        with pytest.raises(SourceError, match=told):
            list(import_in_place([tmp_path / f"{name}.parquet"], folder))


def test_one_source_answers_for_a_condition(
    used: DataFolder, tmp_path: Path
) -> None:
    other = written(
        tmp_path / "other.parquet",
        [row | {"index": row["index"] + 3} for row in runs()],
    )
    with pytest.raises(SourceError, match="of which another source holds some"):
        list(import_in_place([other], used))
    rows = [{**row, "experiment": EXPERIMENT} for row in runs()]
    small = written(tmp_path / "small.parquet", rows[:1])
    with pytest.raises(
        SourceError, match="A kept Parquet file answers for heron, code"
    ):
        import_paths([small], used)
    [again] = import_in_place(
        [written(tmp_path / "again.parquet", runs())], used
    )
    assert again.already_loaded


def test_the_database_reads_no_other_file(
    used: DataFolder, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    link = kept(used).with_name("link.csv")
    link.symlink_to(secret)
    store = prepare(used)
    try:
        for path in (secret, link):
            with pytest.raises(Exception, match="disabled by configuration"):
                store.cursor().execute(f"FROM read_csv('{path}')")
    finally:
        store.close()
