"""Runs: what sources brought, a run that this page starts and watches, and every prompt and reply at its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks._server import serve
from crane_core.cli import main
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage
from .screen import (
    choose,
    click_button,
    click_row,
    column,
    grid,
    path,
    query,
    row_of,
    sees,
    settled,
    texts,
    wait_for_query,
)
from .test_data import small_study

STUDY = "crane-llm-2025-10"
GPT = f"/runs?benchmark=junobench&experiment={STUDY}&detector=gpt-5&setting=runtime"
OURS = "Made up by the fake model"


@pytest.fixture(scope="module")
def runs_app(
    copy_of_embedded: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app whose visitors may start runs, with a run of ours on one case of the study."""
    archive = tmp_path_factory.mktemp("study") / "crane-llm-main.tar.gz"
    archive.write_bytes(small_study())
    import_paths([archive], DataFolder(copy_of_embedded))
    command = [
        "detect",
        "--detector=fake",
        "--setting=code",
        "--benchmark=junobench",
        "--instances=pandas_1_*",
    ]
    assert main(["--data", str(copy_of_embedded), *command, "--runs=3"]) == 0
    endpoints = tmp_path_factory.mktemp("endpoints") / "endpoints.toml"
    endpoints.write_text(
        '[ours]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["heron", "gpt-5"]\n'
    )
    with serve(
        copy_of_embedded,
        CRANE_ALLOW_EXECUTION="1",
        CRANE_ENDPOINTS=str(endpoints),
    ) as address:
        yield address


def alone(page: Page, words: str) -> None:
    """Until nothing else is left of the view before."""
    page.wait_for_function(
        "words => [...document.querySelectorAll('[data-testid=stMain] h1')].map(h => h.innerText).join() === words",
        arg=words,
    )
    settled(page)


def start_button(page: Page) -> None:
    page.get_by_text("Start a run", exact=True).click()


@pytest.mark.slow
def test_where_execution_is_off_nothing_can_be_started(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/runs"))
    start_button(page)
    sees(page, "Runs cannot be started from this page")
    said = page.get_by_role("link", name="The documentation", exact=True)
    expect(said).to_have_attribute(
        "href", re.compile(r"docs/researcher/own-model\.html$")
    )
    expect(
        page.get_by_role("button", name="Start run", exact=True)
    ).to_have_count(0)


def test_a_click_opens_a_run_and_another_its_instance(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/runs"))
    click_row(page, row_of(page, "Mistral Small 3.1", "Detector"))
    wait_for_query(
        page,
        detector="mistral-small-3.1",
        setting="code",
        benchmark="junobench",
    )
    alone(page, "Mistral Small 3.1")
    expect(page.locator(".cw-facts")).to_contain_text("without an answer")
    page.get_by_test_id("stButtonGroup").get_by_text(
        "without an answer", exact=True
    ).click()
    wait_for_query(page, only="without an answer")
    sees(page, re.compile(r"^[12] instances\. Click a row"))
    expect(column(page, "Answers").first).to_contain_text("?")
    settled(page)
    names = texts(column(page, "Instance"))
    assert 1 <= len(names) <= 2
    click_row(page, 0)
    wait_for_query(page, instance=names[0])
    alone(page, names[0])
    expect(
        page.locator(".cw-verdict").filter(has_text="no answer").first
    ).to_be_visible()


@pytest.mark.slow
def test_an_instance_has_an_address_and_neighbours(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{GPT}&instance=numpy_1_fixed"))
    alone(page, "numpy_1_fixed")
    expect(page.locator(".cw-verdict")).to_have_count(5)
    sees(page, "Actual: no crash")
    click_button(page, "Next")
    wait_for_query(page, instance="numpy_1_reproduced")
    alone(page, "numpy_1_reproduced")
    settled(page).keyboard.press("k")
    wait_for_query(page, instance="numpy_1_fixed")
    alone(page, "numpy_1_fixed")
    click_button(settled(page), "Back to the run")
    wait_for_query(page, instance=None, experiment=STUDY)
    alone(page, "GPT-5")
    sees(page, "222 instances. Click a row")


@pytest.mark.slow
def test_the_filter_stays_while_answers_are_read(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{GPT}&only=runs differ"))
    first, second = texts(column(page, "Instance"))[:2]
    click_row(page, 0)
    wait_for_query(page, instance=first, only="runs differ")
    sees(page, re.compile("^1 of .* with the filter: runs differ$"))
    settled(page)
    click_button(page, "Next")
    wait_for_query(page, instance=second, only="runs differ")
    settled(page)
    click_button(page, "Back to the run")
    expect(column(page, "Instance").first).to_have_text(first)
    wait_for_query(page, instance=None, only="runs differ")


@pytest.mark.slow
def test_an_address_that_names_nothing_says_so(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(
            f"{facts_app}/runs?benchmark=junobench&experiment=none&detector=x&setting=code"
        )
    )
    sees(page, "No run matches junobench, none, x, code.")
    expect(grid(page)).to_be_visible()
    page.goto(f"{facts_app}{GPT}&instance=none_1_fixed")
    sees(page, "This run has no answer for an instance of this name.")


def test_a_run_is_started_watched_and_read(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    start_button(page)
    settled(page)
    choose(page, "Benchmark", "minibench")
    settled(page)
    page.get_by_label("Instances", exact=True).fill("pandas_1_*")
    page.get_by_label("Instances", exact=True).press("Enter")
    command = page.get_by_test_id("stCode").first
    expect(command).to_contain_text("'--instances=pandas_1_*'")
    expect(command).to_contain_text("--benchmark=minibench")
    settled(page)
    click_button(page, "Start run", exact=True)
    sees(page, "fake runtime minibench, started")
    expect(page.get_by_role("progressbar").first).to_be_visible()
    expect(
        page.get_by_role("button", name="Start run", exact=True)
    ).to_be_disabled()
    expect(page.get_by_text("Finished", exact=True)).to_be_visible(
        timeout=60_000
    )
    expect(
        page.get_by_role("button", name="Start run", exact=True)
    ).to_be_enabled()
    settled(page)
    click_button(page, "Open run")
    alone(page, "fake")
    facts = page.locator(".cw-facts").first
    for words in (
        "minibench",
        "predict-from-runtime-",
        "tokens in / out",
        "runs agree",
    ):
        expect(facts).to_contain_text(words)
    settled(page)
    names = column(page, "Instance")
    expect(names).to_have_text(["pandas_1_fixed", "pandas_1_reproduced"])
    click_row(page, 1)
    wait_for_query(page, instance="pandas_1_reproduced")
    expect(page.locator(".cw-verdict").filter(has_text=OURS)).to_have_count(5)
    settled(page)
    page.get_by_text(re.compile("^Raw reply 1 ")).click()
    expect(page.locator(".cw-prompt").first).to_contain_text(
        '{"reasoning": "Made up by'
    )
    page.get_by_text(re.compile("^The exact prompt ")).click()
    expect(page.locator(".cw-prompt").last).to_contain_text(
        'harvest.groupby("bed")["yield_kg"]'
    )


@pytest.mark.slow
def test_several_inputs_are_started_as_a_run_each_under_one_name(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    start_button(page)
    settled(page)
    choose(page, "Benchmark", "minibench")
    settled(page)
    choose(page, "Inputs", "code only (−RT)")
    settled(page)
    for label, text in (("Instances", "numpy_1_*"), ("Name", "pilot")):
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Enter")
        settled(page)
    expect(page.get_by_test_id("stCode").first).to_contain_text(
        "--setting=runtime,code"
    )
    expect(page.get_by_test_id("stCode").first).to_contain_text("--name=pilot")
    click_button(page, "Start run", exact=True)
    sees(page, "fake runtime,code minibench, started")
    expect(page.get_by_text("Finished", exact=True).first).to_be_visible(
        timeout=60_000
    )
    settled(page)
    expect(
        grid(page).locator("tbody tr").filter(has_text="pilot")
    ).to_have_count(2)


def test_a_model_is_chosen_among_the_endpoints_of_the_server(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    start_button(page)
    settled(page)
    choose(page, "Detector", "A model over HTTP")
    command = page.get_by_test_id("stCode").first
    expect(command).to_contain_text(
        "--endpoint=ours --model=heron --budget-tokens=5000000"
    )
    settled(page)
    choose(page, "Models", "gpt-5")
    expect(command).to_contain_text(
        "--endpoint=ours --model=heron --model=gpt-5 --budget-tokens=5000000"
    )
    sees(
        page,
        "2 runs, one per model and input, one after the other; a cap holds for each.",
    )
    settled(page)
    click_button(page, "Remove heron")
    expect(command).to_contain_text(
        "--endpoint=ours --model=gpt-5 --budget-usd=5"
    )
    expect(page.get_by_label("Base URL")).to_have_count(0)


@pytest.mark.slow
def test_a_run_that_cannot_be_done_says_why(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    start_button(page)
    page.get_by_label("Instances", exact=True).fill("--json")
    page.get_by_label("Instances", exact=True).press("Enter")
    expect(page.get_by_test_id("stCode").first).to_contain_text(
        "--instances=--json"
    )
    settled(page)
    click_button(page, "Start run", exact=True)
    expect(page.get_by_text("Failed", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_text("matches '--json'").first).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


@pytest.mark.slow
def test_an_own_run_stands_beside_the_study_on_results(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    ours = (
        grid(page)
        .locator("tbody tr")
        .filter(has_text="junobench")
        .filter(has_text="fake")
    )
    expect(ours).to_have_count(1)
    rows = texts(grid(page).locator("tbody tr"))
    click_row(
        page,
        next(
            place
            for place, row in enumerate(rows)
            if "fake" in row and "JunoBench" in row
        ),
    )
    sees(page, "Crash detection, beside the published rows")
    expect(page.locator(".cw-numbers b")).to_have_text("fake")
    settled(page)
    page.get_by_test_id("stPageLink-NavLink").filter(
        has_text="Beside the study on Results"
    ).click()
    alone(page, "Results")
    settled(page)
    assert path(page) == "/results"
    [job] = query(page)["beside"]
    assert job.startswith("fake-code-junobench-")
    expect(
        page.get_by_test_id("stVegaLiteChart")
        .first.locator("text", has_text="fake (own)")
        .first
    ).to_be_visible()
