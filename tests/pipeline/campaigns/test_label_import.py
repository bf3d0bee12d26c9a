"""Labels made elsewhere: checked row by row, stored in one go or not at all, and counted like any other label."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import Label
from crane_core.errors import CampaignError
from crane_core.pipeline.agreement.agreement import (
    KAPPA,
    ComparedVerdicts,
    agreement_table,
    common_items,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    label_file,
    lock_campaign,
)
from crane_core.pipeline.campaigns.export.files import export_files
from crane_core.pipeline.campaigns.guideline import change_guideline
from crane_core.pipeline.campaigns.label_frame import (
    final_outcomes,
    label_frame,
)
from crane_core.pipeline.campaigns.label_import import (
    Columns,
    Read,
    RowFault,
    read_labels,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.status import campaign_status
from crane_core.pipeline.loading.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.stats.cohen_kappa import NOMINAL
from crane_core.storage import state

OURS = Population("minibench", "ours")
MEANING = {"good": "correct", "half": "partial", "bad": "wrong"}
COLUMNS = Columns("id", "verdict", note="remark")
WORDS = ("good", "half", "bad", "correct")

Write = Callable[..., Path]


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    store = prepare(answered)
    plan = drawn_plan(
        store,
        CampaignRequest(
            "pilot", ("ana", "eva"), OURS, Design(kind=DrawKind.ALL), seed=7
        ),
    )
    store.close()
    keep_campaign(answered, plan)
    return plan


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    def written(
        *rows: tuple[object, ...],
        header: tuple[str, ...] = ("id", "verdict", "remark"),
    ) -> Path:
        text = io.StringIO()
        csv.writer(text).writerows([header, *rows])
        (tmp_path / "eva.csv").write_text(text.getvalue(), "utf-8")
        return tmp_path / "eva.csv"

    return written


def items_of(plan: Plan) -> list[str]:
    return [item.item for item in plan.items]


def read(folder: DataFolder, file: Path, columns: Columns = COLUMNS) -> Read:
    return read_labels(
        LabelStore(folder, "pilot"), "eva", file, columns, MEANING
    )


def stored(folder: DataFolder, file: Path, columns: Columns = COLUMNS) -> Read:
    desk = LabelStore(folder, "pilot")
    found = read_labels(desk, "eva", file, columns, MEANING)
    desk.take_all("eva", found.acts, source=found.source)
    return found


def test_every_row_becomes_a_label_with_its_note_and_source(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    file = write(
        *(
            (item, WORDS[place % 4], f"'=note {place}")
            for place, item in enumerate(items_of(plan))
        )
    )
    before = datetime.now(UTC).replace(microsecond=0)
    found = stored(answered, file)
    assert (found.faults, found.n_empty, found.n_labels) == ([], 0, 48)
    journal = journal_of(answered, plan, "eva")
    for place, item in enumerate(items_of(plan)):
        showing = next(
            showing for showing in journal.given if showing.item == item
        )
        assert journal.given[showing].label == MEANING.get(
            WORDS[place % 4], WORDS[place % 4]
        )
        assert journal.notes[showing] == f"=note {place}"
    acts = ledger.tail(label_file(answered, "pilot", "eva")).records
    assert {act.source for act in acts} == {found.source}
    assert found.source.startswith("eva.csv, sha256 ")
    assert all(
        before <= datetime.fromisoformat(act.received_at) <= datetime.now(UTC)
        for act in acts
    )
    progress = next(
        p
        for p in campaign_status(answered, "pilot").progress
        if p.annotator == "eva"
    )
    assert (progress.n_done, progress.pace.n, progress.pace.n_quick) == (
        48,
        0,
        0,
    ), "no time was spent here"


@pytest.mark.slow
def test_a_rebuild_replays_them_and_agreement_and_outcomes_count_them(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    desk = LabelStore(answered, "pilot")
    for place, item in enumerate(items_of(plan)):
        act = {
            "event": f"ana-{place:06}",
            "action": "label",
            "item": item,
            "showing": 1,
        }
        assert (
            desk.take(
                "ana", [act | {"label": ("correct", "wrong")[place % 2]}]
            ).refused
            == {}
        )
    stored(
        answered,
        write(
            *(
                (item, WORDS[place % 3], "")
                for place, item in enumerate(items_of(plan))
            )
        ),
    )
    said = [
        (("correct", "wrong")[place % 2], MEANING[WORDS[place % 3]])
        for place in range(48)
    ]
    finals = final_outcomes(answered, plan)
    assert [finals[item].label for item in items_of(plan)] == [
        Label(one) if one == other else None for one, other in said
    ]
    store = prepare(answered)
    items = common_items(
        labelled_verdicts(label_frame(store, answered), verdict_frame(store)),
        ["pilot: ana", "pilot: eva"],
        ComparedVerdicts.DIAGNOSES,
    )
    table = agreement_table(items).set_index("coefficient")
    pairs = [[one, other] for one, other in said]
    assert table.loc[KAPPA, "value"] == pytest.approx(
        NOMINAL(pairs, ["correct", "partial", "wrong"]).value
    )
    assert table.loc[KAPPA, "n"] == 48
    kept = state.content(store.cursor())
    store.close()
    rebuild(answered)
    store = prepare(answered)
    assert state.content(store.cursor()) == kept
    store.close()
    assert (
        sum("eva.csv, sha256" in str(row) for row in kept["annotations"]) == 48
    )


def test_each_fault_is_told_with_its_line_and_counted(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    one, two, three, four, five, *_ = items_of(plan)
    act = {
        "event": "eva-000001",
        "action": "label",
        "item": one,
        "showing": 1,
        "label": "wrong",
    }
    LabelStore(answered, "pilot").take("eva", [act])
    file = write(
        (one, "good", ""),
        ("nobody", "good", ""),
        (two, "good", "two\nlines"),
        (two, "bad", ""),
        (three, "great", ""),
        (four, "", ""),
        (five, "good", "n" * 2_001),
    )
    found = read(answered, file)
    assert [(row.line, row.fault) for row in found.faults] == [
        (2, RowFault.CONTRADICTION),
        (3, RowFault.UNKNOWN_ITEM),
        (6, RowFault.CONTRADICTION),
        (7, RowFault.UNKNOWN_LABEL),
        (9, RowFault.INVALID),
    ]
    assert [row.words for row in found.faults][:4] == [
        f"{one!r} is given already, labelled wrong, and this row says 'correct'",
        "'nobody' is not an item of pilot",
        f"{two!r} stands on line 5 already, labelled correct, and this row says 'wrong'",
        "'great' is not a label",
    ]
    assert (found.n_empty, found.n_labels, sum(found.counts().values())) == (
        1,
        1,
        5,
    )
    assert len(journal_of(answered, plan, "eva").given) == 1, (
        "reading stores nothing"
    )


def test_an_item_of_somebody_else_is_not_taken(
    answered: DataFolder, write: Write
) -> None:
    store = prepare(answered)
    design = Design(
        kind=DrawKind.ALL,
        overlap=next(o for o in type(Design().overlap) if o.name == "NONE"),
        repeats=0,
    )
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana", "eva"), OURS, design, seed=7)
    )
    store.close()
    keep_campaign(answered, plan)
    found = read(
        answered, write(*((item, "good", "") for item in items_of(plan)))
    )
    assert found.counts() == {"item of another annotator": 24}


def test_names_of_an_export_before_the_lock_and_hidden_repeats_are_understood(
    answered: DataFolder, plan: Plan, tmp_path: Path
) -> None:
    exported = b"".join(export_files(answered, "pilot")["labels.csv"]())
    rows = [
        row
        for row in csv.DictReader(io.StringIO(exported.decode(), newline=""))
        if row["annotator"] == "eva"
    ]
    assert not {row["item"] for row in rows} & set(items_of(plan))
    file = tmp_path / "back.csv"
    lines = [f"{row['item']},{row['showing']},partial" for row in rows]
    file.write_text("\n".join(["\ufeffitem,showing,label", *lines]), "utf-8")
    assert read(answered, file, Columns("item", "label")).counts() == {
        "duplicate": 2
    }
    found = stored(answered, file, Columns("item", "label", showing="showing"))
    assert (found.n_labels, found.faults) == (len(rows), [])
    journal = journal_of(answered, plan, "eva")
    assert set(journal.given) == set(plan.orders["eva"])


def test_a_second_label_is_a_duplicate_if_it_is_the_same_and_a_contradiction_if_not(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    one, two, three, *_ = items_of(plan)
    act = {
        "event": "eva-000001",
        "action": "label",
        "item": three,
        "showing": 1,
        "label": "correct",
    }
    LabelStore(answered, "pilot").take("eva", [act])
    file = write(
        (one, "good", ""),
        (one, "good", ""),
        (two, "good", ""),
        (two, "bad", ""),
        (three, "good", ""),
    )
    found = read(answered, file)
    assert found.counts() == {
        "duplicate": 1,
        "contradiction": 1,
        "already labelled": 1,
    }
    [line] = [
        fault.words
        for fault in found.faults
        if fault.fault is RowFault.CONTRADICTION
    ]
    assert "already, labelled correct, and this row says 'wrong'" in line


def test_the_guideline_in_force_is_stamped(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    changed = change_guideline(answered, "pilot", "Judge otherwise.", by="cleo")
    stored(answered, write((items_of(plan)[0], "good", "")))
    [given] = journal_of(answered, plan, "eva").given.values()
    assert given.guideline == changed.version


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no column 'id'"),
        (b"id;verdict;remark\n", "has no column 'id'"),
        (b"id,verdict\n", "has no column 'remark'"),
        (b"id,id,verdict,remark\n", "has more than one column 'id'"),
        (b"\xff\xfe", "is not a CSV file in UTF-8"),
        (b'id,verdict,remark\n"a', "is not a CSV file in UTF-8"),
        (
            b"id,verdict,remark\na,b," + b"x" * 200_000,
            "is not a CSV file in UTF-8",
        ),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(
    answered: DataFolder, plan: Plan, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    with pytest.raises(CampaignError, match=words):
        read(answered, tmp_path / "bad.csv")


def test_strangers_and_locked_campaigns_are_refused(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    file = write((items_of(plan)[0], "good", ""))
    with pytest.raises(CampaignError, match="'zoe' is not an annotator"):
        read_labels(
            LabelStore(answered, "pilot"), "zoe", file, COLUMNS, MEANING
        )
    lock_campaign(answered, "pilot", by="ana")
    with pytest.raises(CampaignError, match="it takes no more labels"):
        read(answered, file)


def test_all_or_none_are_stored_even_if_the_campaign_changes_in_between(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    found = read(
        answered, write(*((item, "good", "") for item in items_of(plan)[:3]))
    )
    found.acts[1]["label"] = "best"
    with pytest.raises(CampaignError, match="none stored"):
        LabelStore(answered, "pilot").take_all(
            "eva", found.acts, source=found.source
        )
    assert not label_file(answered, "pilot", "eva").exists()
    assert json.loads(json.dumps(found.acts))[0]["label"] == "correct"
