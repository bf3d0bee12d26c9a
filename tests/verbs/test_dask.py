"""`--dask` as its user has it: the same files and outcomes as without a cluster, from workers in other processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Run as Answer
from crane_core.domain import Verification
from crane_core.pipeline.dask.sent_folder import received, sent
from crane_core.pipeline.places import DataFolder
from tests.dask_pieces import dask_processes
from tests.spoken import Run
from tests.written_pairs import write_notebook, write_pair

RULES = (
    "detect",
    "--detector",
    "rules",
    "--setting",
    "runtime",
    "--benchmark",
    "minibench",
)
GOOD = (["a = 0", "1 / a"], ["a = 1", "1 / a"])
WRONG = (["a = 1", "1 / a"], ["a = 1", "1 / a"])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with a worker; what several do among them is told by tests/pipeline/dask."""
    with dask_processes(tmp_path_factory.mktemp("dask"), 1) as running:
        yield running.address


def lines_of(folder: DataFolder, glob: str) -> list[object]:
    return [
        one
        for file in sorted((folder.ledger / "runs").glob(glob))
        for one in ledger.tail(file).records
    ]


def answers(folder: DataFolder) -> list[Answer]:
    return [
        one
        for one in lines_of(folder, "rules-*.jsonl")
        if isinstance(one, Answer)
    ]


@pytest.mark.slow
def test_rules_answer_on_a_cluster_as_here(
    run: Run, folder: DataFolder, address: str
) -> None:
    there = run(*RULES, "--dask", address)
    assert there.code == 0, there.err
    assert f"notebooks on the cluster {address}, " in there.err
    assert "dashboard: http://127.0.0.1:" in there.err
    on_cluster = {
        one.instance_id: (one.crashes, one.reasoning, one.diagnostics)
        for one in answers(folder)
    }
    assert (
        run(*RULES, "--dask", "off", "--again", "--concurrency", "1").code == 0
    )
    assert len(answers(folder)) == 2 * len(on_cluster)
    assert {
        one.instance_id: (one.crashes, one.reasoning, one.diagnostics)
        for one in answers(folder)
    } == on_cluster


@pytest.mark.slow
def test_an_analyzer_answers_on_a_cluster(run: Run, address: str) -> None:
    pylint = "detect --detector pylint --setting code --benchmark minibench"
    checked = run(f"{pylint} --instances numpy_1_* --dask {address} --json")
    assert (
        json.loads(checked.out)["answered"],
        json.loads(checked.out)["questions"],
    ) == (2, 2)


def test_a_model_is_not_asked_from_a_cluster(
    run: Run, folder: DataFolder
) -> None:
    """It is refused before anybody looks for the scheduler, and there is none."""
    fake = "detect --detector fake --setting code --benchmark minibench"
    asked = run(f"{fake} --dask tcp://127.0.0.1:1")
    assert asked.code == 1
    assert (
        "error: fake asks a model, and keys and limits stay on this machine. Omit --dask"
        in asked.err
    )
    assert lines_of(folder, "*.jsonl") == []


@pytest.mark.slow
def test_ctrl_c_stops_a_local_cluster(
    whole_folder: DataFolder, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(whole_folder.path),
        *RULES,
        "--dask",
        "local",
    ]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    # In a separate group, all of which a terminal's Ctrl+C reaches.
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as first:
        assert first.stderr is not None
        said = []
        for line in first.stderr:
            said.append(line)
            if re.match(r"\d+ of 80 answered", line):
                os.killpg(first.pid, signal.SIGINT)
                break
        said.append(first.stderr.read())
    told = "".join(said)
    assert first.returncode == 130, told
    assert "80 notebooks on workers of this machine, " in told
    assert "Traceback" not in told
    n_kept = len(answers(whole_folder))
    assert 0 < n_kept < 80
    again = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert again.returncode == 0, again.stderr
    assert set(
        Counter(one.instance_id for one in answers(whole_folder)).values()
    ) == {1}
    assert len(answers(whole_folder)) == 80


@pytest.mark.slow
def test_pairs_are_executed_on_a_cluster_once(
    run: Run, folder: DataFolder, address: str, tmp_path: Path
) -> None:
    pairs, count = tmp_path / "lab", tmp_path / "count"
    write_pair(pairs, "a", *GOOD)
    write_pair(pairs, "d", *WRONG)
    write_pair(
        pairs, "e", [f"open({str(count)!r}, 'a').write('e')", "1 / 0"], GOOD[1]
    )
    (pairs / "f").mkdir()
    write_notebook(pairs / "f" / "f_fixed.ipynb", ["1"])
    first = run(f"verify {pairs} --dask {address} --json")
    assert first.code == 1
    told = json.loads(first.out)
    assert told["counts"]["as recorded"] == 2
    assert sum(told["counts"].values()) == 4
    stored = [
        one
        for one in lines_of(folder, "verify-*.jsonl")
        if isinstance(one, Verification)
    ]
    assert len(stored) == 8
    again = json.loads(run(f"verify {pairs} --json --dask off").out)
    assert again["notebooks"] == told["notebooks"]
    assert count.read_text() == "e"


@pytest.mark.slow
def test_a_worker_with_other_packages_executes_nothing(
    run: Run, address: str, tmp_path: Path
) -> None:
    write_pair(tmp_path / "lab", "a", *GOOD)
    other = tmp_path / "other"
    other.mkdir()
    python = other / "python"
    flag = other / "flag"
    # The driver asks this interpreter first for its packages; asked again it says that it has one more.
    python.write_text(
        f"""#!/bin/sh
case "$*" in *"distributions("*)
    if [ -e '{flag}' ]; then echo '["3.0", "abacus", ["more 1"]]'; exit 0; fi
    : > '{flag}'
esac
exec '{sys.executable}' "$@"
"""
    )
    python.chmod(0o755)
    said = run(f"verify {tmp_path / 'lab'} --python {python} --dask {address}")
    assert "cannot run here" in said.out
    assert "with other packages" in said.out


@pytest.mark.slow
def test_a_folder_of_notebooks_is_captured_on_a_cluster(
    run: Run, address: str, tmp_path: Path
) -> None:
    books = tmp_path / "books"
    for name in ("a", "deep/b"):
        (books / name).parent.mkdir(parents=True, exist_ok=True)
        (books / name).with_name("n.txt").write_text("7")
        write_notebook(
            books / f"{name}.ipynb", ["n = int(open('n.txt').read())", "n / 0"]
        )
    write_notebook(books / "c.ipynb", ["1 / 0", "2"])
    first = run(f"capture {books} --out {tmp_path / 'states'} --dask {address}")
    assert first.code == 1
    assert "kernel states of 2 of 3 notebooks" in first.out
    assert "not captured:" in first.out and "ZeroDivisionError" in first.out
    for name in ("a", "deep/b"):
        state = json.loads(
            (tmp_path / "states" / f"{name}.json").read_text("utf-8")
        )
        assert state["variables"]["n"]["values"]["value"] == 7
    assert not (tmp_path / "states" / "c.json").exists()
    again = run(f"capture {books} --out {tmp_path / 'states'} --json")
    told = json.loads(again.out)
    assert (told["notebooks"], told["captured"], told["failed"]) == (3, 0, 1)
    assert "2 of 3 have a file already" in again.err
    one = run(
        f"capture {books / 'a.ipynb'} --out {tmp_path / 'a.json'} --dask {address}"
    )
    assert (one.code, (tmp_path / "a.json").exists()) == (1, False)


def test_two_notebooks_never_share_a_file(run: Run, tmp_path: Path) -> None:
    one, other = (
        write_notebook(tmp_path / name / "n.ipynb", ["1"])
        for name in ("a", "b")
    )
    refused = run(f"capture {one} {other} --out {tmp_path / 'states'}")
    assert refused.code == 1
    assert "would both go to" in refused.err
    (tmp_path / "empty").mkdir()
    assert (
        "holds no notebook"
        in run(f"capture {tmp_path / 'empty'} --out {tmp_path / 'states'}").err
    )


def test_a_folder_that_the_worker_does_not_have_is_sent(tmp_path: Path) -> None:
    write_pair(tmp_path / "lab", "a", *GOOD)
    write_notebook(tmp_path / "lab" / "a" / "other.ipynb", ["1"])
    (tmp_path / "lab" / "a" / "data.csv").write_bytes(b"1,2")
    paths = [
        tmp_path / "lab" / "a" / f"a_{version}.ipynb"
        for version in ("reproduced", "fixed")
    ]
    travels, stays = (
        sent(tmp_path, paths, is_local=False),
        sent(tmp_path, paths, is_local=True),
    )
    with received(travels) as root:
        assert root == tmp_path
    content = paths[0].read_bytes()
    (tmp_path / "lab").rename(tmp_path / "elsewhere")
    with received(travels) as root:
        assert sorted(path.name for path in (root / "lab" / "a").iterdir()) == [
            "a_fixed.ipynb",
            "a_reproduced.ipynb",
            "data.csv",
        ]
        assert (
            root / "lab" / "a" / "a_reproduced.ipynb"
        ).read_bytes() == content
    assert not root.exists()
    with (
        pytest.raises(Exception, match="too large to be sent"),
        received(stays),
    ):
        pass


def test_a_folder_too_large_to_send_is_not_read_whole(tmp_path: Path) -> None:
    notebook = write_notebook(tmp_path / "n.ipynb", ["1"])
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(17 * 2**20)
    assert sent(tmp_path, [notebook], is_local=False).files is None


NO_ADDRESSES = (
    *(
        "",
        "tcp://",
        "http://10.0.0.5:8786",
        "tcp://10.0.0.5",
        "tcp://10.0.0.5:0",
        "tcp://10.0.0.5:65536",
        "ucx://x:1",
    ),
    *(
        "tcp://a b:1",
        "tcp://x@y:1",
        "tcp://\x1b[31mred:1",
        "tcp://x:1/../y",
        "tls://x:1\n",
        "LOCAL",
        "inproc://x/1",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_of_a_scheduler_is_wrong_usage(
    run: Run, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        run(*RULES, f"--dask={address}")
    said = capsys.readouterr().err.splitlines()[-1]
    assert left.value.code == 2
    assert "expected tcp://HOST:PORT, tls://HOST:PORT, local or off" in said
    assert "\x1b" not in said


@pytest.mark.slow
def test_nobody_at_an_address_is_one_line(run: Run) -> None:
    refused = run(
        *RULES, "--instances", "numpy_1_*", "--dask", "tcp://127.0.0.1:1"
    )
    assert refused.code == 1
    assert refused.err.splitlines()[-1].startswith(
        "error: No Dask scheduler answers at tcp://127.0.0.1:1"
    )
