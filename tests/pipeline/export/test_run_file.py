"""One run as a file: another machine has the same replies and verdicts from it; what was changed is refused whole."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.storage.jobs import job_list, verdicts_of_job
from tests.spoken import Run, speaker

ON = (
    "--setting",
    "code",
    "--benchmark",
    "minibench",
    "--instances",
    "numpy_1_*",
    "--runs",
    "2",
)


@pytest.fixture
def folder(only_minibench: DataFolder) -> DataFolder:
    """Nothing here is about the published study."""
    return only_minibench


@pytest.fixture
def job(run: Run, folder: DataFolder) -> str:
    """The name of a run of a fake model."""
    assert run("detect", "--detector", "fake", *ON, "--name", "pilot").code == 0
    [path] = (folder.ledger / "runs").glob("*.jsonl")
    return path.stem


def other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[DataFolder, Run]:
    """The data folder of another machine."""
    there = data_folder(tmp_path / "elsewhere")
    return there, speaker(there.path, capsys)


def held(folder: DataFolder, job: str) -> tuple[object, object]:
    store = prepare(folder)
    try:
        return job_list(store.cursor()).to_json(), verdicts_of_job(
            store.cursor(), job
        )
    finally:
        store.close()


def test_another_machine_has_the_same_run_and_resumes_it(
    run: Run,
    folder: DataFolder,
    job: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "run.zip"
    assert run("export", "--run", job, "--file", out).code == 0
    assert sorted(zipfile.ZipFile(out).namelist()) == [
        f"ledger/runs/{job}.jsonl",
        "manifest.json",
    ]
    there, there_run = other(tmp_path, capsys)
    taken = there_run("import", out)
    assert taken.code == 0 and "run.zip: evidence pack" in taken.out, taken.err
    assert held(there, job) == held(folder, job)
    assert (there.ledger / "runs" / f"{job}.jsonl").read_bytes() == (
        folder.ledger / "runs" / f"{job}.jsonl"
    ).read_bytes()
    resumed = there_run("detect", "--detector", "fake", *ON, "--json")
    assert json.loads(resumed.out)["spent"]["n_requests"] == 4
    assert "1 already present" in there_run("import", out).out


def altered(out: Path, change: Callable[[str, bytes], bytes]) -> Path:
    target = out.with_name("altered.zip")
    with (
        zipfile.ZipFile(out) as archive,
        zipfile.ZipFile(target, "w") as other_archive,
    ):
        for name in archive.namelist():
            other_archive.writestr(name, change(name, archive.read(name)))
    return target


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda name, data: (
                data.replace(b"Made up", b"Made UP")
                if name.endswith("l")
                else data
            ),
            "differs from",
        ),
        (
            lambda name, data: (
                data.replace(b'"version": 1', b'"version": 99')
                if name.endswith("n")
                else data
            ),
            "version 99",
        ),
        (
            lambda name, data: (
                data.replace(b"ledger/runs", b"ledger/../..")
                if name.endswith("n")
                else data
            ),
            "ledger file",
        ),
    ],
)
def test_file_that_was_changed_or_is_of_another_version_is_refused_whole(
    run: Run, job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    change: Callable[[str, bytes], bytes], told: str,
) -> None:  # fmt: skip
    out = tmp_path / "run.zip"
    run("export", "--run", job, "--file", out)
    there, there_run = other(tmp_path, capsys)
    refused = there_run("import", altered(out, change))
    assert (refused.code, refused.out) == (1, "")
    assert told in refused.err
    assert not list(there.ledger.rglob("*.jsonl"))


def test_member_outside_of_the_archive_is_refused(
    run: Run, job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run.zip"
    run("export", "--run", job, "--file", out)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("../outside.jsonl", b"x")
    there, there_run = other(tmp_path, capsys)
    assert there_run("import", out).code == 1
    assert not list(tmp_path.rglob("outside.jsonl")) and not list(
        there.ledger.rglob("*.jsonl")
    )


@pytest.mark.parametrize(
    ("name", "file", "told"),
    [("nobody", "a.zip", "No run has the name"), (None, "a.tar", ".zip")],
)
def test_what_cannot_be_written_is_one_error(
    run: Run, job: str, tmp_path: Path, name: str | None, file: str, told: str
) -> None:
    spoken = run("export", "--run", name or job, "--file", tmp_path / file)
    assert (spoken.code, spoken.out) == (1, "")
    assert told in spoken.err and not (tmp_path / file).exists()
