"""Runs: what sources brought, a run that this page starts and watches, and every prompt and reply at its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import serve
from crane_core.cli import main
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage
from .screen import (
    arrives,
    choose,
    click_button,
    query,
    sees,
    settled,
    texts,
    wait_for_query,
)
from .test_data import small_study

STUDY = "crane-llm-2025-10"
GPT = f"/runs?benchmark=junobench&experiment={STUDY}&detector=gpt-5&setting=runtime"
BASELINE = f"junobench~{STUDY}~gpt-5~code"
OTHER = f"junobench~{STUDY}~gpt-5~runtime"
COMPARED = f"/runs?baseline={BASELINE}&against={OTHER}"
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


def runs(page: Page) -> Locator:
    """The rows of the list of runs."""
    return page.locator(".cw-run-rows tbody tr")


def click_run(page: Page, row: int) -> None:
    """A real click on a row of the list of runs."""
    runs(page).nth(row).locator("[data-head=Run]").click()


def run_of(page: Page, detector: str, setting: str | None = None) -> int:
    """The first row of this detector, and of this input."""
    rows = texts(runs(page))
    wanted = detector + (setting or "")
    return next(i for i, row in enumerate(rows) if row.startswith(wanted))


def instances(page: Page) -> Locator:
    """The names of the instances of a run, which open them."""
    return page.locator(".cw-answers tbody th")


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
    click_run(page, run_of(page, "Mistral Small 3.1"))
    wait_for_query(
        page,
        detector="mistral-small-3.1",
        setting="code",
        benchmark="junobench",
    )
    arrives(
        page, re.compile(r"^Mistral Small 3\.1, −RT is right on \d+ of 216")
    )
    expect(page.locator(".cw-facts")).to_contain_text("without an answer")
    page.get_by_test_id("stButtonGroup").get_by_text(
        "without an answer", exact=True
    ).click()
    wait_for_query(page, only="unanswered")
    sees(page, re.compile(r"^[12] instances\. Each opens"))
    expect(
        page.locator(".cw-answers [data-head=Answers]").first
    ).to_contain_text("?")
    settled(page)
    names = texts(instances(page))
    assert 1 <= len(names) <= 2
    instances(page).first.get_by_role("link").click()
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
    arrives(page, "GPT-5, +RT is right on 179 of 222 instances")
    sees(page, "222 instances. Each opens")


@pytest.mark.slow
def test_the_filter_stays_while_answers_are_read(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{GPT}&only=runs differ"))
    first, second = texts(instances(page))[:2]
    instances(page).first.get_by_role("link").click()
    wait_for_query(page, instance=first, only="changed")
    sees(page, re.compile("^1 of .* with the filter: answers differ$"))
    settled(page)
    click_button(page, "Next")
    wait_for_query(page, instance=second, only="changed")
    settled(page)
    click_button(page, "Back to the run")
    expect(instances(page).first).to_have_text(first)
    wait_for_query(page, instance=None, only="changed")


def test_ticked_runs_are_compared_and_a_number_opens_as_many_instances(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/runs"))
    button = page.get_by_role("button", name=re.compile("^Compare"))
    expect(button).to_be_disabled()
    for setting in ("−RT", "+RT"):
        row = runs(page).nth(run_of(page, "GPT-5", setting))
        row.get_by_role("checkbox").check()
        settled(page)
    expect(button).to_have_text("Compare 2 runs")
    button.click()
    wait_for_query(page, baseline=BASELINE, against=OTHER)
    alone(
        page,
        "GPT-5, +RT is right on 10 more of 222 instances than GPT-5, −RT; "
        "the tests find no evidence of a difference, adjusted p = 0.122",
    )
    sees(page, "a tie counts as no crash")
    only_other = page.locator(".cw-shares li").filter(
        has_text="only GPT-5, +RT"
    )
    [n] = re.findall(r"\d+$", only_other.inner_text())
    only_other.get_by_role("link").click()
    wait_for_query(page, right="other", other=OTHER)
    alone(page, f"On {n} instances, only GPT-5, +RT is right")
    rows = page.locator(".cw-instances tbody tr")
    expect(rows).to_have_count(int(n))
    first, second = rows.locator("th").all_inner_texts()[:2]
    rows.first.get_by_role("link").click()
    wait_for_query(page, instance=first, right="other")
    alone(page, first)
    sees(page, f"1 of {n} where only GPT-5, +RT is right")
    expect(page.locator(".cw-verdict")).to_have_count(10)
    settled(page).keyboard.press("j")
    wait_for_query(page, instance=second, right="other", baseline=BASELINE)
    alone(page, second)
    click_button(settled(page), "Back to the list")
    wait_for_query(page, instance=None, right="other")
    expect(rows).to_have_count(int(n))
    click_button(settled(page), "Back to the comparison")
    wait_for_query(page, right=None, other=None, baseline=BASELINE)
    expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()


@pytest.mark.slow
def test_an_old_address_of_two_runs_opens_their_comparison(
    facts_app: str, open_page: OpenPage
) -> None:
    old = f"{GPT}&beside_run=GPT-5, −RT, CRANE-LLM, release of October 2025"
    page = settled(open_page(f"{facts_app}{old}"))
    wait_for_query(page, baseline=OTHER, against=BASELINE, beside_run=None)
    sees(page, re.compile("^GPT-5, −RT is right on 10 fewer of 222 instances"))
    click_button(page, "Swap")
    wait_for_query(page, baseline=BASELINE, against=OTHER)
    sees(page, re.compile("^GPT-5, \\+RT is right on 10 more of 222 instances"))


@pytest.mark.slow
def test_a_mark_of_the_comparison_opens_the_instances_of_its_group(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{COMPARED}"))
    box = page.get_by_role("combobox", name="Open the cases of")
    box.focus()
    box.press("ArrowDown")
    page.get_by_role("option", name=re.compile("^pandas")).click()
    wait_for_query(page, library="pandas", right="one", other=OTHER)
    shown = page.locator(".cw-instances tbody tr")
    expect(shown.first).to_contain_text("pandas")
    settled(page)
    assert {"pandas"} == {
        row.split("_")[0] for row in shown.locator("th").all_inner_texts()
    }


@pytest.mark.slow
def test_answers_are_searched_and_the_search_stays_while_they_are_read(
    runs_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{runs_app}/runs"))
    rows = texts(runs(page))
    ours = [i for i, row in enumerate(rows) if "fake" in row]
    click_run(page, ours[-1])
    box = page.get_by_label("Search reasoning and raw replies")
    box.fill("MADE fake")
    box.press("Enter")
    wait_for_query(page, find="MADE fake")
    sees(page, re.compile(r"^\d+ answers on \d+ instances contain"))
    hits = page.locator(".cw-instances tbody tr")
    expect(hits.first.locator("mark").first).to_have_text("Made")
    first, second = hits.locator("th").all_inner_texts()[:2]
    hits.first.get_by_role("link").click()
    wait_for_query(page, instance=first, find="MADE fake")
    expect(page.locator(".cw-verdict mark").first).to_have_text("Made")
    settled(page).keyboard.press("j")
    wait_for_query(page, instance=second, find="MADE fake")
    click_button(settled(page), "Back to the run")
    wait_for_query(page, instance=None, find="MADE fake")
    expect(hits.first.locator("th")).to_have_text(first)


@pytest.mark.slow
def test_a_list_keeps_its_page_and_the_runs_their_filter(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/runs?by_detector=gpt-5"))
    expect(runs(page)).to_have_count(2)
    click_run(page, 1)
    wait_for_query(page, detector="gpt-5")
    on_page_1 = texts(instances(settled(page)))[0]
    page.get_by_test_id("stPagination").get_by_text("3", exact=True).click()
    expect(instances(page).first).not_to_have_text(on_page_1)
    first = texts(instances(settled(page)))[0]
    instances(page).first.get_by_role("link").click()
    wait_for_query(page, instance=first)
    sees(page, "201 of 222 in this run")
    click_button(settled(page), "Back to the run")
    expect(instances(page).first).to_have_text(first)
    settled(page).get_by_role("button", name="All runs").click()
    wait_for_query(page, by_detector="gpt-5", detector=None)
    expect(runs(page)).to_have_count(2)


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
    expect(runs(page).first).to_be_visible()
    page.goto(f"{facts_app}{GPT}&instance=none_1_fixed")
    sees(page, "This run has no answer for an instance of this name.")


@pytest.mark.slow
def test_a_heading_sorts_the_runs_and_keeps_what_is_ticked(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/runs"))
    box = runs(page).nth(run_of(page, "GPT-5")).get_by_role("checkbox")
    box.check()
    settled(page)
    heading = page.locator(".cw-run-rows thead").get_by_role(
        "button", name="Detection accuracy"
    )
    accuracy = runs(page).locator("[data-head='Detection accuracy']")
    for order in ("ascending", "descending"):
        heading.click()
        expect(
            page.locator(f".cw-run-rows th[aria-sort={order}]")
        ).to_have_count(1)
        settled(page)
        shown = [float(cell.partition("%")[0]) for cell in texts(accuracy)]
        assert len(set(shown)) > 2
        assert shown == sorted(shown, reverse=order == "descending")
    ticked = runs(page).filter(has=page.locator("input:checked"))
    expect(ticked).to_have_count(1)
    expect(ticked).to_contain_text("GPT-5")


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
    arrives(page, re.compile(r"^fake, \+RT is right on \d of 2 instances$"))
    facts = page.locator(".cw-facts").first
    for words in (
        "minibench",
        "predict-from-runtime-",
        "tokens in / out",
        "answers agree",
    ):
        expect(facts).to_contain_text(words)
    settled(page)
    names = instances(page)
    expect(names).to_have_text(["pandas_1_fixed", "pandas_1_reproduced"])
    instances(page).nth(1).get_by_role("link").click()
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
    expect(runs(page).filter(has_text="pilot")).to_have_count(2)


@pytest.mark.slow
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
    ours = runs(page).filter(has_text="junobench").filter(has_text="fake")
    expect(ours).to_have_count(1)
    rows = texts(runs(page))
    click_run(
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
    page.wait_for_url("**/results*")
    settled(page)
    [job] = query(page)["beside"]
    assert job.startswith("fake-code-junobench-")
    expect(
        page.get_by_test_id("stVegaLiteChart")
        .first.locator("text", has_text="fake (own)")
        .first
    ).to_be_visible()
