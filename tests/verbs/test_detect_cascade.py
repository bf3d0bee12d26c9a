"""`detect --detector cascade`: the rules first, the model only where they are silent, and the same job as any other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from crane_core import ledger
from crane_core.domain import Detector, DetectorKind, Record, Reply, Run
from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run as Speak

SOME = ("--setting", "runtime+", "--benchmark", "minibench")
FREE = ("--price-in", "0", "--price-out", "0")


def cascade_at(base_url: str, *more: str) -> tuple[str, ...]:
    """One question at a time, so that the rules start no processes."""
    model = ("--model", "Heron", "--base-url", base_url, "--concurrency", "1")
    return ("detect", "--detector", "cascade", *model, *SOME, *more)


def kept(folder: DataFolder, start: str) -> Iterator[Record]:
    for path in (folder.ledger / "runs").glob(f"{start}*.jsonl"):
        yield from ledger.tail(path).records


def found_by_rules(run: Speak, folder: DataFolder) -> set[str]:
    """What the rules alone say, as the detector that they are."""
    assert run("detect --detector rules --concurrency 1", *SOME).code == 0
    return {
        record.instance_id
        for record in kept(folder, "rules")
        if isinstance(record, Run) and record.crashes
    }


def test_the_model_is_asked_only_where_the_rules_are_silent(
    run: Speak, folder: DataFolder
) -> None:
    certain = found_by_rules(run, folder)
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(*cascade_at(base_url, "--runs", "2"))
        again = run(*cascade_at(base_url, "--runs", "2", "--json"))
    assert spoken.code == 0, spoken.err
    records = list(kept(folder, "cascade"))
    runs = [record for record in records if isinstance(record, Run)]
    replies = [record for record in records if isinstance(record, Reply)]
    n_instances = len({record.instance_id for record in (*runs, *replies)})
    assert 0 < len(certain) < n_instances
    assert {(record.instance_id, record.run_index) for record in runs} == {
        (n, i) for n in certain for i in (1, 2)
    }
    assert not {reply.instance_id for reply in replies} & certain
    assert (
        sum(model.requests.values())
        == len(replies)
        == 2 * (n_instances - len(certain))
    )
    assert all(
        record.crashes and record.reasoning and "raises" in record.reasoning
        for record in runs
    )
    assert (
        f"the rules settled {len(certain)} of {n_instances} instances: {2 * len(certain)} fewer requests"
        in spoken.out
    )
    told = json.loads(again.out)
    assert told["first"] == {
        "instances": n_instances,
        "settled_by_rules": len(certain),
        "requests_saved": 2 * len(certain),
        "rules_failed": 0,
    }
    assert (told["answered"], told["open"]) == (2 * n_instances, 0)
    [row] = told["rows"]
    assert row["title"] == "Certain-crash rules, then Heron"
    detectors = [record for record in records if isinstance(record, Detector)]
    assert detectors == [
        Detector(
            "cascade:heron", "Certain-crash rules, then Heron", DetectorKind.LLM
        )
    ]
    assert {record.detector for record in (*runs, *replies)} == {
        "cascade:heron"
    }


def reserved_tokens(told: str) -> int:
    """What the question that did not fit would reserve, as the job says it."""
    found = re.search(r"it reserves ([\d,]+) tokens", told)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_a_budget_stops_it_and_the_same_command_goes_on(
    run: Speak, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        prices = ("--price-in", "1", "--price-out", "1", "--runs", "1")
        too_few = run(*cascade_at(base_url, *prices, "--budget-usd", "0.001"))
        one_question = reserved_tokens(too_few.out) / 1_000_000
        few = run(
            *cascade_at(
                base_url, *prices, "--budget-usd", f"{one_question:.6f}"
            )
        )
        n_before = sum(model.requests.values())
        rest = run(*cascade_at(base_url, *prices, "--budget-usd", "5"))
    assert few.code == 1
    assert (
        "stopped early: the next question could cost more than the budget leaves"
        in few.out
    )
    assert rest.code == 0
    replies = [
        record
        for record in kept(folder, "cascade")
        if isinstance(record, Reply)
    ]
    assert 0 < n_before < len(replies)
    assert (
        len({reply.instance_id for reply in replies})
        == len(replies)
        == sum(model.requests.values())
    )


def test_a_dry_run_says_what_is_saved_and_sends_nothing(
    run: Speak, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(*cascade_at(base_url, *FREE, "--dry-run"))
        told = json.loads(
            run(*cascade_at(base_url, *FREE, "--dry-run", "--json")).out
        )
    assert spoken.code == 0
    first = told["to_send"]["first"]
    assert told["questions"] == first["instances"] * 5
    assert (
        told["to_send"]["n_requests"]
        == told["questions"] - first["requests_saved"]
    )
    assert (
        f"{first['requests_saved']:,} fewer requests\n{told['to_send']['n_requests']:,} requests with"
        in spoken.out
    )
    assert not model.requests
    assert not list(kept(folder, "cascade"))


def test_a_setting_that_the_rules_refuse_is_refused_before_anything_is_sent(
    run: Speak,
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(
            f"detect --detector cascade --model m --base-url {base_url} --setting runtime-S",
        )
    assert spoken.code == 1
    assert "a part is withheld (runtime-S)" in spoken.err
    assert not model.requests
