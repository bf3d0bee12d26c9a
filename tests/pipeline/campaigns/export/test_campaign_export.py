"""Exports: blind before the lock, whole after it, safe in a spreadsheet, and enough to compute and to repeat from."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.guideline import guideline, version_of
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import Label
from crane_core.errors import CampaignError
from crane_core.ledger import from_line, tail
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.export.files import export_files, export_zip
from crane_core.pipeline.campaigns.export.forms import exported, write_export
from crane_core.pipeline.campaigns.export.repeat import (
    exported_guideline,
    exported_plan,
    repeated_plan,
)
from crane_core.pipeline.campaigns.export.table import (
    COLUMNS,
    COLUMNS_AFTER_LOCK,
    TEXT_COLUMNS,
)
from crane_core.pipeline.campaigns.guideline import change_guideline
from crane_core.pipeline.campaigns.item_texts import item_texts
from crane_core.pipeline.campaigns.label_frame import label_frame
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.sheet_text import unguarded
from crane_core.stats.cohen_kappa import NOMINAL
from crane_core.storage.store import Store

OURS = Population("minibench", "ours")
NOTES = [
    '=HYPERLINK("http://a","b")', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'quoted'", "＝1", 'two\nlines, "and";=1',
    "שלום 😀",
]  # fmt: skip
SCALE = [str(label) for label in DIAGNOSIS_LABELS]


@pytest.fixture(scope="module")
def labelled(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFolder, Plan]:
    """Everything of "ours", labelled by ana and ben in different ways, with hostile notes, flags, an undo."""
    folder = DataFolder(
        Path(
            shutil.copytree(
                answered_folder.path,
                tmp_path_factory.mktemp("labelled") / "data",
            )
        )
    )
    wish = CampaignRequest(
        "pilot",
        ("ana", "ben"),
        OURS,
        Design(kind=DrawKind.ALL),
        seed=20_261_121_077,
        created_by="ana",
    )
    store = prepare(folder)
    plan = drawn_plan(store, wish)
    store.close()
    keep_campaign(folder, plan)
    label_all(folder, plan, "ana", every=4)
    label_all(folder, plan, "ben", every=3)
    return folder, plan


@pytest.fixture
def plan(labelled: tuple[DataFolder, Plan], answered: DataFolder) -> Plan:
    """That campaign, in the test's own data folder."""
    folder, plan = labelled
    shutil.copytree(folder.ledger, answered.ledger, dirs_exist_ok=True)
    return plan


PAIR = ("ana", "ben")


def label_all(
    folder: DataFolder, plan: Plan, annotator: str, *, every: int
) -> None:
    """Label all that comes up by its name; every so many labels is another one."""
    desk = LabelStore(folder, plan.campaign)
    place = 0
    while coming := desk.journal(annotator).upcoming(1):
        place += 1
        known = {"item": coming[0].item, "showing": coming[0].showing}
        label = SCALE[(int(coming[0].item, 16) + (place % every == 0)) % 3]
        times = {
            "shown_at": f"2026-11-21T10:00:{place % 60:02}Z",
            "first_action_at": "2026-11-21T10:01:00+01:00",
        }
        acts = [
            {
                "event": f"{annotator}-note-{place:04}",
                "action": "note",
                "note": NOTES[place % len(NOTES)],
            }
            | known,
            {
                "event": f"{annotator}-label-{place:04}",
                "action": "label",
                "label": label,
                "seconds": place / 8,
            }
            | known
            | times,
        ]
        if place == 5:
            acts += [
                {"event": f"{annotator}-undo-{place:04}", "action": "undo"}
                | known
            ]
        if place == 7:
            acts += [
                {"event": f"{annotator}-flag-{place:04}", "action": "flag"}
                | known
            ]
        taken = desk.take(annotator, acts)
        assert taken.refused == {}


def files_of(
    folder: DataFolder, form: str = "tables", *, with_texts: bool = False
) -> dict[str, bytes]:
    found = exported(folder, "pilot", form, with_texts=with_texts)
    return {name: b"".join(content()) for name, content in found.items()}


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(
        csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
    )


def label_rows(
    folder: DataFolder, *, with_texts: bool = False
) -> list[dict[str, str]]:
    return rows_of(files_of(folder, with_texts=with_texts)["labels.csv"])


def decide(
    folder: DataFolder, plan: Plan, label: Label = Label.WRONG, **words: str
) -> str:
    """Cleo decides the first item between its annotators; its name."""
    item = plan.items[0].item
    adjudicate(
        folder, plan, item, by="cleo", label=label, **{"reason": "a"} | words
    )
    return item


def written(folder: DataFolder, place: Path, form: str = "tables") -> Path:
    """The export as a folder."""
    files = exported(folder, "pilot", form, with_texts=form == "dataset")
    write_export(files, place / "out", force=False)
    return place / "out"


def kappa_of(labels: pd.DataFrame) -> float:
    wide = labels.pivot(index="item", columns="annotator", values="label")
    return NOMINAL(wide[["ana", "ben"]].to_numpy(), SCALE).value


def test_before_the_lock_nothing_tells_who_said_an_item(
    answered: DataFolder, plan: Plan
) -> None:
    files = files_of(answered)
    verdicts = [item.verdict for item in plan.items]
    words = {"minibench", "ours", "runtime", "code"}
    words |= {str(plan.seed), plan.population_sha256}
    for verdict in verdicts:
        words |= {verdict.instance_id, verdict.case_id, verdict.detector}
    for name in ("labels.csv", "acts.jsonl", "plan.json"):
        assert [
            word for word in words if word in files[name].decode("utf-8")
        ] == [], name
    assert all(
        row[column] == ""
        for row in rows_of(files["labels.csv"])
        for column in COLUMNS_AFTER_LOCK
    )


def test_the_text_of_the_guideline_is_in_it_by_version(
    answered: DataFolder, plan: Plan
) -> None:
    files = files_of(answered)
    assert version_of(guideline()) == plan.guideline
    assert (
        files[f"guideline-{plan.guideline}.md"].decode("utf-8") == guideline()
    )
    assert {row["guideline"] for row in rows_of(files["labels.csv"])} == {
        plan.guideline
    }


def test_a_guideline_whose_text_was_not_stored_is_named_beside_the_one_read_instead(
    answered: DataFolder, store: Store
) -> None:
    drawn = drawn_plan(
        store,
        CampaignRequest(
            "pilot", ("ana",), OURS, Design(kind=DrawKind.ALL), seed=5
        ),
    )
    keep_campaign(
        answered, replace(drawn, guideline="0123456789ab", guideline_text=None)
    )
    one, two, *_ = drawn.orders["ana"]
    label = {"action": "label", "label": "wrong"}
    acts = [
        label
        | {"event": "event-0001", "item": one.item, "showing": one.showing},
        label
        | {
            "event": "event-0002",
            "item": two.item,
            "showing": two.showing,
            "guideline": drawn.guideline,
        },
    ]
    assert LabelStore(answered, "pilot").take("ana", acts).refused == {}
    files = files_of(answered)
    stamped = {
        row["guideline"] for row in rows_of(files["labels.csv"]) if row["label"]
    }
    assert stamped == {"0123456789ab", drawn.guideline}
    assert [name for name in files if name.startswith("guideline-")] == [
        f"guideline-{drawn.guideline}.md"
    ]
    assert "The text of guideline 0123456789ab was not stored." in files[
        "README.txt"
    ].decode("utf-8")


def test_every_version_that_was_in_force_or_read_is_in_it_with_its_time(
    answered: DataFolder, plan: Plan, store: Store, tmp_path: Path
) -> None:
    changed = change_guideline(answered, "pilot", "Judge otherwise.", by="cleo")
    showing = plan.orders["ana"][0]
    act = {
        "event": "ana-after-change",
        "action": "label",
        "label": "wrong",
        "guideline": changed.version,
    }
    desk = LabelStore(answered, "pilot")
    assert (
        desk.take(
            "ana", [act | {"item": showing.item, "showing": showing.showing}]
        ).refused
        == {}
    )
    files = files_of(answered)
    assert (
        files[f"guideline-{plan.guideline}.md"].decode("utf-8") == guideline()
    )
    assert files[f"guideline-{changed.version}.md"] == b"Judge otherwise.\n"
    assert [
        (row["version"], row["since"], row["by"])
        for row in rows_of(files["guidelines.csv"])
    ] == [
        (plan.guideline, plan.created_at, plan.created_by),
        (changed.version, changed.since, "cleo"),
    ]
    told = files["README.txt"].decode("utf-8")
    assert (
        f"guideline-{changed.version}.md  in force from {changed.since} by cleo; 1 action under this text"
        in told
    )
    stamped = Counter(row["guideline"] for row in rows_of(files["labels.csv"]))
    assert stamped[changed.version] == 1 and set(stamped) == {
        plan.guideline,
        changed.version,
    }

    lock_campaign(answered, "pilot", by="ana")
    out = written(answered, tmp_path)
    old = exported_plan(out / "plan.json")
    text = exported_guideline(out / "plan.json", old)
    again = repeated_plan(store, old, guideline_text=text)
    assert (again.plan.guideline, again.plan.guideline_text) == (
        changed.version,
        "Judge otherwise.\n",
    )
    assert again.plan.orders == plan.orders
    assert again.remarks == (
        "Items, names and orders are the same as in the export.",
        f"The guideline is {changed.version}; the exported campaign began with {plan.guideline}.",
    )
    (out / f"guideline-{changed.version}.md").write_text("Judge as you like.")
    with pytest.raises(CampaignError, match="is not the text of that version"):
        exported_guideline(out / "plan.json", old)
    (out / "guidelines.csv").write_text("version\n../../../x\n")
    with pytest.raises(CampaignError, match="is not a version"):
        exported_guideline(out / "plan.json", old)
    (out / "guidelines.csv").unlink()
    assert exported_guideline(out / "plan.json", old) == plan.guideline_text


def test_before_the_lock_nobody_finds_what_somebody_else_said_of_an_item(
    answered: DataFolder, plan: Plan
) -> None:
    decide(answered, plan)
    files = files_of(answered)
    rows = rows_of(files["labels.csv"])
    names = {
        who: {row["item"] for row in rows if row["annotator"] == who}
        for who in ("ana", "ben")
    }
    assert len(names["ana"]) == len(names["ben"]) == len(plan.items)
    assert names["ana"].isdisjoint(names["ben"])
    acts = [json.loads(line) for line in files["acts.jsonl"].splitlines()]
    assert {act["annotator"] for act in acts} == {"ana", "ben", "cleo"}
    for act in acts:
        assert (
            act["annotator"] == "cleo" or act["item"] in names[act["annotator"]]
        )
    decided = {act["item"] for act in acts if act["annotator"] == "cleo"}
    assert decided.isdisjoint(names["ana"] | names["ben"])
    told = b"".join(files.values()).decode("utf-8")
    assert [item.item for item in plan.items if item.item in told] == []


def test_before_the_lock_no_place_groups_items_by_stratum(
    answered: DataFolder, plan: Plan
) -> None:
    body = json.loads(files_of(answered)["plan.json"])
    assert body["n_items"] == len(plan.items)
    assert {stratum["name"] for stratum in body["strata"]} == {
        f"stratum {n}" for n in range(1, 5)
    }


def test_the_commitment_is_the_sha256_of_the_plan_exported_after_the_lock(
    answered: DataFolder, plan: Plan
) -> None:
    committed = json.loads(files_of(answered)["plan.json"])["full_plan_sha256"]
    lock_campaign(answered, "pilot", by="ana")
    content = files_of(answered)["plan.json"]
    assert hashlib.sha256(content).hexdigest() == committed
    assert json.loads(content)["seed"] == plan.seed


def test_a_campaign_that_is_not_blind_hides_nothing(
    answered: DataFolder, store: Store
) -> None:
    keep_campaign(
        answered,
        drawn_plan(
            store, CampaignRequest("pilot", ("ana",), OURS, blind=False, seed=3)
        ),
    )
    rows = label_rows(answered)
    assert {row["detector"] for row in rows} == {"egret", "heron"}
    assert {row["provenance"] for row in rows} == {"unlabelled"}


def test_labels_read_again_give_the_same_kappa(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    lock_campaign(answered, "pilot", by="ana")
    read = pd.read_csv(
        io.BytesIO(files_of(answered)["labels.csv"]), keep_default_na=False
    )
    frame = label_frame(store, answered)
    frame = frame[frame["kind"] == "annotator"].assign(
        item=lambda f: f["instance_id"] + f["detector"] + f["setting"],
        annotator=lambda f: f["annotator"].str.removeprefix("pilot: "),
    )
    ours = kappa_of(frame)
    assert kappa_of(read[read["is_repeat"] == 0]) == ours
    assert 0 < ours < 1


def test_after_the_lock_every_row_has_verdict_and_outcome(
    answered: DataFolder, plan: Plan
) -> None:
    before = label_rows(answered)
    said = {
        who: {
            s.item: given.label
            for s, given in journal_of(answered, plan, who).given.items()
        }
        for who in PAIR
    }
    differing = next(
        item.item
        for item in plan.items
        if said["ana"][item.item] != said["ben"][item.item]
    )
    adjudicate(
        answered,
        plan,
        differing,
        by="cleo",
        label=Label.PARTIAL,
        reason="c",
        note="=1+1",
    )
    lock_campaign(answered, "pilot", by="cleo")
    rows = label_rows(answered)
    decided = next(row for row in rows if row["item"] == differing)
    assert (decided["final_label"], decided["provenance"]) == (
        "partial",
        "adjudicated",
    )
    assert decided["why"] == "cleo, the guideline decides it: =1+1"
    verdict = plan.item(differing).verdict
    assert (decided["case"], decided["detector"], decided["setting"]) == (
        verdict.case_id,
        verdict.detector,
        str(verdict.setting),
    )
    assert {float(row["inclusion_probability"]) for row in rows} == {1.0}
    names = {(row["annotator"], row["position"]): row["item"] for row in before}
    hidden = dict.fromkeys(COLUMNS_AFTER_LOCK, "")
    assert [
        row | hidden | {"item": names[row["annotator"], row["position"]]}
        for row in rows
    ] == before


def test_rows_are_the_whole_order_with_times_and_repeats(
    answered: DataFolder, plan: Plan
) -> None:
    lock_campaign(answered, "pilot", by="ana")
    rows = label_rows(answered)
    assert list(rows[0]) == [*COLUMNS, *COLUMNS_AFTER_LOCK]
    for annotator, order in plan.orders.items():
        theirs = [row for row in rows if row["annotator"] == annotator]
        assert [(row["item"], int(row["showing"])) for row in theirs] == [
            (s.item, s.showing) for s in order
        ]
        assert sum(row["is_repeat"] == "1" for row in theirs) == 2
    assert all(row["shown_at"].endswith("+00:00") for row in rows)
    assert {row["first_action_at"] for row in rows} == {
        "2026-11-21T09:01:00.000+00:00"
    }
    assert {row["guideline"] for row in rows} == {plan.guideline}
    assert sum(row["flagged"] == "1" for row in rows) == 2


def test_no_note_is_a_formula_and_every_note_comes_back(
    answered: DataFolder, plan: Plan
) -> None:
    files = files_of(answered)
    rows = rows_of(files["labels.csv"])
    begun = {
        cell
        for row in rows
        for cell in row.values()
        if cell.startswith(tuple("=+-@＝＋－＠\t\r\n"))
    }
    assert begun == {"+1", "-1"}, "numbers stay numbers"
    assert {unguarded(row["note"]) for row in rows} == set(NOTES)
    acts = [ledger.from_line(line) for line in files["acts.jsonl"].splitlines()]
    assert {act.note for act in acts if act.action == "note"} == set(NOTES)


def test_acts_are_the_whole_history(answered: DataFolder, plan: Plan) -> None:
    decide(answered, plan)
    decide(answered, plan, Label.CORRECT, reason="b")
    lock_campaign(answered, "pilot", by="ana")
    kept = sorted(
        (answered.ledger / "labels" / "pilot").rglob("*.jsonl"),
        key=lambda file: ("adj" in str(file), file),
    )
    acts = [
        from_line(line)
        for line in files_of(answered)["acts.jsonl"].splitlines()
    ]
    assert acts == [record for file in kept for record in tail(file).records]


def test_an_export_repeats_its_campaign_exactly(
    answered: DataFolder, store: Store, plan: Plan, tmp_path: Path
) -> None:
    lock_campaign(answered, "pilot", by="ana")
    out = written(answered, tmp_path)
    old = exported_plan(out / "plan.json")
    assert old == plan
    again = repeated_plan(store, old)
    assert (again.plan.items, again.plan.orders, again.plan.strata) == (
        plan.items,
        plan.orders,
        plan.strata,
    )
    assert again.remarks == (
        "Items, names and orders are the same as in the export.",
    )
    other = repeated_plan(store, old, campaign="second").plan
    assert [item.verdict for item in other.items] == [
        item.verdict for item in plan.items
    ]
    assert {item.item for item in other.items}.isdisjoint(
        item.item for item in plan.items
    )


def test_a_repetition_on_other_data_names_what_is_gone_and_new(
    store: Store, plan: Plan
) -> None:
    fewer = replace(
        plan, population=replace(plan.population, settings=("code",))
    )
    with pytest.raises(
        CampaignError,
        match=r"48 verdicts; now there are 24.*24 of the drawn verdicts are missing.*_reproduced .* runtime",
    ):
        repeated_plan(store, fewer)
    half = [item for item in plan.items if item.verdict.setting == "code"]
    more = replace(
        plan, items=tuple(half), population_size=24, population_sha256="0" * 64
    )
    with pytest.raises(
        CampaignError, match=r"24 new: .* runtime.* and 19 more"
    ):
        repeated_plan(store, more)
    sampled = replace(
        more,
        design=replace(plan.design, kind=DrawKind.SAMPLE),
        strata=plan.strata[:3],
    )
    with pytest.raises(CampaignError, match=r"By stratum: .* 0 then, 12 now"):
        repeated_plan(store, sampled)


def test_a_plan_from_before_the_lock_says_when_it_can_be_repeated(
    answered: DataFolder, plan: Plan, tmp_path: Path
) -> None:
    out = written(answered, tmp_path)
    with pytest.raises(CampaignError, match="before the lock"):
        exported_plan(out / "plan.json")
    for name, content in {
        "a.json": b"[1]",
        "b.json": b"\xff",
        "c.json": b"{}",
        "d.json": b"[",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CampaignError, match=r"plan\.json of an export"):
            exported_plan(tmp_path / name)


def test_a_folder_is_written_whole_and_never_over_something_else(
    answered: DataFolder, plan: Plan, tmp_path: Path
) -> None:
    files = export_files(answered, "pilot")
    out = tmp_path / "made" / "out"
    write_export(files, out, force=False)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == files_of(
        answered
    )
    with pytest.raises(CampaignError, match="--force"):
        write_export(files, out, force=False)
    (out / "labels.csv").write_text("older")
    write_export(files, out, force=True)
    assert (out / "labels.csv").read_bytes() == files_of(answered)["labels.csv"]
    (out / "thesis.tex").write_text("mine")
    with pytest.raises(CampaignError, match="something other"):
        write_export(files, out, force=True)

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        write_export(
            files | {"labels.csv": broken},
            tmp_path / "made" / "second",
            force=False,
        )
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == [
        "out"
    ]


def test_the_archive_holds_the_same_files(
    answered: DataFolder, plan: Plan
) -> None:
    with zipfile.ZipFile(io.BytesIO(export_zip(answered, "pilot"))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"pilot/{name}": content
            for name, content in files_of(answered).items()
        }


def as_records(content: bytes, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of labels.csv as the records that the schema describes: an empty cell is null."""
    kinds = {
        name: member.get("type", "")
        for name, member in schema["properties"].items()
    }
    numbers = {"position", "showing", "is_repeat", "flagged"} | {
        name for name in kinds if "number" in kinds[name]
    }
    return [
        {
            name: None
            if cell == ""
            else float(cell)
            if name in numbers
            else cell
            for name, cell in row.items()
        }
        for row in rows_of(content)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("is_locked", [False, True])
def test_rows_and_acts_are_valid_by_the_schemas_beside_them(
    answered: DataFolder, plan: Plan, *, is_locked: bool
) -> None:
    decide(answered, plan, note="=1")
    if is_locked:
        lock_campaign(answered, "pilot", by="ana")
    files = files_of(answered, with_texts=is_locked)
    schema = json.loads(files["labels.schema.json"])
    assert list(schema["properties"]) == list(rows_of(files["labels.csv"])[0])
    of_rows, of_acts = (
        Draft202012Validator(schema),
        Draft202012Validator(json.loads(files["acts.schema.json"])),
    )
    for validator in (of_rows, of_acts):
        validator.check_schema(validator.schema)
    records = as_records(files["labels.csv"], schema)
    assert [
        error.message
        for record in records
        for error in of_rows.iter_errors(record)
    ] == []
    acts = [json.loads(line) for line in files["acts.jsonl"].splitlines()]
    assert [
        error.message for act in acts for error in of_acts.iter_errors(act)
    ] == []
    assert not of_rows.is_valid(records[0] | {"label": "best"})
    assert not of_rows.is_valid(records[0] | {"colour": "red"})
    assert not of_acts.is_valid(acts[0] | {"action": "guess"})


def test_texts_come_only_when_asked_for_and_never_before_the_lock_of_a_blind_campaign(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    with pytest.raises(CampaignError, match="blind and not locked"):
        exported(answered, "pilot", "tables", with_texts=True)
    lock_campaign(answered, "pilot", by="ana")
    assert not set(TEXT_COLUMNS) & set(label_rows(answered)[0])
    rows = label_rows(answered, with_texts=True)
    texts = item_texts(store, plan)
    for row in rows:
        told = texts[row["item"]]
        assert unguarded(row["diagnosis"]) == told.diagnosis
        assert str(told.diagnosis).startswith(f"{row['case']} fails, said ")
        assert unguarded(row["ground_truth"]) == told.ground_truth
        assert (
            unguarded(row["target_code"]).splitlines()
            == str(told.target_code).splitlines()
        )


def test_adjudicator_reason_and_note_have_their_own_columns(
    answered: DataFolder, plan: Plan
) -> None:
    item = decide(answered, plan, note="=1+1")
    lock_campaign(answered, "pilot", by="ana")
    decisions: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for row in label_rows(answered):
        decision = (
            row["decided_by"],
            row["decision_reason"],
            row["decision_note"],
        )
        decisions[row["item"] == item].add(decision)
    assert decisions == {True: {("cleo", "a", "'=1+1")}, False: {("", "", "")}}


def test_the_server_s_time_stands_beside_the_browser_s(
    answered: DataFolder, plan: Plan
) -> None:
    rows = label_rows(answered)
    received = [datetime.fromisoformat(row["received_at"]) for row in rows]
    assert max(received) <= datetime.now(UTC)
    assert {row["source"] for row in rows} == {""}


def test_label_studio_tasks_fit_the_configuration_beside_them(
    answered: DataFolder, plan: Plan
) -> None:
    """Every annotation names a control and an object of the configuration, and a value that it offers."""
    decide(answered, plan, Label.PARTIAL)
    lock_campaign(answered, "pilot", by="ana")
    for with_texts in (False, True):
        files = files_of(answered, "label-studio", with_texts=with_texts)
        view = ElementTree.fromstring(files["config.xml"].decode())
        objects = {
            text.get("name"): str(text.get("value"))
            for text in view.iter("Text")
        }
        controls = {
            e.get("name"): e
            for e in view.iter()
            if e.tag in ("Choices", "TextArea")
        }
        tasks = json.loads(files["tasks.json"])
        assert len(tasks) == len(plan.items)
        for task in tasks:
            assert all(
                isinstance(task["data"][value.removeprefix("$")], str)
                for value in objects.values()
            )
            for entry in (
                entry
                for annotation in task["annotations"]
                for entry in annotation["result"]
            ):
                control = controls[entry["from_name"]]
                assert (
                    entry["to_name"] == control.get("toName")
                    and entry["to_name"] in objects
                )
                assert entry["type"] == control.tag.lower()
                if entry["type"] == "choices":
                    offered = {
                        choice.get("alias", choice.get("value"))
                        for choice in control.iter("Choice")
                    }
                    assert set(entry["value"]["choices"]) <= offered
                else:
                    assert entry["value"]["text"] and all(
                        isinstance(text, str) for text in entry["value"]["text"]
                    )
        ids = [
            e["id"]
            for task in tasks
            for a in task["annotations"]
            for e in a["result"]
        ]
        assert len(ids) == len(set(ids))
        said = {
            (task["data"]["item"], who["value"]["text"][0]): label["value"][
                "choices"
            ][0]
            for task in tasks
            for label, who, *_ in (
                annotation["result"] for annotation in task["annotations"]
            )
        }
        mine = {
            (s.item, "ana"): g.label
            for s, g in journal_of(answered, plan, "ana").given.items()
            if s.showing == 1
        }
        assert {
            key: label for key, label in said.items() if key[1] == "ana"
        } == mine
        assert said[plan.items[0].item, "final"] == "partial"
        gold = [
            a["ground_truth"]
            for task in tasks
            for a in task["annotations"]
            if "ground_truth" in a
        ]
        assert all(gold) and len(gold) == sum(who == "final" for _, who in said)


def test_before_the_lock_no_form_tells_more_than_the_tables(
    answered: DataFolder, plan: Plan
) -> None:
    hidden = {item.item for item in plan.items} | {
        item.verdict.case_id for item in plan.items
    }
    hidden |= {"heron", "egret", "minibench", str(plan.seed)}
    told = b"".join(files_of(answered, "label-studio").values()).decode()
    told += (load_parquet(answered, "records", plan)).to_csv() + (
        load_parquet(answered, "labels", plan)
    ).to_csv()
    assert [word for word in sorted(hidden) if word in told] == []


def load_parquet(folder: DataFolder, name: str, plan: Plan) -> pd.DataFrame:
    return pd.read_parquet(
        io.BytesIO(files_of(folder, "dataset")[f"{name}.parquet"])
    )


@pytest.mark.slow
def test_datasets_loads_the_folder_and_finds_the_same_labels(
    answered: DataFolder,
    plan: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import datasets

    lock_campaign(answered, "pilot", by="ana")
    out, cache = written(answered, tmp_path, "dataset"), str(tmp_path / "cache")
    labels = datasets.load_dataset(
        str(out), "labels", split="train", cache_dir=cache
    )
    schema = Draft202012Validator(
        json.loads((out / "labels.schema.json").read_bytes())
    )
    assert [
        error.message for row in labels for error in schema.iter_errors(row)
    ] == []
    of_csv = label_rows(answered, with_texts=True)
    assert [
        (row["annotator"], row["item"], row["label"]) for row in labels
    ] == [(row["annotator"], row["item"], row["label"]) for row in of_csv]
    records = datasets.load_dataset(
        str(out), "records", split="train", cache_dir=cache
    )
    assert len(records) == len(plan.items)
    said = {
        (record["id"], who): label
        for record in records
        for who, label in zip(
            record["label.responses.users"],
            record["label.responses"],
            strict=True,
        )
    }
    assert said == {
        (s.item, who): str(given.label)
        for who in PAIR
        for s, given in journal_of(answered, plan, who).given.items()
        if s.showing == 1
    }
    assert {
        status
        for record in records
        for status in record["label.responses.status"]
    } == {"submitted"}
    assert {len(record["note.responses"]) for record in records} <= {0, 1, 2}
    assert all(
        record["diagnosis"].startswith(record["case"]) for record in records
    )
