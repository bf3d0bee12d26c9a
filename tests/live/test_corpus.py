"""The standing corpus: cells of open notebooks that were asked about and then really run.

`python -m tests.live.corpus --misses` prints the same table, and every crash that nobody predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.corpus.cases import Case, CorpusError, all_cases, cases_of
from tests.live.corpus.play import played
from tests.live.corpus.table import failures, row, table

LEAST_RECALL = 0.57
"""A little under what was measured; a rule that finds less than before shows here."""
EVERY = 30
"""Of the cases that share a kernel, this many make one of the sample."""


def sample(cases: list[Case]) -> list[Case]:
    """Few cases of every kind, those that need nothing optional and no separate kernel."""
    quick = [case for case in cases if not case.needs and not case.own_kernel]
    by_kind = {
        kind: [case for case in quick if case.kind == kind]
        for kind in {case.kind for case in quick}
    }
    return [case for kind in sorted(by_kind) for case in by_kind[kind][::EVERY]]


def test_a_sample_has_no_false_alarm(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    found = played(sample(all_cases()), tmp_path, jobs=1)
    record_property("corpus", table(found))
    assert failures(found) == []
    assert row(found).cells >= 30


@pytest.mark.corpus
def test_no_cell_that_runs_is_called_a_certain_crash_or_stopped_by_the_guard(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    found = played(all_cases(), tmp_path)
    record_property("corpus", table(found))
    counts = row(found)
    assert failures(found) == []
    assert counts.recall >= LEAST_RECALL, table(found)


def written(folder: Path, text: str) -> list[Case]:
    file = folder / "made.cells"
    file.write_text(text, "utf-8")
    return cases_of(file)


@pytest.mark.slow
def test_what_is_wrong_is_counted_and_told(tmp_path: Path) -> None:
    cases = written(
        tmp_path,
        "=== a label that is wrong\n--- runs\n1 / 0\n"
        "=== a set-up that crashes\nabsent\n--- runs\n1\n"
        "=== what is not installed | needs no_such_module_here\n--- runs\n1\n",
    )
    found = played(cases, tmp_path / "room", jobs=1)
    counts = row(found)
    assert (
        counts.cells,
        counts.ran,
        counts.crashed,
        counts.found,
        counts.skipped,
    ) == (
        2,
        1,
        1,
        1,
        1,
    )
    told = failures(found)
    assert len(told) == 2
    assert told[0].startswith(
        "made: a label that is wrong: predicted ZeroDivisionError, raised ZeroDivisionError (its"
    )
    assert told[1].startswith(
        "made: a set-up that crashes: predicted NameError, raised NameError (its file"
    )
    assert "skipped: no_such_module_here not installed" in table(found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("=== no target\nx = 1\n", "no target"),
        ("=== a mark | unknown\n--- runs\n1\n", "unknown option 'unknown'"),
        ("=== a mark\n--- crashes\n1\n", "unknown mark '--- crashes'"),
        ("=== nothing to run\n--- runs\n\n", "an empty target"),
        ("===\n--- runs\n1\n", "no heading"),
        (
            "=== twice\n--- runs\n1\n=== twice\n--- runs\n1\n",
            "two cases are called 'twice'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(CorpusError, match=why):
        written(tmp_path, text)
