"""What `doctor` finds: the published contradictions, what is missing, what is torn."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from crane_core import ledger
from crane_core.domain import Detector, DetectorKind
from crane_core.pipeline.maintenance.examine import Examination, examine
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.storage.store import Store


@pytest.fixture
def found(embedded_store: Store, folder: DataFolder) -> Examination:
    return examine(embedded_store, folder)


def test_the_contradictions_of_the_published_files_by_instance(
    found: Examination,
) -> None:
    places = [
        (row["instance_id"], row["detector"], row["setting"], row["human"])
        for row in found.contradictions
    ]
    assert sorted(places) == [
        ("NBspecific_11_reproduced", "pyright", "code", "misdetected"),
        ("numpy_10_reproduced", "gpt-5", "runtime", "partial"),
        ("numpy_15_reproduced", "pyright", "code", "misdetected"),
    ]


def test_it_is_plain_enough_for_json(found: Examination) -> None:
    told = json.loads(json.dumps(asdict(found), default=str, allow_nan=False))
    assert {source["source_id"] for source in told["sources"]} == set(
        embedded()
    )
    assert all(source["imported_at"] is None for source in told["sources"])
    assert len(told["problems"]) == 8
    assert told["counts"]["runs"] == 9798


def test_texts_that_are_not_here_are_named_with_what_to_do(
    found: Examination,
) -> None:
    missing = {
        finding.what: finding.remedy
        for finding in found.findings
        if finding.area == "missing"
    }
    assert (
        missing["junobench: 111 of 111 cases without code"]
        == "Run `fetch`, or import the archive."
    )
    assert (
        missing["junobench: 111 of 111 cases without runtime state"]
        == "Run `fetch`, or import the archive."
    )
    assert not any(
        "minibench" in what and what.endswith(" code") for what in missing
    )


def test_installed_is_what_is_pinned(found: Examination) -> None:
    assert [
        finding.what
        for finding in found.findings
        if finding.area == "installed"
    ] == []
    assert found.versions["duckdb"] != "not installed"


def test_a_torn_ledger_line_is_told(
    embedded_store: Store, folder: DataFolder
) -> None:
    path = folder.ledger / "runs" / "1.jsonl"
    ledger.append(path, Detector("own", "Own", DetectorKind.RULES))
    with path.open("ab") as file:
        file.write(b'{"rec')
    torn = [
        finding.what
        for finding in examine(embedded_store, folder).findings
        if finding.area == "ledger"
    ]
    assert torn == ["runs/1.jsonl ends in 5 bytes of an unfinished line"]


def test_the_verdict_frame_has_the_papers_groups_and_none_where_nobody_judged(
    embedded_store: Store,
) -> None:
    frame = verdict_frame(embedded_store)
    groups = [
        "tensorflow",
        "torch",
        "sklearn",
        "pandas",
        "numpy",
        "other",
        "NBspecific",
    ]
    assert set(frame["library_group"]) == set(groups)
    assert (
        frame.loc[frame["library"] == "lightgbm", "library_group"]
        .eq("other")
        .all()
    )
    assert set(
        frame.loc[frame["experiment"] == "junobench-construct", "human"].map(
            str
        )
    ) <= {
        "None",
        "nan",
    }
    assert len(printed_numbers(embedded_store)) == 1258
