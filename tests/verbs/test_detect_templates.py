"""Several templates in one command: a job each, compared by case with the first, as scipy and a hand count have it."""

from __future__ import annotations

import json

import pytest
from scipy.stats import binomtest

from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.pipeline.places import DataFolder
from crane_core.stats.multiplicity import holm
from tests.spoken import Run

ON = ("--benchmark", "minibench", "--instances", "[np]*", "--runs", "1")
FAKE = ("detect", "--detector", "fake", "--setting", "code", *ON)


def given(*templates: str) -> tuple[str, ...]:
    return tuple(
        argument for name in templates for argument in ("--template", name)
    )


def test_each_template_is_a_job_compared_with_the_first(
    run: Run, folder: DataFolder
) -> None:
    templates = ("protocol", "without-certainty", "paraphrase")
    spoken = run(*FAKE, *given(*templates), "--json")
    told = json.loads(spoken.out)
    assert [each["template"] for each in told["runs"]] == list(templates)
    assert len({each["job"] for each in told["runs"]}) == 3
    effects = told["templates"]
    assert [(effect["baseline"], effect["template"]) for effect in effects] == [
        ("protocol", "without-certainty"),
        ("protocol", "paraphrase"),
    ]
    right = [
        each["rows"][0]["rates"]["Accuracy"]["value"] for each in told["runs"]
    ]
    p_values = []
    for effect, accuracy in zip(effects, right[1:], strict=True):
        gained, lost = effect["gained"], effect["lost"]
        assert effect["difference"] == pytest.approx(accuracy - right[0])
        assert gained - lost == round(effect["difference"] * effect["n"])
        p_values.append(binomtest(gained, gained + lost).pvalue)
    assert [effect["p_holm"] for effect in effects] == pytest.approx(
        list(holm(p_values))
    )


def test_the_table_names_the_template_of_each_row(
    run: Run, folder: DataFolder
) -> None:
    spoken = run(*FAKE, *given("protocol", "input-first"))
    assert "run 2 of 2: fake, code, input-first" in spoken.err
    assert "fake, protocol" in spoken.out and "fake, input-first" in spoken.out
    assert "fake, code: input-first against protocol: " in spoken.out


def test_the_protocol_by_its_name_is_the_job_without_a_template(
    run: Run, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    asked = ("detect", "--detector", "llm", "--model", "heron", "--setting", "code", *ON)  # fmt: skip
    with fake_server(model) as base_url:
        run(*asked, "--base-url", base_url)
        n_first = sum(model.requests.values())
        run(*asked, "--base-url", base_url, *given("protocol"))
    assert sum(model.requests.values()) == n_first


def test_template_for_a_detector_without_a_prompt_is_refused(
    run: Run, folder: DataFolder
) -> None:
    spoken = run(
        "detect --detector rules --setting code", *ON[:-2], *given("paraphrase")
    )
    assert spoken.code == 1 and "rules is shown no prompt" in spoken.err


def test_examples_are_refused_where_no_prompt_is_shown(
    run: Run, folder: DataFolder
) -> None:
    spoken = run(
        "detect --detector rules --setting code --examples 2", *ON[:-2]
    )
    assert spoken.code == 1 and "takes no examples" in spoken.err


def test_a_run_with_examples_is_a_run_of_its_own(
    run: Run, folder: DataFolder
) -> None:
    [plain, shown] = (
        json.loads(run(*FAKE, *more, "--dry-run", "--json").out)
        for more in ((), ("--examples", "2"))
    )
    assert plain["job"] != shown["job"]
