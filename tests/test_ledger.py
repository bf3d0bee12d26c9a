"""Our own files: what was said to be saved is there, whatever happened next; what is damaged is told, never fatal."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import (
    Annotation,
    AnnotationAction,
    AnnotatorKind,
    AuditAction,
    AuditEntry,
    Benchmark,
    Campaign,
    CampaignGuideline,
    CampaignLock,
    CampaignMessage,
    CampaignRound,
    Detector,
    DetectorKind,
    InventoryAct,
    InventoryAction,
    Job,
    JudgeCertificate,
    JudgeJob,
    Judgement,
    JudgeReply,
    KeyChoice,
    Label,
    Listed,
    MessageAction,
    NoteAct,
    NoteAction,
    NoteKind,
    Prompt,
    Record,
    RegisteredPlan,
    Reply,
    Reread,
    Run,
    Setting,
    Side,
    Verification,
    VerifiedAs,
    Version,
    ViewAct,
    ViewAction,
)
from crane_core.errors import LedgerError
from crane_core.ledger import KINDS, Position, append, from_line, tail, to_line
from crane_core.ledger.chain import breaks, digest, linked
from tests.examples import examples

RUN = Run(
    "mine",
    "numpy_1_fixed",
    "gpt-5",
    Setting.CODE,
    "study",
    1,
    crashes=True,
    reasoning="It will.",
)
LABEL = Judgement(
    "mine",
    "numpy_1_fixed",
    "gpt-5",
    Setting.CODE,
    "study",
    "ann",
    AnnotatorKind.HUMAN,
    Label.PARTIAL,
)
SEED = 20251018
N_KILLS = 10

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
maybe = st.none() | texts
numbers = st.integers(-(2**31), 2**31 - 1)
rates = st.floats(0, 1)
amounts = st.none() | st.floats(allow_nan=False, allow_infinity=False)
where = {
    "benchmark": texts,
    "instance_id": texts,
    "setting": st.sampled_from(Setting),
}
answers = where | {"detector": texts, "experiment": texts}
replied = {
    "answered_at": texts, "text": maybe, "trouble": maybe, "finish_reason": maybe, "seconds": amounts,
    "attempts": numbers, "input_tokens": st.none() | numbers, "output_tokens": st.none() | numbers, "usd": amounts,
}  # fmt: skip
records = st.one_of(
    st.builds(
        Run, **answers, run_index=numbers, crashes=st.none() | st.booleans(), reasoning=maybe, unanswered=maybe,
        diagnostics=maybe, prompt_sha256=maybe,
    ),
    st.builds(
        Judgement, **answers, annotator=texts, annotator_kind=st.sampled_from(AnnotatorKind),
        label=st.sampled_from(Label), run_index=numbers, repetition=numbers, presentation=texts, note=maybe,
        guideline=maybe,
    ),
    st.builds(Detector, texts, texts, st.sampled_from(DetectorKind)),
    st.builds(Prompt, **where, origin=texts, sha256=texts, text=texts),
    st.builds(
        Annotation, texts, texts, texts, numbers, st.sampled_from(AnnotationAction), texts, numbers, texts, texts,
        label=st.none() | st.sampled_from(Label), reason=maybe, note=maybe, shown_at=maybe, first_action_at=maybe,
        seconds=amounts, received_at=maybe, source=maybe,
    ),
    st.builds(Job, texts, texts, texts, st.sampled_from(Setting), options=texts, started_at=texts),
    st.builds(Reply, **where, **replied, job=texts, detector=texts, run_index=numbers, prompt_sha256=texts),
    st.builds(
        Reread, **where, job=texts, detector=texts, run_index=numbers, read_at=texts,
        crashes_before=st.none() | st.booleans(), unanswered_before=maybe,
        crashes_after=st.none() | st.booleans(), unanswered_after=maybe,
    ),
    st.builds(JudgeJob, texts, texts, texts, texts, texts, texts),
    st.builds(
        JudgeCertificate, *(texts,) * 4, rates, *(numbers,) * 2, texts, *(numbers,) * 7, *(rates,) * 2, numbers,
        *(rates,) * 2, order_bias=amounts,
    ),
    st.builds(
        JudgeReply, **answers, **replied, job=texts, annotator=texts, run_index=numbers, repetition=numbers,
        presentation=texts, prompt=texts, guideline=maybe,
    ),
    st.builds(CampaignGuideline, texts, texts, texts, texts),
    st.builds(CampaignLock, texts, texts, texts),
    st.builds(
        CampaignMessage, texts, texts, texts, texts, numbers, st.sampled_from(MessageAction), st.sampled_from(Side),
        texts, texts, text=maybe, flag=maybe,
    ),
    st.builds(CampaignRound, texts, texts, texts),
    st.builds(KeyChoice, texts, texts, texts),
    st.builds(ViewAct, texts, texts, st.sampled_from(ViewAction), texts, page=maybe, query=maybe, title=maybe),
    st.builds(
        NoteAct, texts, st.sampled_from(NoteAction), texts, texts, kind=st.none() | st.sampled_from(NoteKind),
        text=maybe, run_index=st.none() | numbers, corrects=maybe,
    ),
    st.builds(AuditEntry, texts, texts, texts, st.sampled_from(AuditAction), texts, detail=maybe),
    st.builds(RegisteredPlan, texts, texts, texts, numbers),
    st.builds(
        InventoryAct, st.sampled_from(Listed), texts, st.sampled_from(InventoryAction), texts, texts, title=maybe,
        held=maybe,
    ),
    st.builds(
        Verification, texts, texts, st.sampled_from(Version), texts, texts, texts, st.sampled_from(VerifiedAs), texts,
        seconds=amounts, recorded=maybe, exception=maybe, message=maybe, cell=st.none() | numbers, why=maybe,
    ),
    st.builds(Campaign, texts, st.dictionaries(texts, numbers, max_size=3).map(json.dumps)),
)  # fmt: skip


@given(record=records)
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    line = to_line(record)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert from_line(line) == record


@examples(25)
@given(written=st.lists(records, max_size=5), pause=st.integers(0, 5))
def test_a_file_read_in_two_parts_gives_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, written: list[Record], pause: int
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "runs" / "1.jsonl"
    for record in [RUN, *written[:pause]]:
        append(path, record)
    first = tail(path)
    for record in written[pause:]:
        append(path, record)
    rest = tail(path, first.position)
    assert [*first.records, *rest.records] == [RUN, *written]
    assert first.problems == rest.problems == []
    assert rest.position.loaded_bytes == path.stat().st_size
    assert tail(path, rest.position).position == rest.position


def test_a_run_without_an_answer_keeps_that(tmp_path: Path) -> None:
    asked = replace(
        RUN, crashes=None, reasoning=None, unanswered="timed out after 60 s"
    )
    append(tmp_path / "1.jsonl", asked)
    assert tail(tmp_path / "1.jsonl").records == [asked]


def test_every_kind_of_ledger_record_is_generated_here() -> None:
    of_detectors = {Detector, Job, Prompt, Reply, Reread, Run}
    of_benchmarks = {InventoryAct, Verification}
    of_annotators = {
        Campaign,
        CampaignGuideline,
        CampaignLock,
        CampaignMessage,
        CampaignRound,
        Annotation,
        Judgement,
        JudgeJob,
        JudgeReply,
        KeyChoice,
    }
    without_table = {
        AuditEntry,
        JudgeCertificate,
        NoteAct,
        RegisteredPlan,
        ViewAct,
    }
    assert set(KINDS.values()) == (
        of_detectors | of_benchmarks | of_annotators | without_table
    )


def test_append_is_one_write_and_one_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watched, not replaced: the file is written for real."""
    calls: list[tuple[str, object]] = []
    write, fsync, close = os.write, os.fsync, os.close
    monkeypatch.setattr(
        os,
        "write",
        lambda handle, data: (
            calls.append(("write", data)) or write(handle, data)
        ),
    )
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: calls.append(("fsync", None)) or fsync(handle),
    )
    monkeypatch.setattr(
        os,
        "close",
        lambda handle: calls.append(("close", None)) or close(handle),
    )
    path = tmp_path / "runs" / "1.jsonl"
    append(path, RUN)
    first = path.read_bytes()
    done: list[tuple[str, object]] = [
        ("write", first),
        ("fsync", None),
        ("close", None),
    ]
    assert calls == [
        *done,
        ("fsync", None),
        ("close", None),
    ]  # the folder's entry of a new file, too
    calls.clear()
    append(path, RUN)
    second = path.read_bytes().removeprefix(first)
    assert calls == [("write", second), ("fsync", None), ("close", None)]
    assert first == linked(to_line(RUN), digest(b""))
    assert second == linked(to_line(RUN), digest(first))


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    line = to_line(LABEL)
    path.write_bytes(to_line(RUN) + line[:20])
    first = tail(path)
    assert (first.records, first.problems, first.torn_bytes) == ([RUN], [], 20)
    assert first.position.loaded_bytes == len(to_line(RUN))
    path.write_bytes(to_line(RUN) + line)
    rest = tail(path, first.position)
    assert (rest.records, rest.problems, rest.torn_bytes) == ([LABEL], [], 0)


@pytest.mark.parametrize(
    "fragment",
    [
        to_line(RUN)[:30],
        b"\0" * 40,
        b"\xff\xfe{",
        '{"record": "rün'.encode()[:-2],
    ],
)
def test_a_torn_line_is_closed_by_the_next_append_and_told_once(
    tmp_path: Path, fragment: bytes
) -> None:
    path = tmp_path / "1.jsonl"
    append(path, RUN)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(fragment)
    append(path, LABEL)
    found = tail(path)
    assert found.records == [RUN, LABEL]
    [problem] = found.problems
    assert (problem.path, problem.place) == ("1.jsonl", f"byte {size}")
    assert found.torn_bytes == 0
    assert tail(path, found.position).problems == []


LINE = json.loads(to_line(RUN))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"run_index": "one"}, "run_index cannot be 'one'"),
        ({"run_index": 1.5}, "run_index cannot be 1.5"),
        ({"run_index": True}, "run_index cannot be True"),
        ({"run_index": 2**40}, "run_index is out of range"),
        ({"crashes": "yes"}, "crashes cannot be 'yes'"),
        ({"benchmark": None}, "benchmark cannot be None"),
        ({"setting": "dream"}, "dream"),
        ({"record": "dream"}, 'no member "record"'),
        ({"record": ["run"]}, "member"),
        ({"colour": "red"}, "unknown member 'colour'"),
        ({"reasoning": "half of a pair: \ud83d"}, "surrogates"),
        ({"reasoning": [1]}, "reasoning cannot be [1]"),
    ],
)
def test_a_line_of_the_wrong_kind_is_one_problem(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    path = tmp_path / "1.jsonl"
    path.write_bytes(
        to_line(LABEL)
        + json.dumps(LINE | change).encode()
        + b"\n"
        + to_line(RUN)
    )
    found = tail(path)
    assert found.records == [LABEL, RUN]
    [problem] = found.problems
    assert problem.reason.startswith("not a ledger line: ")
    assert told in problem.reason


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"[]", ""),
        (b"7", ""),
        (b"null", ""),
        (b"{}", ""),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"record": "run"}', ""),
        (to_line(Campaign("pilot", "[" * 100_000)), "nested too deeply"),
        (to_line(Campaign("pilot", "a plan in prose")), "Expecting value"),
    ],
    ids=range(8),
)
def test_json_that_is_no_record_is_one_problem(
    tmp_path: Path, line: bytes, told: str
) -> None:
    path = tmp_path / "1.jsonl"
    path.write_bytes(line.rstrip() + b"\n" + to_line(RUN))
    found = tail(path)
    assert found.records == [RUN]
    [problem] = found.problems
    assert told in problem.reason


def test_empty_lines_and_windows_line_ends_are_no_problem(
    tmp_path: Path,
) -> None:
    path = tmp_path / "1.jsonl"
    path.write_bytes(
        b"\n" + to_line(RUN).replace(b"\n", b"\r\n") + b"\r\n" + to_line(LABEL)
    )
    found = tail(path)
    assert (found.records, found.problems) == ([RUN, LABEL], [])


def partial_label_corrected(lines: bytes) -> bytes:
    return lines.replace(b"partial", b"correct") + to_line(RUN)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(partial_label_corrected, id="the last line"),
        pytest.param(lambda lines: b"", id="emptied"),
        pytest.param(lambda lines: lines[:10], id="cut in the first line"),
        pytest.param(lambda lines: lines[:200], id="cut later"),
        pytest.param(
            lambda lines: to_line(LABEL) + lines, id="a line put in before"
        ),
    ],
)
def test_a_file_that_changed_before_its_end_is_refused_with_a_remedy(
    tmp_path: Path, changed: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "1.jsonl"
    append(path, RUN)
    append(path, LABEL)
    loaded = tail(path).position
    path.write_bytes(changed(path.read_bytes()))
    with pytest.raises(
        LedgerError, match=r"it is append-only|changed before"
    ) as refused:
        tail(path, loaded)
    assert "crane_core rebuild" in refused.value.remedy


def test_position_is_what_the_store_keeps(tmp_path: Path) -> None:
    append(tmp_path / "1.jsonl", RUN)
    loaded = tail(tmp_path / "1.jsonl").position
    assert Position(*tuple(loaded)) == loaded
    assert loaded.last_line_from == 0


def test_a_place_that_cannot_be_written_is_refused_with_a_remedy(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs").write_text("a file where a folder is needed")
    with pytest.raises(LedgerError, match="cannot be written") as refused:
        append(tmp_path / "runs" / "1.jsonl", RUN)
    assert "nothing was saved" in refused.value.remedy


@pytest.mark.parametrize(
    "record",
    [
        replace(RUN, reasoning="\ud83d"),
        replace(RUN, run_index=2**40),
        Campaign("a", "b"),
    ],
)
def test_a_record_that_no_reader_could_take_is_refused_and_nothing_is_written(
    tmp_path: Path, record: Record
) -> None:
    path = tmp_path / "1.jsonl"
    with pytest.raises(LedgerError, match="does not accept this record"):
        append(path, record)
    assert not path.exists()


def test_only_our_own_facts_belong_in_the_ledger(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        append(tmp_path / "1.jsonl", Benchmark("mine", "Mine"))


def test_types_of_ledger_records_are_ones_that_lines_are_checked_for() -> None:
    """A new field of another type would pass unchecked."""
    plain = {
        str,
        int,
        float,
        bool | None,
        str | None,
        int | None,
        float | None,
        Setting,
        Label,
        Label | None,
    }
    plain |= {
        AnnotationAction,
        AnnotatorKind,
        DetectorKind,
        MessageAction,
        Side,
    }
    plain |= {AuditAction, InventoryAction, Listed, VerifiedAs, Version}
    plain |= {ViewAction, NoteAction, NoteKind}
    plain |= {NoteKind | None}
    assert {
        kind
        for record in KINDS.values()
        for kind in get_type_hints(record).values()
    } <= plain


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from crane_core.ledger import append, from_line
RUN = from_line(sys.argv[2].encode())
for index in range(1, 1_000_000):
    append(Path(sys.argv[1]), replace(RUN, run_index=index, reasoning="x" * (index * 7919 % 3000)))
    print(index, flush=True)
"""


def killed_writer(
    path: Path, root: Path, n_lines: int, rng: random.Random
) -> int:
    """Let a writer get to about `n_lines`, kill it there, and give the last index that it was told is saved."""
    command = [sys.executable, "-c", WRITER, str(path), to_line(RUN).decode()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(n_lines)]
        for _ in range(rng.randrange(20_000)):
            pass
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout if line.endswith(b"\n")]
    assert writer.returncode == -signal.SIGKILL
    return told[-1]


@pytest.mark.parametrize("trial", range(N_KILLS))
def test_a_killed_writer_loses_no_line_that_was_acknowledged(
    tmp_path: Path, root: Path, trial: int
) -> None:
    rng = random.Random(SEED + trial)
    path = tmp_path / "runs" / "1.jsonl"
    saved = killed_writer(path, root, rng.randrange(1, 60), rng)
    found = tail(path)
    indices = [
        record.run_index for record in found.records if isinstance(record, Run)
    ]
    assert indices == list(range(1, len(indices) + 1))
    assert saved <= len(indices) <= saved + 1
    assert found.problems == []
    append(path, LABEL)
    assert tail(path, found.position).records == [LABEL]
    assert list(breaks(path.read_bytes())) == []


def test_a_writer_that_dies_within_a_line_loses_only_that_line(
    tmp_path: Path,
) -> None:
    """Cut at every byte of the last line, as a full disk or a lost power supply may."""
    whole = to_line(RUN) + to_line(LABEL)
    for cut in range(len(to_line(RUN)), len(whole)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        append(path, RUN)
        found = tail(path)
        assert (found.records[0], found.records[-1]) == (RUN, RUN)
        assert len(found.records) + len(found.problems) == (
            2 if cut == len(to_line(RUN)) else 3
        )
