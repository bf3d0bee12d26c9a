"""`repair`: fixes for the crashing notebooks of a benchmark, tried in fresh kernels, and how many run through."""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction, Setting
from crane_core.errors import DetectorError
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint, configured_endpoint, resolve
from crane_core.llm.fake_server import MODEL, FakePlan, fake_server
from crane_core.llm.prices import Price, price_for_cap
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.detection import detect, rehearsal
from crane_core.pipeline.detection.repairs import Fixing, FixSource, repairing
from crane_core.pipeline.jobs.words import outcome_json, outcome_words
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.repaired import repaired
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_of
from crane_core.repair.fix import MOST_CANDIDATES, USUAL_CANDIDATES
from crane_core.runtime.limits import KernelLimits, most_memory, n_cores
from crane_core.runtime.rehearsal import LONGEST_S
from crane_core.storage.jobs import repair_runs
from crane_core.terminal import give, give_either, tell
from crane_core.verbs.detect import (
    COST,
    FAKE,
    INSTANCES,
    LLM,
    OWN_SERVER,
    exit_code,
    given_price,
    told_work,
)

NAME = "repair"
HELP = "look for fixes of a benchmark's crashing notebooks, by rules or a model; repeat the command to resume"
EXAMPLE = """CRANE_ALLOW_EXECUTION=1 python -m crane_core repair --detector rules --benchmark minibench
         CRANE_ALLOW_EXECUTION=1 python -m crane_core repair --detector llm --model qwen3 --k 5 --benchmark minibench"""
RULES = "rules"
MADE_UP = """Made up by the fake model.
```python
raise NotImplementedError("made up by the fake model")
```"""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `repair` takes: what proposes fixes, the benchmark, the model, and how notebooks run."""
    add(
        verb,
        option(
            "--detector D",
            f"what proposes fixes: {RULES}; {LLM}: a model; {FAKE}: a fake model, whose made-up cells are refused",
            required=True,
            choices=[RULES, LLM, FAKE],
        ),
        option(
            "--benchmark B",
            "its notebooks have to be here, and CRANE_ALLOW_EXECUTION=1",
            arguments.name,
            required=True,
        ),
        INSTANCES,
        option(
            "--jobs N",
            "notebooks that run at the same time (default: one per two cores)",
            arguments.at_once,
        ),
        option(
            "--rehearse-s S",
            f"how long a target may run in a copy (default {rehearsal.USUAL_S:g})",
            arguments.number(0, LONGEST_S, above=True),
            default=rehearsal.USUAL_S,
        ),
        option(
            "--python PATH",
            "interpreter to run; it must have ipykernel",
            arguments.name,
        ),
    )
    model = verb.add_argument_group("model")
    add(
        model,
        option(
            "--k K",
            f"cells that a model proposes for each crash (default {USUAL_CANDIDATES})",
            arguments.integer(1, MOST_CANDIDATES),
            default=USUAL_CANDIDATES,
        ),
        option("--model M", "its name at the endpoint (default: CRANE_MODEL)"),
        option(
            "--base-url U",
            "of an OpenAI-compatible endpoint (default: CRANE_BASE_URL)",
        ),
        option("--key-env NAME", arguments.KEY_ENV_HELP),
    )
    add(
        verb.add_argument_group(
            "cost", "of a model; caps apply to each start of the command"
        ),
        *COST,
    )
    add(
        verb,
        flag("--dry-run", "print what would be run and sent; do neither"),
        flag("--again", "repeat as a separate experiment; nothing is reused"),
    )
    add(
        verb.add_mutually_exclusive_group(),
        flag("--json", "print counts and the row as JSON to stdout"),
        flag("--csv", "print the row as CSV to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Make the run and print its row. Returns 0 if every notebook has an outcome, else 1.

    Raises DetectorError if notebooks may not run, or none is here.
    """
    rehearsal.check_may_run(os.environ)
    with (
        tempfile.TemporaryDirectory(prefix="crane-repair-") as place,
        _endpoint(chosen) as endpoint,
    ):
        notebooks = rehearsal.notebooks_of(
            chosen.benchmark, folder, Path(place)
        )
        n_jobs = chosen.jobs or max(1, n_cores() // 2)
        # The kernels share the machine's memory, so that none of them makes the system end another one.
        limits = KernelLimits(memory_bytes=most_memory() // n_jobs)
        how = Fixing(
            FixSource(
                endpoint, chosen.k if endpoint else 0, _budget(chosen, endpoint)
            ),
            rehearsal.RehearsalOptions(chosen.rehearse_s, limits, n_jobs),
            chosen.python,
        )
        plan = _planned(chosen, folder, how)
        if chosen.dry_run:
            return _say_plan(chosen, plan, how)
        if plan.work.open:
            about = f"{plan.job.detector}, {plan.job.benchmark}, {len(plan.work.open):,} open questions"
            who = at_the_terminal()
            note(
                folder,
                who,
                AuditAction.START_RUN,
                f"run {plan.job.job}",
                about,
            )
        outcome = told_work(
            folder, plan.work, repairing(plan, notebooks, how), n_jobs
        )
    found = rows_of(folder, plan.job.job)
    if chosen.csv:
        give(csv_of(found))
        return exit_code(outcome)
    [row] = as_rows(found) or [{}]
    document = outcome_json(outcome, plan.skipped_by_reason)
    # The numbers as JSON has them, not as the table's library does.
    numbers = json.loads(found.to_json(orient="records"))
    lines = outcome_words(outcome, plan.skipped_by_reason)
    give_either(
        document | {"rows": numbers},
        "\n".join([*lines, *(words(row) if row else [])]),
        as_json=chosen.json,
    )
    return exit_code(outcome)


def rows_of(folder: DataFolder, job: str) -> pd.DataFrame:
    """The job's row of `repaired`; none where it has no outcome."""
    # Silent: that another process has the database open was told when the job was planned.
    store = prepare_or_read(folder)
    try:
        runs = repair_runs(store.cursor())
    finally:
        store.close()
    return repaired(runs[runs["experiment"] == job])


def words(row: dict[str, object]) -> list[str]:
    """The row, a line per fact."""
    return [
        f"fixed at 1: {row['n_fixed_1']} of {row['n']} crashing notebooks; at k: {row['n_fixed_k']}",
        f"fixes shown: {row['n_shown']}; in a fresh kernel {row['n_crash']} crash",
        f"of {row['n_first']} first fixes, same cells as the published one: {row['n_same_cells']}; "
        f"same state: {row['n_same_state']} of {row['n_compared']}",
        f"fixed notebooks that get a fix: {row['n_regressions']} of {row['n_fixed']}",
        f"did not crash in a copy: {row['n_not_crashed']}; no verdict: {row['n_open']}",
        f"model: {row['n_requests']} requests, {row['n_tokens']} tokens",
    ]


@contextmanager
def _endpoint(chosen: argparse.Namespace) -> Iterator[Endpoint | None]:
    """The model that proposes fixes; a fake one is served for as long as it is needed. Raises DetectorError."""
    if chosen.detector == FAKE:
        with fake_server(FakePlan(replies=(MADE_UP,))) as address:
            yield resolve(MODEL, address)
    elif chosen.detector == RULES:
        if chosen.model or chosen.base_url:
            raise DetectorError(
                "The rules ask no model.",
                remedy=f"Use --detector {LLM}, or omit --model and --base-url.",
            )
        yield None
    else:
        endpoint = configured_endpoint(
            chosen.model, chosen.base_url, key_env=chosen.key_env
        )
        if endpoint is None:
            raise DetectorError(
                "No model was given.", remedy="Set one: --model M."
            )
        yield endpoint


def _budget(
    chosen: argparse.Namespace, endpoint: Endpoint | None
) -> Budget | None:
    """The caps of this start; None without any. Raises DetectorError for a cap in USD without a price."""
    # A fake model is free, so that caps can be tried without a key.
    free = Price(0.0, 0.0, OWN_SERVER) if chosen.detector == FAKE else None
    given = given_price(chosen, free)
    cap_usd, cap_tokens = chosen.budget_usd, chosen.budget_tokens
    if cap_usd is None and cap_tokens is None:
        return None
    if endpoint is None:
        raise DetectorError(
            "The rules cost nothing.", remedy="Omit the caps of a model."
        )
    price = given if cap_usd is None else price_for_cap(endpoint, given)
    return Budget(cap_usd, cap_tokens, price)


def _planned(
    chosen: argparse.Namespace, folder: DataFolder, how: Fixing
) -> detect.JobPlan:
    """The store is closed again before the work begins, so that the app can be used meanwhile."""
    options = how.options()
    if chosen.detector == FAKE:
        # It has another address each time, and the job's name must not change.
        options["base_url"] = OWN_SERVER
    store = prepare_or_read(folder, tell)
    try:
        request = detect.JobRequest(
            detect.known_detector(store, how.source.detector),
            Setting.RUNTIME_PLUS,
            chosen.benchmark,
            options,
            is_prompted=False,
            instances=chosen.instances,
            again=chosen.again,
            is_executed=True,
        )
        return detect.plan_detection(store, folder, request)
    finally:
        store.close()


def _say_plan(
    chosen: argparse.Namespace, plan: detect.JobPlan, how: Fixing
) -> int:
    n_open = len(plan.work.open)
    n_most = n_open * how.source.n_candidates
    document = {"job": plan.job.job, "open": n_open, "most_requests": n_most}
    sent = (
        f"at most {n_most:,} requests to a model" if n_most else "no requests"
    )
    give_either(
        document,
        f"job {plan.job.job}: {n_open:,} notebooks to execute; {sent}",
        as_json=chosen.json,
    )
    return 0
