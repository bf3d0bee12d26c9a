"""A site of the minibench alone, with a case whose names and texts are hostile."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crane_core.domain import (
    Benchmark,
    Case,
    Cell,
    CellRole,
    Detector,
    DetectorKind,
    Instance,
    Run,
    Setting,
    Version,
)
from crane_core.pipeline.export.all_statistics import all_statistics
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.site import write as writing
from crane_core.site.material import Collected
from crane_core.site.write import write_site
from crane_core.storage import write
from crane_core.storage.store import Cursor, Store, open_store

HOSTILE = "<img src=http://example.org/x onerror=alert(1)>"


@pytest.fixture(scope="session")
def hostile_store(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    store = open_store(
        shutil.copy(
            prepared_folder.database,
            tmp_path_factory.mktemp("hostile") / "crane.duckdb",
        )
    )
    records = [
        Benchmark("odd", f"Odd {HOSTILE}"),
        Detector("odd", f"Odd {HOSTILE}", DetectorKind.LLM),
    ]
    for case in ("../../up", "../../UP"):
        records.append(
            Case(
                "odd",
                case,
                library=HOSTILE,
                diagnosis=f"diagnosed {HOSTILE}",
                message="said",
            )
        )
        for version in Version:
            instance = Instance("odd", case, version)
            records += [
                instance,
                Cell(
                    "odd",
                    instance.instance_id,
                    "notebook",
                    0,
                    CellRole.TARGET,
                    f"x = '{HOSTILE}'",
                ),
            ]
            records += [
                Run(
                    "odd",
                    instance.instance_id,
                    "odd",
                    setting,
                    HOSTILE,
                    1,
                    instance.crashes,
                    f"reason {HOSTILE}",
                )
                for setting in (Setting.CODE, Setting.RUNTIME)
            ]
    store.write(lambda cursor: cursor.execute("DELETE FROM runs"))
    store.write(_keep_minibench)
    store.write(
        lambda cursor: write.add_records(cursor, records, source_id="odd")
    )
    yield store
    store.close()


def _keep_minibench(cursor: Cursor) -> None:
    """Without the pairs of the study, each of which would be a page of the site."""
    for table in ("cells", "instances", "cases"):
        cursor.execute(f"DELETE FROM {table} WHERE benchmark = 'junobench'")


@pytest.fixture(scope="session")
def odd_material(
    hostile_store: Store, prepared_folder: DataFolder
) -> Iterator[Material]:
    """Its statistics, half of the time that a site takes, are computed for the first of its two sites."""
    known: dict[str, list[ExportedStatistic]] = {}

    def remembered(
        material: Material, progress: Callable[[str], None]
    ) -> dict[str, list[ExportedStatistic]]:
        if not known:
            known.update(all_statistics(material, progress))
        return known

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "all_statistics", remembered)
        yield Material(hostile_store, prepared_folder)


@pytest.fixture(scope="session")
def site(
    odd_material: Material, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("written") / "site"
    write_site(odd_material, out, with_texts=False)
    return out


@pytest.fixture(scope="session")
def site_with_texts(
    odd_material: Material, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("written") / "texts"
    write_site(odd_material, out, with_texts=True)
    return out


@pytest.fixture(scope="session")
def study(embedded_store: Store, prepared_folder: DataFolder) -> Collected:
    """What ships of the published study, without its exported statistics."""
    return Collected(
        Material(embedded_store, prepared_folder), {}, with_texts=False
    )
