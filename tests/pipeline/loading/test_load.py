"""Loading: one transaction per source, twice is once, and a rebuild gives every row back."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import LabelledVerdict, Population
from crane_core.domain import (
    AnnotatorKind,
    Campaign,
    Detector,
    DetectorKind,
    Judgement,
    Label,
    ProblemKind,
    Record,
    Run,
    Setting,
)
from crane_core.errors import LedgerError, SourceError, StoreError
from crane_core.importers import predictions as predictions_importer
from crane_core.importers.filetree import FileTree
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import (
    Imported,
    catch_up,
    import_paths,
    load_ledger,
    prepare,
    prepare_or_read,
    rebuild,
)
from crane_core.pipeline.loading.sources import staged_sources
from crane_core.pipeline.places import DataFolder, data_folder, embedded
from crane_core.storage import state
from crane_core.storage.store import IN_MEMORY, Store, StoreHeldError
from crane_core.storage.write import SourceRow, add_records
from tests.few_pairs import FIVE
from tests.old_database import make_old
from tests.stored import Content, content

Hold = Callable[..., AbstractContextManager[None]]
RUN = Run(
    "minibench",
    "numpy_1_reproduced",
    "own",
    Setting.CODE,
    "own-1",
    1,
    crashes=True,
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
    note="?",
)


@pytest.fixture
def folder(only_minibench: DataFolder) -> DataFolder:
    """A prepared data folder with the minibench alone."""
    return only_minibench


def query(folder: DataFolder, sql: str) -> list[tuple[Any, ...]]:
    store = prepare(folder)
    found = store.cursor().execute(sql).fetchall()
    store.close()
    return found


def assert_rebuilt_alike(folder: DataFolder) -> None:
    """A rebuild gives every row back, problems included."""
    before = content(folder)
    rebuild(folder)
    assert content(folder) == before


def n_own_runs(folder: DataFolder) -> int:
    [(n,)] = query(
        folder, "SELECT count(*) FROM runs WHERE experiment = 'own-1'"
    )
    return int(n)


def write_ledger(folder: DataFolder) -> None:
    runs, labels = (
        folder.ledger / "runs" / "own-1.jsonl",
        folder.ledger / "labels" / "pilot" / "ann.jsonl",
    )
    ledger.append(runs, Detector("own", "Our own", DetectorKind.LLM))
    for index in (1, 2, 3):
        ledger.append(runs, replace(RUN, run_index=index))
    ledger.append(
        runs, replace(RUN, run_index=4, crashes=None, unanswered="timed out")
    )
    ledger.append(labels, Campaign("pilot", '{"seed": 1}'))
    ledger.append(labels, LABEL)
    ledger.append(labels, replace(LABEL, label=Label.CORRECT, note=None))


def test_first_start_loads_what_ships(tmp_path: Path) -> None:
    folder, told = data_folder(tmp_path / "new" / "place"), []
    store = prepare(folder, told.append)
    counts = state.table_counts(store.cursor())
    assert (counts["runs"], counts["kernel_states"]) == (9798, 80)
    assert {
        source[0] for source in state.content(store.cursor())["sources"]
    } == set(embedded())
    kinds = set(state.load_problems(store.cursor())["kind"])
    store.close()
    assert kinds == {ProblemKind.CONTRADICTION}
    assert [message.rpartition(" ")[2] for message in told] == list(embedded())


def test_second_start_loads_nothing(whole_folder: DataFolder) -> None:
    told: list[str] = []
    before = content(whole_folder)
    prepare(whole_folder, told.append).close()
    assert told == []
    assert content(whole_folder) == before


def imported_all(
    folder: DataFolder,
    predictions: Path,
    pairs_folder: Path,
    pair: tuple[Path, Path],
) -> list[Imported]:
    return [
        import_paths(paths, folder)
        for paths in ([predictions], [pairs_folder], list(pair))
    ]


def test_importing_twice_changes_nothing(
    folder: DataFolder,
    predictions: Path,
    pairs_folder: Path,
    tmp_path: Path,
    write_pair: Any,
) -> None:
    pair = write_pair(tmp_path / "loose", "loose_1")
    first = imported_all(folder, predictions, pairs_folder, pair)
    assert [entry.kind for entry in first] == [
        "predictions",
        "notebook-pairs",
        "notebook-pairs",
    ]
    assert [len(entry.problems) for entry in first] == [1, 0, 0]
    before, kept = content(folder), sorted(folder.sources.rglob("*"))
    second = imported_all(folder, predictions, pairs_folder, pair)
    assert all(entry.already_loaded for entry in second)
    assert [entry.source_id for entry in second] == [
        entry.source_id for entry in first
    ]
    assert content(folder) == before
    assert sorted(folder.sources.rglob("*")) == kept


def test_same_bytes_under_another_name_are_the_same_source(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    copy = predictions.rename(predictions.with_name("renamed.jsonl"))
    assert import_paths([copy], folder).already_loaded


def test_rebuild_gives_identical_rows(
    folder: DataFolder,
    predictions: Path,
    pairs_folder: Path,
    tmp_path: Path,
    write_pair: Any,
) -> None:
    imported_all(
        folder,
        predictions,
        pairs_folder,
        write_pair(tmp_path / "loose", "loose_1"),
    )
    write_ledger(folder)
    before = content(folder)
    ledger.append(
        folder.ledger / "labels" / "pilot" / "ann.jsonl",
        replace(LABEL, label=Label.WRONG),
    )
    ledger.append(
        folder.ledger / "runs" / "own-1.jsonl",
        replace(RUN, run_index=4, crashes=False),
    )
    relabelled = content(folder)
    assert relabelled["judgements"] != before["judgements"]
    shutil.rmtree(pairs_folder)
    predictions.unlink()
    rebuild(folder)
    assert content(folder) == relabelled
    assert query(
        folder, "SELECT label, note FROM judgements WHERE annotator = 'ann'"
    ) == [("wrong", "?")]
    answer = query(
        folder,
        "SELECT crashes, unanswered FROM runs WHERE experiment = 'own-1' AND run_index = 4",
    )
    assert answer == [(False, None)]


@pytest.mark.slow
def test_rebuild_of_the_published_archive_gives_identical_rows(
    whole_folder: DataFolder, crane_llm_archive: Path
) -> None:
    entry = import_paths([crane_llm_archive], whole_folder)
    assert entry.problems == []
    new = {added.record: added.n_new for added in entry.added}
    assert (
        new["kernel_states"],
        new["prompts"],
        new["instances"],
        new["runs"],
    ) == (
        222,
        444,
        0,
        0,
    )
    assert {added.record: added.n_read for added in entry.added}[
        "runs"
    ] == 6660 + 2 * 2 * 222
    assert_rebuilt_alike(whole_folder)
    assert import_paths([crane_llm_archive], whole_folder).already_loaded


def test_rebuild_repeats_problems_of_files_that_could_not_be_kept(
    folder: DataFolder, tmp_path: Path, write_pair: Any
) -> None:
    """Problems tell of names alone, of what is too large, of what leads elsewhere: none of these is in our copy."""
    mine = tmp_path / "mine"
    write_pair(mine / "inner" / "a", "good_1")
    write_pair(mine / "inner" / "b", "good_1")
    write_pair(mine / "inner" / "c", "bad_1")
    (mine / "inner" / "c" / "bad_1_fixed.ipynb").write_text("{")
    write_pair(mine / "inner" / "d", "large_1")
    with (mine / "inner" / "d" / "large_1_fixed.ipynb").open("ab") as file:
        file.truncate(65 * 1024 * 1024)
    (mine / "inner" / "link.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    (mine / "notes.txt").write_text("beside the folder that all else lies in")
    entry = import_paths([mine], folder)
    assert len(entry.problems) == 5
    assert {problem.path.rpartition("/")[0] for problem in entry.problems} == {
        "inner",
        "inner/b",
        "inner/c",
        "inner/d",
    }
    assert_rebuilt_alike(folder)


def test_rebuild_after_the_database_is_lost(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    write_ledger(folder)
    before = content(folder)
    folder.database.unlink()
    assert content(folder) == before


def nothing_of(folder: DataFolder, before: Content) -> None:
    assert content(folder) == before
    assert not folder.sources.exists() or list(folder.sources.iterdir()) == []


@pytest.fixture
def spoiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The predictions of a file end in one that the database refuses."""
    read = predictions_importer.read

    def read_on(tree: FileTree) -> Iterator[Record]:
        yield from read(tree)
        yield replace(RUN, experiment=None)  # type: ignore[arg-type]

    monkeypatch.setattr(predictions_importer, "read", read_on)


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize("is_held", [False, True])
def test_a_source_that_the_database_refuses_leaves_nothing(
    folder: DataFolder, predictions: Path, held: Hold, *, is_held: bool
) -> None:
    before = content(folder)
    beside = held(folder.database) if is_held else nullcontext()
    with beside, pytest.raises(StoreError, match="refused a change"):
        import_paths([predictions], folder)
    nothing_of(folder, before)


def test_a_failure_in_the_last_step_leaves_nothing(
    folder: DataFolder, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row is in when the source's own row is refused: it all goes back."""
    before = content(folder)
    row = load._row
    with monkeypatch.context() as broken:
        broken.setattr(
            load,
            "_row",
            lambda source: SourceRow(*row(source)._replace(kind=None)),
        )  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="NOT NULL"):
            import_paths([predictions], folder)
    nothing_of(folder, before)


@pytest.mark.parametrize("text", ["", "nothing to see\n", '{"instance": 7}\n'])
def test_a_file_without_a_usable_record_is_refused_and_not_kept(
    folder: DataFolder, tmp_path: Path, text: str
) -> None:
    before = content(folder)
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(SourceError, match="no record that can be loaded"):
        import_paths([tmp_path / "bad.jsonl"], folder)
    nothing_of(folder, before)


def test_a_path_that_does_not_exist_is_refused(
    folder: DataFolder, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="does not exist") as refused:
        import_paths([tmp_path / "nowhere.tar.gz"], folder)
    assert "spelling" in refused.value.remedy


def test_a_cut_archive_is_refused_and_not_kept(
    folder: DataFolder, pairs_folder: Path, tmp_path: Path
) -> None:
    before = content(folder)
    with tarfile.open(tmp_path / "whole.tar.gz", "w:gz") as archive:
        archive.add(pairs_folder, "pairs")
    data = (tmp_path / "whole.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(SourceError, match="truncated"):
        import_paths([tmp_path / "cut.tar.gz"], folder)
    nothing_of(folder, before)


def test_a_source_that_was_loaded_and_not_kept_is_kept_at_the_next_import(
    folder: DataFolder, predictions: Path
) -> None:
    """As after a power cut between the commit and the folder's final name."""
    entry = import_paths([predictions], folder)
    before = content(folder)
    shutil.rmtree(folder.sources)
    assert import_paths([predictions], folder).already_loaded
    assert [source.source_id for source in staged_sources(folder.sources)] == [
        entry.source_id
    ]
    assert [row[:6] for row in content(folder)["sources"]] == [
        row[:6] for row in before["sources"]
    ]


def contradicting(tmp_path: Path, predictions: Path) -> Path:
    lines = [
        json.loads(line)
        for line in predictions.read_text("utf-8").splitlines()[:-1]
    ]
    lines[0]["crashes"] = not lines[0]["crashes"]
    lines[0]["experiment"] = "mine"
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps(lines[0]) + "\n")
    return path


@pytest.mark.slow
def test_a_second_source_that_contradicts_is_told_once(
    folder: DataFolder, tmp_path: Path, predictions: Path
) -> None:
    import_paths([predictions], folder)
    [problem] = import_paths(
        [contradicting(tmp_path, predictions)], folder
    ).problems
    assert problem.kind is ProblemKind.CONTRADICTION
    assert "False" in problem.reason
    assert "True" in problem.reason
    first = (
        "SELECT crashes FROM runs "
        "WHERE experiment = 'mine' AND instance_id = 'numpy_1_reproduced' AND run_index = 1"
    )
    assert query(folder, first) == [(True,)]
    assert_rebuilt_alike(folder)


def test_the_ledger_is_loaded_by_its_tail_and_a_torn_line_waits(
    folder: DataFolder,
) -> None:
    write_ledger(folder)
    assert n_own_runs(folder) == 4
    path = folder.ledger / "runs" / "own-1.jsonl"
    line = ledger.to_line(replace(RUN, run_index=5))
    with path.open("ab") as file:
        file.write(line[:25])
    before = content(folder)
    assert n_own_runs(folder) == 4
    with path.open("ab") as file:
        file.write(line[25:])
    assert n_own_runs(folder) == 5
    assert content(folder)["load_problems"] == before["load_problems"]


def test_a_torn_line_that_was_closed_is_one_problem_and_not_fatal(
    folder: DataFolder,
) -> None:
    path = folder.ledger / "runs" / "own-1.jsonl"
    ledger.append(path, RUN)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"record": "ru')
    ledger.append(path, replace(RUN, run_index=2))
    told = "SELECT path, place FROM load_problems WHERE source_id = 'ledger:runs/own-1.jsonl'"
    assert query(folder, told) == [("own-1.jsonl", f"byte {size}")]
    assert n_own_runs(folder) == 2
    assert_rebuilt_alike(folder)


def test_a_ledger_that_changed_is_refused_until_its_loss_is_accepted(
    folder: DataFolder,
) -> None:
    write_ledger(folder)
    prepare(folder).close()
    path = folder.ledger / "labels" / "pilot" / "ann.jsonl"
    path.write_bytes(path.read_bytes().replace(b"correct", b"misdetected"))
    with pytest.raises(LedgerError, match="it is append-only") as refused:
        prepare(folder)
    assert "crane_core rebuild" in refused.value.remedy
    with pytest.raises(LedgerError, match=r"labels/pilot/ann\.jsonl"):
        rebuild(folder)
    rebuild(folder, accept_loss=True)
    assert query(
        folder, "SELECT label FROM judgements WHERE annotator = 'ann'"
    ) == [("misdetected",)]


def test_what_the_ledger_says_overrides_a_source_without_contradiction(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    mine = replace(RUN, detector="my-model", experiment="mine", crashes=False)
    ledger.append(folder.ledger / "runs" / "mine.jsonl", mine)
    said = "SELECT crashes, source_id FROM runs WHERE experiment = 'mine' AND run_index = 1 AND instance_id = '{}'"
    assert query(folder, said.format("numpy_1_reproduced")) == [
        (False, "ledger:runs/mine.jsonl")
    ]
    assert query(folder, "SELECT count(*) FROM load_problems") == [(1,)]
    assert_rebuilt_alike(folder)


@pytest.mark.slow
def test_the_same_content_is_read_while_another_process_holds_the_database(
    folder: DataFolder, predictions: Path, held: Hold
) -> None:
    import_paths([predictions], folder)
    write_ledger(folder)
    before, told = content(folder), []
    with held(folder.database):
        with pytest.raises(StoreHeldError):
            prepare(folder)
        with pytest.raises(StoreHeldError):
            rebuild(folder)
        store = prepare_or_read(folder, told.append)
        assert state.content(store.cursor()) == before
        store.close()
    assert "is open in another process (python" in told[0]
    assert told[0].endswith("in memory")
    assert content(folder) == before


def test_readers_work_beside_a_program_that_reads_the_database(
    folder: DataFolder, held: Hold
) -> None:
    write_ledger(folder)
    before, told = content(folder), []
    with held(folder.database, "to read"):
        store = prepare_or_read(folder, told.append)
        assert (state.content(store.cursor()), store.path) == (
            before,
            folder.database,
        )
        store.close()
        assert told == []
        with pytest.raises(
            StoreHeldError, match="Another program is reading"
        ) as refused:
            rebuild(folder)
        assert "app" not in str(refused.value)
        write_ledger(folder)
        store = prepare_or_read(folder, told.append)
        assert "Another program is reading" in told[0]
        assert store.path == IN_MEMORY
        store.close()


@pytest.mark.slow
def test_an_import_while_the_database_is_held_is_kept_and_loaded_at_the_next_start(
    folder: DataFolder, predictions: Path, pairs_folder: Path, held: Hold
) -> None:
    with held(folder.database):
        waiting = [
            import_paths([path], folder) for path in (predictions, pairs_folder)
        ]
        again = import_paths([predictions], folder)
    assert all(entry.waits_for_app and entry.added for entry in waiting)
    assert [
        len([p for p in entry.problems if p.kind is ProblemKind.UNREADABLE])
        for entry in waiting
    ] == [1, 0]
    assert again.already_loaded
    store = prepare(folder)
    assert {entry.source_id for entry in waiting} <= state.loaded_sources(
        store.cursor()
    )
    before = state.content(store.cursor())
    store.close()
    rebuild(folder)
    assert content(folder) == before


def test_an_answer_about_a_pair_that_the_app_has_yet_to_load_is_no_problem(
    folder: DataFolder, held: Hold, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.jsonl"
    line = {
        "benchmark": "later",
        "instance": "tea_1_reproduced",
        "detector": "own",
    }
    answers.write_text(
        json.dumps(line | {"setting": "code", "index": 1, "crashes": True})
        + "\n"
    )
    with held(folder.database):
        entry = import_paths([answers], folder)
    assert entry.waits_for_app and entry.problems == []
    store = prepare(folder)
    [waiting] = state.without_instance(store.cursor())
    assert "no such instance yet" in waiting.reason
    store.close()


def test_the_running_app_catches_up_with_what_others_left(
    folder: DataFolder, predictions: Path
) -> None:
    store = prepare(folder)
    assert not catch_up(store, folder)
    other = DataFolder(folder.path)
    shutil.copytree(
        folder.path,
        folder.path.parent / "beside",
        ignore=shutil.ignore_patterns("crane.duckdb*"),
    )
    beside = data_folder(folder.path.parent / "beside")
    import_paths([predictions], beside)
    shutil.copytree(beside.sources, other.sources)
    write_ledger(other)
    seen = state.revision(store.cursor())
    assert catch_up(store, folder)
    assert state.revision(store.cursor()) != seen
    assert not catch_up(store, folder)
    store.close()


def moved_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Path]:
    copies = {
        name: Path(shutil.copytree(path, tmp_path / "ships" / name))
        for name, path in embedded().items()
    }
    monkeypatch.setattr(load, "embedded", lambda: copies)
    return copies


@pytest.mark.slow
def test_changed_embedded_data_rebuild_the_store(
    whole_folder: DataFolder,
    predictions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import_paths([predictions], whole_folder)
    copies, told = moved_embedded(tmp_path, monkeypatch), []
    prepare(whole_folder, told.append).close()
    assert told == []
    table = copies["published"] / "cases.csv"
    table.write_text(
        table.read_text("utf-8").replace(
            "NBspecific_1,NBspecific,NB specific", "NBspecific_1,NBspecific,x"
        )
    )
    prepare(whole_folder, told.append).close()
    assert told[0] == "The embedded data changed; rebuilding the store"
    changed = "SELECT root_cause FROM cases WHERE benchmark = 'junobench' AND case_id = 'NBspecific_1'"
    assert query(whole_folder, changed) == [("x",)]
    assert query(
        whole_folder, "SELECT count(*) FROM runs WHERE experiment = 'mine'"
    ) == [(12,)]
    told.clear()
    prepare(whole_folder, told.append).close()
    assert told == []


@pytest.mark.slow
def test_changed_notebooks_of_the_minibench_rebuild_the_store(
    whole_folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = moved_embedded(tmp_path, monkeypatch)
    shutil.rmtree(copies["minibench"] / "benchmark" / "numpy_2")
    assert query(
        whole_folder,
        "SELECT count(*) FROM cells WHERE instance_id = 'numpy_2_fixed'",
    ) == [(0,)]


def test_a_rebuild_that_fails_keeps_the_old_database(
    folder: DataFolder, predictions: Path
) -> None:
    entry = import_paths([predictions], folder)
    before = folder.database.read_bytes()
    (folder.sources / entry.source_id / "mine.jsonl").unlink()
    with pytest.raises(LedgerError, match=r"lost its file mine\.jsonl"):
        rebuild(folder)
    assert folder.database.read_bytes() == before


def test_a_database_that_opens_but_cannot_be_counted_is_set_aside_by_a_rebuild(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    write_ledger(folder)
    before = content(folder)
    with duckdb.connect(folder.database) as connection:
        connection.execute("ALTER TABLE runs RENAME COLUMN source_id TO gone")
    told: list[str] = []
    rebuild(folder, progress=told.append)
    assert any("is now crane.broken" in words for words in told)
    assert folder.database.with_suffix(".broken").exists()
    assert content(folder) == before


def test_a_database_of_an_earlier_release_is_built_again_with_every_row(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    write_ledger(folder)
    before = content(folder)
    make_old(folder.database)
    told: list[str] = []
    prepare(folder, told.append).close()
    assert (
        told[0]
        == "An earlier version made the database; building it again from sources and ledger"
    )
    assert content(folder) == before


def test_a_database_of_an_earlier_release_stays_where_a_rebuild_would_lose_rows(
    folder: DataFolder,
) -> None:
    write_ledger(folder)
    content(folder)
    make_old(folder.database)
    before = folder.database.read_bytes()
    (folder.ledger / "runs" / "own-1.jsonl").unlink()
    with pytest.raises(LedgerError, match="lost"):
        prepare(folder)
    assert folder.database.read_bytes() == before


def test_a_database_of_an_earlier_release_that_is_open_elsewhere_says_so(
    folder: DataFolder, held: Hold
) -> None:
    make_old(folder.database)
    with held(folder.database):
        with pytest.raises(StoreHeldError, match="open in another process"):
            prepare(folder)
        store = prepare_or_read(folder)
        assert state.table_counts(store.cursor())["cases"] == len(FIVE)
        store.close()


def test_a_sidecar_that_cannot_be_read_is_refused_with_a_remedy(
    folder: DataFolder, predictions: Path
) -> None:
    entry = import_paths([predictions], folder)
    (folder.sources / entry.source_id / "source.json").write_text("{}")
    with pytest.raises(
        SourceError, match=r"source\.json cannot be read"
    ) as refused:
        prepare(folder)
    assert "import the source again" in refused.value.remedy


def test_leftovers_of_an_import_that_was_killed_are_passed_over(
    folder: DataFolder, predictions: Path
) -> None:
    import_paths([predictions], folder)
    part = folder.sources / ".part-killed"
    part.mkdir()
    (part / "source.json").write_text("{")
    assert_rebuilt_alike(folder)


def test_a_rebuild_that_accepts_the_loss_removes_what_nobody_has_any_more(
    folder: DataFolder, predictions: Path
) -> None:
    before = content(folder)
    entry = import_paths([predictions], folder)
    shutil.rmtree(folder.sources / entry.source_id)
    with pytest.raises(LedgerError, match=entry.source_id):
        rebuild(folder)
    rebuild(folder, accept_loss=True)
    assert content(folder) == before


def test_a_rebuilt_database_is_one_file_that_duckdb_reads(
    folder: DataFolder,
) -> None:
    rebuild(folder)
    others = [
        path.name
        for path in folder.path.iterdir()
        if not path.name.startswith("crane.duckdb.sources-")
    ]
    assert sorted(others) == ["crane.duckdb", "ledger"]
    with duckdb.connect(str(folder.database), read_only=True) as database:
        assert database.execute("SELECT count(*) FROM sources").fetchall() == [
            (1,)
        ]


def test_records_of_a_list_are_loaded_whole_or_not_at_all(
    folder: DataFolder,
) -> None:
    store: Store = prepare(folder)
    before = state.content(store.cursor())
    bad = replace(RUN, run_index=2, experiment=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        store.write(
            lambda cursor: add_records(cursor, [RUN, bad], source_id="made")
        )
    assert state.content(store.cursor()) == before
    store.close()


def test_what_annotators_do_is_no_news_for_results(folder: DataFolder) -> None:
    """Else every label of an open campaign would have the bootstrap of the Results page run again."""
    store = prepare(folder)
    verdict = LabelledVerdict(
        "minibench", "numpy_1_reproduced", "own", "code", "own-1", "numpy_1"
    )
    wish = CampaignRequest("pilot", ("ana",), Population("minibench", "own-1"))
    plan = draw_plan(
        wish,
        [verdict],
        guideline="g",
        created_at="2026-11-21T10:00:00+00:00",
        left_out=0,
    )
    campaigns.keep_campaign(folder, plan)
    load_ledger(store, folder)
    seen, answers = (
        state.revision(store.cursor()),
        state.answers_token(store.cursor()),
    )
    act = {
        "event": "event-00001",
        "action": "label",
        "label": "wrong",
        "item": plan.items[0].item,
        "showing": 1,
    }
    assert LabelStore(folder, "pilot").take("ana", [act]).refused == {}
    load_ledger(store, folder)
    assert state.revision(store.cursor()) != seen
    assert state.answers_token(store.cursor()) == answers
    campaigns.lock_campaign(folder, "pilot", by="lead")
    load_ledger(store, folder)
    assert state.answers_token(store.cursor()) != answers
    store.close()
