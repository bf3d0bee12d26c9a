"""Campaigns: drawn from the value, kept once, read back whole; what is damaged is told in one way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.guideline import guideline, version_of
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Plan,
    Population,
    PopulationOutcome,
)
from crane_core.domain import (
    Annotation,
    AnnotationAction,
    Benchmark,
    Campaign,
    Case,
    Detector,
    DetectorKind,
    Instance,
    Label,
    Record,
    Run,
    Setting,
    Version,
)
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    campaign_file,
    campaign_names,
    decision_folder,
    decisions_of,
    drawn_plan,
    journal_of,
    keep_campaign,
    kept_campaign,
    label_file,
    lock_campaign,
    population,
)
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records

Keep = Callable[..., tuple[DataFolder, Plan]]
STUDY = Population("junobench", "crane-llm-2025-10")
PAPER_STRATA = {
    "gemini-2.5-flash · code": (90, 40),
    "gemini-2.5-flash · runtime": (99, 44),
    "gpt-5 · code": (79, 35),
    "gpt-5 · runtime": (88, 39),
    "qwen-2.5-32b-instruct · code": (71, 31),
    "qwen-2.5-32b-instruct · runtime": (74, 33),
}


@pytest.mark.slow
@pytest.mark.parametrize("source", ["told_store", "study_store"])
def test_the_study_s_population_is_501_and_its_sample_222(
    source: str, request: pytest.FixtureRequest
) -> None:
    """Paper, 4.5, table 1, from the embedded answers and, where it is available, from the published archive."""
    store: Store = request.getfixturevalue(source)
    plan = drawn_plan(
        store, CampaignRequest("pilot", ("ana", "ben"), STUDY, seed=7)
    )
    assert (
        plan.population_size,
        plan.left_out,
        plan.required,
        len(plan.items),
    ) == (
        501,
        0,
        218,
        222,
    )
    assert {
        stratum.name: (stratum.population, stratum.sampled)
        for stratum in plan.strata
    } == PAPER_STRATA
    assert plan.guideline == version_of(guideline())
    assert {
        item.verdict.instance_id.rpartition("_")[2] for item in plan.items
    } == {"reproduced"}


def test_the_same_wish_draws_the_same_items_again(told_store: Store) -> None:
    wish = CampaignRequest("pilot", ("ana", "ben"), STUDY, seed=7)
    one, again = (drawn_plan(told_store, wish) for _ in range(2))
    assert replace(again, created_at=one.created_at) == one


def test_verdicts_without_a_text_cannot_be_labelled_and_are_counted(
    embedded_store: Store,
) -> None:
    with pytest.raises(
        CampaignError, match="501 verdicts of junobench"
    ) as refused:
        drawn_plan(embedded_store, CampaignRequest("pilot", ("ana",), STUDY))
    assert "fetch crane-llm" in refused.value.remedy


def test_a_query_that_matches_nothing_says_so(told_store: Store) -> None:
    with pytest.raises(
        CampaignError, match="No verdict of junobench, 1999 matches"
    ):
        drawn_plan(
            told_store,
            CampaignRequest("pilot", ("ana",), Population("junobench", "1999")),
        )


def test_a_wish_that_cannot_be_drawn_is_a_campaign_error(
    told_store: Store,
) -> None:
    with pytest.raises(
        CampaignError, match=r"No plan can be drawn: .*margin and p"
    ):
        drawn_plan(
            told_store,
            CampaignRequest("pilot", ("ana",), STUDY, Design(margin=2.0)),
        )
    with pytest.raises(
        CampaignError, match="is not a valid name for a campaign"
    ):
        drawn_plan(told_store, CampaignRequest("../pilot", ("ana",), STUDY))


def test_filters_meet(told_store: Store) -> None:
    def sizes(**filters: tuple[str, ...]) -> int:
        return len(population(told_store, replace(STUDY, **filters))[0])

    assert sizes(detectors=("gpt-5",)) == 167
    assert sizes(settings=("code",)) == 240
    assert (
        sizes(detectors=("gpt-5", "gemini-2.5-flash"), settings=("runtime",))
        == 187
    )
    assert (
        sizes(libraries=("pandas",)) + sizes(libraries=("numpy",))
        == sizes(libraries=("pandas", "numpy"))
        > 0
    )
    assert sizes(root_causes=("no such cause",)) == 0


CASES = ("numpy_1", "numpy_2", "numpy_3", "numpy_4")


def said(
    instance: str,
    answers: str,
    text: str | None = "It fails.",
    detector: str = "heron",
) -> list[Record]:
    """One run per letter: y predicts a crash, n does not, ? did not answer."""
    verdict = {"y": True, "n": False, "?": None}
    return [
        Run(
            "mine",
            instance,
            detector,
            Setting.CODE,
            "ours",
            i,
            crashes=verdict[a],
            reasoning=text if a == "y" else None,
        )
        for i, a in enumerate(answers, start=1)
    ]


@pytest.fixture(scope="module")
def mine() -> Iterator[Store]:
    records: list[Record] = [
        Benchmark("mine", "Mine"),
        *(Case("mine", case, library="numpy") for case in CASES),
        *(
            Instance("mine", case, version)
            for case in CASES
            for version in Version
        ),
        Detector("heron", "Heron", DetectorKind.LLM),
        Detector("pylint", "pylint", DetectorKind.ANALYZER),
        *said("numpy_1_reproduced", "yyn"),
        *said(
            "numpy_2_reproduced", "yn?"
        ),  # a tie of the answered runs is not a crash
        *said("numpy_3_reproduced", "y??"),
        *said("numpy_4_reproduced", "yyy", text="  \n "),
        *said("numpy_1_fixed", "yyn"),
        *said("numpy_2_fixed", "nnn"),
        *said("numpy_3_fixed", "yyy", text=None),
        *said("numpy_1_reproduced", "y", detector="pylint"),
    ]
    opened = open_store(IN_MEMORY)
    opened.write(lambda cursor: add_records(cursor, records, source_id="test"))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("outcome", "judged", "left_out"),
    [
        (
            PopulationOutcome.DETECTED,
            ["numpy_1_reproduced", "numpy_3_reproduced"],
            1,
        ),
        (
            PopulationOutcome.PREDICTED,
            ["numpy_1_fixed", "numpy_1_reproduced", "numpy_3_reproduced"],
            2,
        ),
    ],
)
def test_labelled_is_what_a_majority_of_the_answered_runs_predicted_in_words(
    mine: Store, outcome: PopulationOutcome, judged: list[str], left_out: int
) -> None:
    verdicts, without_text = population(
        mine, Population("mine", "ours", outcome=outcome)
    )
    assert sorted(verdict.instance_id for verdict in verdicts) == judged
    assert without_text == left_out
    assert {
        (verdict.detector, verdict.library, verdict.root_cause)
        for verdict in verdicts
    } == {("heron", "numpy", None)}


def test_a_kept_campaign_comes_back_as_it_was(pilot: Keep) -> None:
    folder, plan = pilot()
    assert kept_campaign(folder, "pilot") == (plan, None)
    assert campaign_names(folder) == ["pilot"]


def test_without_campaigns_there_are_none(tmp_path: Path) -> None:
    assert campaign_names(DataFolder(tmp_path)) == []


@pytest.mark.parametrize(
    "name", ["nobody", "../pilot", "", "PILOT", "pilot.jsonl/../pilot"]
)
def test_a_campaign_that_is_not_there_is_refused(
    pilot: Keep, name: str
) -> None:
    folder, _ = pilot()
    with pytest.raises(CampaignError, match="There is no campaign"):
        kept_campaign(folder, name)


def test_a_name_is_taken_once(pilot: Keep) -> None:
    folder, plan = pilot()
    before = campaign_file(folder, "pilot").read_bytes()
    with pytest.raises(
        CampaignError, match="The campaign 'pilot' already exists"
    ):
        keep_campaign(folder, replace(plan, title="another"))
    assert campaign_file(folder, "pilot").read_bytes() == before


def test_of_two_who_make_a_campaign_of_one_name_at_once_one_is_refused(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    names = [f"race{i}" for i in range(12)]
    refused: list[str] = []
    for name in names:
        together = Barrier(2)

        def make(
            title: str, name: str = name, together: Barrier = together
        ) -> None:
            together.wait()
            try:
                keep_campaign(folder, replace(plan, campaign=name, title=title))
            except CampaignError:
                refused.append(f"{name} {title}")

        makers = [
            Thread(target=make, args=(title,)) for title in ("one", "two")
        ]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        assert f"{name} {kept_campaign(folder, name).plan.title}" not in refused
    assert sorted(entry.split()[0] for entry in refused) == sorted(names)


def test_a_plan_that_was_cut_while_being_written_is_no_campaign_and_its_name_is_free(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    file = campaign_file(folder, "second")
    file.write_bytes(campaign_file(folder, "pilot").read_bytes()[:500])
    assert campaign_names(folder) == ["pilot"]
    with pytest.raises(CampaignError, match="There is no campaign 'second'"):
        kept_campaign(folder, "second")
    second = replace(plan, campaign="second")
    keep_campaign(folder, second)
    assert kept_campaign(folder, "second").plan == second
    assert campaign_names(folder) == ["pilot", "second"]


def damaged(folder: DataFolder, name: str, content: bytes) -> None:
    campaign_file(folder, name).write_bytes(content)


def test_a_damaged_campaign_says_so_and_leaves_the_others_alone(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    line = campaign_file(folder, "pilot").read_bytes()
    damaged(folder, "half", line[:500] + b"\n")
    body = json.loads(line)
    damaged(
        folder,
        "stranger",
        ledger.to_line(Campaign("stranger", '{"campaign": "stranger"}')),
    )
    damaged(
        folder,
        "undated",
        ledger.to_line(
            Campaign(
                "undated", body["plan"].replace("2026-01-02T", "yesterday ")
            )
        ),
    )
    damaged(folder, "deep", ledger.to_line(Campaign("deep", "[" * 100_000)))
    assert campaign_names(folder)[0] == "pilot"
    assert sorted(campaign_names(folder)) == [
        "deep",
        "half",
        "pilot",
        "stranger",
        "undated",
    ]
    assert kept_campaign(folder, "pilot").plan == plan
    for name in ("half", "stranger", "deep"):
        with pytest.raises(CampaignError) as told:
            kept_campaign(folder, name)
        assert str(campaign_file(folder, name)) in str(told.value)
        assert "no label was changed" in told.value.remedy


def test_the_newest_campaign_comes_first(pilot: Keep) -> None:
    folder, plan = pilot()
    for name, day in (
        ("older", "2025-12-01"),
        ("newer", "2026-02-01"),
        ("same", "2026-01-02"),
    ):
        keep_campaign(
            folder,
            replace(plan, campaign=name, created_at=f"{day}T03:04:05+00:00"),
        )
    assert campaign_names(folder) == ["newer", "pilot", "same", "older"]


def test_files_that_no_campaign_can_have_are_left_alone(pilot: Keep) -> None:
    folder, _ = pilot()
    for name in ("Pilot copy", "pilot (1)", ".hidden"):
        (folder.ledger / "campaigns" / f"{name}.jsonl").write_bytes(b"{}\n")
    assert campaign_names(folder) == ["pilot"]


def test_a_lock_ends_the_campaign_once(pilot: Keep) -> None:
    folder, plan = pilot()
    lock = lock_campaign(folder, "pilot", by="eva")
    assert kept_campaign(folder, "pilot") == (plan, lock)
    with pytest.raises(
        CampaignError, match=f"was locked by eva at {lock.locked_at[:10]}"
    ):
        lock_campaign(folder, "pilot", by="ana")
    assert kept_campaign(folder, "pilot").lock == lock


def labelled(folder: DataFolder, plan: Plan, annotator: str, n: int) -> None:
    acts = [
        {
            "event": f"{annotator}-{i:08}",
            "action": "label",
            "item": s.item,
            "showing": s.showing,
            "label": "partial",
        }
        for i, s in enumerate(plan.orders[annotator][:n])
    ]
    assert LabelStore(folder, plan.campaign).take(annotator, acts).refused == {}


def test_acts_and_journals_are_of_one_annotator(pilot: Keep) -> None:
    folder, plan = pilot()
    labelled(folder, plan, "ana", 3)
    assert [act.item for act in acts_of(folder, plan, "ana")] == [
        s.item for s in plan.orders["ana"][:3]
    ]
    assert acts_of(folder, plan, "ben") == []
    assert journal_of(folder, plan, "ana").n_done == 3
    assert journal_of(folder, plan, "ben").upcoming(1) == [
        plan.orders["ben"][0]
    ]


def test_the_last_decision_of_an_item_stands_whoever_made_it(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    one, two, three = (item.item for item in plan.items[:3])

    def decided(
        by: str, item: str, label: Label, at: str, sequence: int
    ) -> None:
        decision = Annotation(
            campaign="pilot",
            annotator=by,
            event=f"{by}-{sequence}",
            sequence=sequence,
            action=AnnotationAction.ADJUDICATE,
            item=item,
            showing=1,
            guideline="g1",
            submitted_at=at,
            label=label,
            reason="a",
        )
        ledger.append(
            decision_folder(folder, "pilot") / f"{by}.jsonl", decision
        )

    decided("zoe", one, Label.WRONG, "2026-01-03T00:00:00.000+00:00", 1)
    decided("zoe", two, Label.WRONG, "2026-01-03T00:00:02.000+00:00", 2)
    decided("zoe", three, Label.WRONG, "2026-01-03T00:00:03.000+00:00", 3)
    decided("zoe", three, Label.PARTIAL, "2026-01-03T00:00:03.000+00:00", 4)
    decided("eva", one, Label.CORRECT, "2026-01-03T00:00:01.000+00:00", 1)
    decided("eva", two, Label.CORRECT, "2026-01-03T00:00:01.000+00:00", 2)
    found = {
        item: (act.annotator, act.label)
        for item, act in decisions_of(
            folder, kept_campaign(folder, "pilot").plan
        ).items()
    }
    assert found == {
        one: ("eva", Label.CORRECT),
        two: ("zoe", Label.WRONG),
        three: ("zoe", Label.PARTIAL),
    }


def test_adjudications_are_no_annotator_s_acts(pilot: Keep) -> None:
    folder, plan = pilot()
    adjudicate(
        folder,
        plan,
        plan.items[0].item,
        by="ana",
        label=Label.WRONG,
        reason="a",
    )
    assert acts_of(folder, plan, "ana") == []
    assert not label_file(folder, "pilot", "ana").exists()


def test_a_decision_that_is_sent_again_is_one_decision(pilot: Keep) -> None:
    folder, plan = pilot()
    item, other = (entry.item for entry in plan.items[:2])

    def decide(item: str, event: str) -> Annotation:
        return adjudicate(
            folder,
            plan,
            item,
            by="cleo",
            label=Label.WRONG,
            reason="a",
            event=event,
        )

    first = decide(item, "tab-1-00001")
    assert decide(item, "tab-1-00001") == first
    lock_campaign(folder, "pilot", by="cleo")
    assert decide(item, "tab-1-00001") == first
    with pytest.raises(CampaignError, match="locked"):
        decide(other, "tab-1-00002")


def test_a_design_of_all_items_draws_all(told_store: Store) -> None:
    plan = drawn_plan(
        told_store,
        CampaignRequest("pilot", ("ana",), STUDY, Design(kind=DrawKind.ALL)),
    )
    assert len(plan.items) == 501
