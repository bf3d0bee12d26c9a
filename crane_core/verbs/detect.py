"""`detect`: a detector runs over a benchmark, with a row beside the published ones."""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import arguments, domain
from crane_core.arguments import add, flag, option
from crane_core.detectors import rules_detector
from crane_core.detectors.registry import local_detector, local_detectors
from crane_core.errors import DetectorError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.published_detectors import slug
from crane_core.llm.endpoint import (
    MAX_OUTPUT_TOKENS,
    TEMPERATURE,
    TIMEOUT_S,
    Endpoint,
    resolve,
)
from crane_core.llm.endpoints import FILE as ENDPOINTS_FILE
from crane_core.llm.endpoints import named_endpoint
from crane_core.llm.fake_server import MODEL, FakePlan, fake_server
from crane_core.llm.keys import without_secrets
from crane_core.llm.prices import Price
from crane_core.llm.retrying import RETRIES
from crane_core.llm.token_chances import LOGPROBS
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.dask.cluster import OFF
from crane_core.pipeline.detection import (
    cascade,
    detect,
    few_shot,
    rehearsal,
    sampled_cases,
    score,
    template_effect,
)
from crane_core.pipeline.detection.cascade import NAME as CASCADE
from crane_core.pipeline.detection.here import in_processes
from crane_core.pipeline.detection.models import predicting
from crane_core.pipeline.detection.on_dask import on_cluster
from crane_core.pipeline.jobs import ask_models, end, files
from crane_core.pipeline.jobs.words import (
    estimate_words,
    outcome_json,
    outcome_words,
    progress_words,
)
from crane_core.pipeline.jobs.work import (
    INTERRUPTED,
    JobOutcome,
    JobProgress,
    Work,
    Worker,
    carry_out,
)
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification.where import MINIBENCH
from crane_core.prompts.template import Template, Wording, template_named
from crane_core.runtime.interpreters import ASSUMED, assumed
from crane_core.runtime.limits import KernelLimits, most_memory, n_cores
from crane_core.runtime.rehearsal import LONGEST_S
from crane_core.storage.store import Store
from crane_core.terminal import give, give_either, stop_on_interrupt, tell
from crane_core.verbs.capture import add_dask, cluster_for

NAME = "detect"
HELP = "run a detector (LLM, analyzer, rules or rehearsal) on a benchmark; repeat the command to resume"
EXAMPLE = """python -m crane_core detect --detector fake --setting code --benchmark minibench --runs 3
         python -m crane_core detect --detector llm --model gpt-5 --setting runtime --budget-usd 5 --dry-run
         python -m crane_core detect --detector cascade --model gpt-5 --setting runtime --budget-usd 5
         python -m crane_core detect --detector llm --model qwen3 --model gpt-5 --setting code,runtime --name pilot
         python -m crane_core detect --detector pylint --setting runtime --instances 'numpy_*'
         python -m crane_core detect --detector llm --model gpt-5 --setting runtime --sample 20 --by library
         CRANE_ALLOW_EXECUTION=1 python -m crane_core detect --detector rehearsal --setting runtime --benchmark oven
         python -m crane_core detect --detector fake --setting runtime --template protocol --template paraphrase
         python -m crane_core detect --detector rules --setting runtime --dask tcp://10.0.0.5:8786"""
LLM, FAKE = "llm", "fake"
CONCURRENCY = 8
FAKE_LATENCY_S = 0.02
TOLD_EVERY_S = 1.0
MOST_CASES = 1_000_000
SAMPLE_SEED = 1
"""Of a sample that names none, so that two people who type the same command ask about the same cases."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
OWN_SERVER = "a fake server in this process"


COST = (
    option(
        "--budget-usd X",
        "stop before spending more than this; needs a price",
        arguments.usd,
    ),
    option(
        "--budget-tokens N",
        "the same in tokens, input plus output",
        arguments.tokens,
    ),
    option("--price-in X", "USD per million tokens of input", arguments.price),
    option(
        "--price-out X", "USD per million tokens of output", arguments.price
    ),
)
INSTANCES = option(
    "--instances GLOB",
    "instances, such as 'numpy_*' (default: all)",
    arguments.name,
    default="*",
)
"""For every verb that makes a run over a benchmark."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `detect` takes: the detector and what it is shown, the model and its endpoint, caps and prices."""
    add(
        verb,
        option(
            "--detector D",
            f"{LLM}: any model, {FAKE}: a fake model with made-up answers, {CASCADE}: a model only where the rules "
            f"find no certain crash, {', '.join(local_detectors())}, {rehearsal.DETECTOR.detector}: no prediction, the "
            "target is executed in a copy of its kernel (needs the notebooks, and CRANE_ALLOW_EXECUTION=1)",
            required=True,
            choices=[
                LLM,
                FAKE,
                CASCADE,
                *local_detectors(),
                rehearsal.DETECTOR.detector,
            ],
        ),
        option(
            "--setting S",
            f"what is shown: {', '.join(domain.Setting)}; several between commas are one run each",
            _settings,
            required=True,
        ),
        INSTANCES,
        option(
            "--benchmark B",
            "default: junobench",
            arguments.name,
            default=JUNOBENCH.benchmark,
        ),
        option(
            "--runs K",
            f"answers per instance of a model (default {domain.PAPER_RUNS})",
            arguments.runs,
        ),
    )
    _add_sample(verb)
    some = verb.add_argument_group("for some detectors")
    add(
        some,
        option(
            "--template T",
            f"a wording of ours ({', '.join(Wording)}), or the file of an exact prompt text, see `prompt`; repeat it "
            "for one run each, compared by case with the first",
            arguments.path,
            action="append",
        ),
        option(
            "--examples N",
            f"instances of {MINIBENCH} that a model is shown with their answers, of other cases and kinds than the "
            "target (default: none)",
            arguments.integer(1, few_shot.MOST_EXAMPLES),
        ),
    )
    add(
        verb,
        option(
            "--name N",
            "what the run is called in the list of runs",
            arguments.line(files.MOST_NAME),
        ),
        option(
            "--note T",
            "a note that the list of runs shows",
            arguments.line(files.MOST_NOTE),
        ),
    )
    add_dask(
        verb,
        usual="off; the processes of this machine start sooner without a cluster",
    )
    verb.set_defaults(dask=OFF)
    add(
        some,
        flag(
            "--batch",
            f"ask by the provider's batch endpoints ({LLM} only): replies come within a day, and the same "
            "command resumes the wait; caps are checked before it is submitted; prices are those of direct requests "
            "unless --price-in and --price-out say otherwise",
        ),
        option(
            "--python PATH",
            "interpreter whose libraries rules asks about states that tell no versions, as the published ones do",
            arguments.name,
        ),
        option(
            "--rehearse-s S",
            f"how long {rehearsal.DETECTOR.detector} lets a target run (default {rehearsal.USUAL_S:g})",
            arguments.number(0, LONGEST_S, above=True),
            default=rehearsal.USUAL_S,
        ),
    )
    add_model_arguments(verb, has_several=True)
    add(
        verb,
        flag(
            "--logprobs",
            "keep how likely each detection was, where the endpoint tells the probability of its tokens",
        ),
    )


def _add_sample(verb: argparse.ArgumentParser) -> None:
    sample = verb.add_argument_group(
        "some cases only",
        "both notebooks of each case; the same command with a larger number continues the run",
    )
    how_many = sample.add_mutually_exclusive_group()
    add(
        how_many,
        option(
            "--sample N",
            "cases drawn at random; a larger sample with the same seed contains the smaller",
            arguments.integer(1, MOST_CASES),
        ),
        option(
            "--limit N",
            "the first cases by name: for a try, since they do not represent the benchmark",
            arguments.integer(1, MOST_CASES),
        ),
    )
    add(
        sample,
        option(
            "--sample-seed S",
            f"which sample (default {SAMPLE_SEED})",
            arguments.seed,
        ),
        option(
            "--by GROUP",
            f"groups with the same share in the sample as in the benchmark: {', '.join(sampled_cases.SampledBy)}",
            choices=[*sampled_cases.SampledBy],
        ),
    )


def _sample(chosen: argparse.Namespace) -> sampled_cases.CaseSample | None:
    """The cases to ask about, None for all. Raises DetectorError for options of a sample that is not drawn."""
    if chosen.sample is None and (chosen.sample_seed is not None or chosen.by):
        raise DetectorError(
            "--sample-seed and --by are about a sample.",
            remedy="Add the number of cases to draw: --sample 20.",
        )
    if chosen.limit is not None:
        return sampled_cases.CaseSample(chosen.limit)
    if chosen.sample is None:
        return None
    seed = SAMPLE_SEED if chosen.sample_seed is None else chosen.sample_seed
    by = sampled_cases.SampledBy(chosen.by) if chosen.by else None
    return sampled_cases.CaseSample(chosen.sample, seed, by)


def _settings(text: str) -> tuple[domain.Setting, ...]:
    """Settings between commas, each once."""
    named = arguments.names(text)
    if unknown := [name for name in named if name not in set(domain.Setting)]:
        raise argparse.ArgumentTypeError(
            f"{unknown[0][:40]!r} is not a setting; choose from {', '.join(domain.Setting)}"
        )
    return tuple(domain.Setting(name) for name in dict.fromkeys(named))


def add_model_arguments(
    verb: argparse.ArgumentParser, *, has_several: bool = False
) -> None:
    """How a model is asked, and how the job is done; the same for every verb that asks one."""
    add(
        verb,
        option(
            "--concurrency C",
            f"questions at the same time (default: {CONCURRENCY}; for detectors on this machine: one per core, and "
            "1 starts no processes for them)",
            arguments.at_once,
        ),
    )
    model = verb.add_argument_group(
        "model",
        "keys come only from the environment or .env: see docs/reference/settings.md",
    )
    several = (
        "; repeat it for several models, one run each" if has_several else ""
    )
    add(
        model,
        option(
            "--model M",
            f"model name at the endpoint{several}",
            action="append" if has_several else "store",
        ),
        option(
            "--base-url U",
            "of an OpenAI-compatible endpoint (default: CRANE_BASE_URL, else OPENAI_BASE_URL)",
        ),
        option("--key-env NAME", arguments.KEY_ENV_HELP),
        option(
            "--endpoint E",
            f"name of an endpoint in the file that {ENDPOINTS_FILE} names",
        ),
        option(
            "--temperature T",
            f"default {TEMPERATURE}",
            arguments.temperature,
            default=TEMPERATURE,
        ),
        option(
            "--seed N",
            "seed of the first run, N+1 of the second, where the endpoint takes one",
            arguments.seed,
        ),
        option(
            "--timeout-s S",
            f"default {TIMEOUT_S:g}",
            arguments.seconds,
            default=TIMEOUT_S,
        ),
        option(
            "--max-tokens N",
            f"longest reply, hidden reasoning included (default {MAX_OUTPUT_TOKENS:,}); lowered where it does not fit",
            arguments.integer(1, arguments.MOST_REPLY_TOKENS),
            default=MAX_OUTPUT_TOKENS,
        ),
        option(
            "--retries N",
            f"times that a failed request is sent again (default {RETRIES})",
            arguments.integer(0, arguments.MOST_RETRIES),
            default=RETRIES,
        ),
        option(
            "--reasoning-effort E",
            f"for models that take one: {', '.join(EFFORTS)}",
            choices=EFFORTS,
        ),
        option(
            "--extra-body JSON",
            "further members of each request, as an object",
            arguments.extra_body,
        ),
    )
    add(
        verb.add_argument_group(
            "cost", "caps apply to the whole job, including earlier starts"
        ),
        *COST,
        flag(
            "--dry-run",
            "print what would be sent and what it may cost; send nothing",
        ),
    )
    add(
        verb,
        flag("--again", "repeat as a separate experiment; nothing is reused"),
        flag("--json", "print counts, cost and rows as JSON to stdout"),
    )


class RunReport(NamedTuple):
    """What a run has to say: as JSON, as lines, and its rows; `outcome` is None where nothing was to be done."""

    document: domain.JsonObject
    lines: list[str]
    outcome: JobOutcome | None = None
    rows: Sequence[score.ScoreRow] = ()
    printed: Sequence[score.PrintedRow] = ()

    @property
    def code(self) -> int:
        """0 if there was nothing left to do or all of it was done, else 1."""
        return 0 if self.outcome is None else exit_code(self.outcome)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Make one run, or one per model and setting, and print its counts and its row of scores.

    Returns 0 if every question has an answer, else 1. Raises DetectorError for options that do not fit together,
    an unknown benchmark or an endpoint that refuses.
    """
    models = list(dict.fromkeys(chosen.model)) if chosen.model else [None]
    if chosen.batch:
        _check_batch(chosen)
    if chosen.python:
        _assume(chosen)
    templates = _templates(chosen)
    each = [
        _only(chosen, model, setting, template)
        for model in models
        for setting in chosen.setting
        for template in templates
    ]
    if len(each) > 1:
        return _several(each, folder)
    ended = _one(each[0], folder)
    _give(
        chosen,
        ended.document,
        [*ended.lines, *_table(ended.rows, ended.printed)],
    )
    return ended.code


def _assume(chosen: argparse.Namespace) -> None:
    """In this process and those that it starts."""
    if chosen.detector not in (rules_detector.NAME, CASCADE):
        raise DetectorError(
            f"{chosen.detector} asks no libraries.",
            remedy="Omit --python, or use --detector rules.",
        )
    # An environment variable, because the worker that questions a library is a process of a process.
    os.environ[ASSUMED] = chosen.python
    assumed()  # refuses a path that does not exist


def _check_batch(chosen: argparse.Namespace) -> None:
    if chosen.detector != LLM:
        raise DetectorError(
            f"{chosen.detector} cannot be asked by batches.",
            remedy=f"Use --detector {LLM}.",
        )
    if chosen.concurrency is not None:
        raise DetectorError(
            "The provider decides how many questions of a batch run at once.",
            remedy="Omit --concurrency.",
        )


def _only(
    chosen: argparse.Namespace,
    model: str | None,
    setting: domain.Setting,
    template: Path | None,
) -> argparse.Namespace:
    """The same arguments for one model, one setting and one template."""
    only = {"model": model, "setting": str(setting), "template": template}
    return argparse.Namespace(**vars(chosen) | only)


def _templates(chosen: argparse.Namespace) -> list[Path | None]:
    """Each once; None is the protocol. Raises DetectorError for a detector that is shown no text."""
    if not chosen.template:
        return [None]
    if chosen.detector not in (LLM, FAKE, CASCADE):
        raise DetectorError(
            f"{chosen.detector} is shown no prompt.",
            remedy=f"Omit --template, or use --detector {LLM}.",
        )
    return list(dict.fromkeys(chosen.template))


def _several(each: Sequence[argparse.Namespace], folder: DataFolder) -> int:
    """One run after the other, each a separate job, told together at the end.

    A run that fails does not keep the next ones from being made: another model may be there.
    """
    documents: list[domain.JsonObject] = []
    rows: dict[tuple[str, str, str], score.ScoreRow] = {}
    printed: list[score.PrintedRow] = []
    by_condition: dict[
        tuple[str | None, str], list[template_effect.TemplateRun]
    ] = {}
    code = 0
    for number, chosen in enumerate(each, start=1):
        tell(f"run {number} of {len(each)}: {_called(chosen)}")
        try:
            ended = _one(chosen, folder)
        except DetectorError as error:
            tell(f"error: {error}")
            documents.append(_named(chosen) | {"error": str(error)})
            code = 1
            continue
        documents.append(_named(chosen) | ended.document)
        if not chosen.json:
            give("\n".join(ended.lines))
        rows |= {
            (row.title, row.setting, row.experiment): _titled(row, chosen)
            for row in ended.rows
        }
        of_condition = by_condition.setdefault(
            (chosen.model, chosen.setting), []
        )
        if ended.rows:
            job = str(ended.document["job"])
            of_condition.append(
                template_effect.TemplateRun(_wording(chosen), job)
            )
        printed += [row for row in ended.printed if row not in printed]
        code = max(code, ended.code)
    # The same published rows come with each run; the dict has kept one of each, the own ones are listed
    # first.
    own_first = sorted(rows.values(), key=lambda row: row.is_published)
    document, lines = _compared(each[0], folder, by_condition.values())
    _give(
        each[0],
        {"runs": documents} | document,
        [*_table(own_first, printed), *lines],
    )
    return code


def _named(chosen: argparse.Namespace) -> domain.JsonObject:
    """What tells one of several runs from the others."""
    told = {"model": chosen.model, "setting": chosen.setting}
    return told | ({"template": _wording(chosen)} if chosen.template else {})


def _called(chosen: argparse.Namespace) -> str:
    told = _named(chosen) | {"model": chosen.model or chosen.detector}
    return ", ".join(told.values())


def _wording(chosen: argparse.Namespace) -> str:
    return str(chosen.template or Wording.PROTOCOL)


def _titled(row: score.ScoreRow, chosen: argparse.Namespace) -> score.ScoreRow:
    """Own rows of several templates would read alike."""
    if row.is_published or not chosen.template:
        return row
    return row._replace(title=f"{row.title}, {_wording(chosen)}")


def _compared(
    chosen: argparse.Namespace,
    folder: DataFolder,
    by_condition: Iterable[list[template_effect.TemplateRun]],
) -> tuple[domain.JsonObject, list[str]]:
    """What another template changes, for each model and setting of which several templates have answers."""
    several = [runs for runs in by_condition if len(runs) > 1]
    if not several:
        return {}, []
    store = prepare_or_read(folder)
    try:
        effects = template_effect.template_effects(
            store, chosen.benchmark, several
        )
    finally:
        store.close()
    return {"templates": [effect._asdict() for effect in effects]}, (
        template_effect.effect_words(effects)
    )


def _give(
    chosen: argparse.Namespace, document: domain.JsonObject, lines: list[str]
) -> None:
    if chosen.json or lines:
        give_either(document, "\n".join(lines), as_json=chosen.json)


def _table(
    rows: Sequence[score.ScoreRow], printed: Sequence[score.PrintedRow]
) -> list[str]:
    return [score.table_words(rows, printed)] if rows else []


def _one(chosen: argparse.Namespace, folder: DataFolder) -> RunReport:
    if chosen.dask != OFF and chosen.detector not in local_detectors():
        why = "asks a model, and keys and limits stay on this machine"
        if chosen.detector == rehearsal.DETECTOR.detector:
            why = "executes notebooks on this machine"
        raise DetectorError(
            f"{chosen.detector} {why}.",
            remedy=f"Omit --dask; it is for {', '.join(local_detectors())}. More questions at once: --concurrency.",
        )
    if chosen.detector == CASCADE:
        return _of_cascade(chosen, folder)
    if chosen.detector == rehearsal.DETECTOR.detector:
        return _of_rehearsal(chosen, folder)
    return (
        _of_model(chosen, folder)
        if chosen.detector in (LLM, FAKE)
        else _of_local(chosen, folder)
    )


def _once(chosen: argparse.Namespace) -> None:
    if (chosen.runs or 1) > 1:
        raise DetectorError(
            f"{chosen.detector} gives the same answer each time, so it runs only once.",
            remedy="Omit --runs.",
        )


def _of_rehearsal(chosen: argparse.Namespace, folder: DataFolder) -> RunReport:
    _once(chosen)
    rehearsal.check_allowed(os.environ, domain.Setting(chosen.setting))
    with tempfile.TemporaryDirectory(prefix="crane-rehearsal-") as place:
        notebooks = rehearsal.notebooks_of(
            chosen.benchmark, folder, Path(place)
        )
        plan = _planned(
            chosen,
            folder,
            rehearsal.DETECTOR,
            rehearsal.options(chosen.rehearse_s),
            None,
        )
        if chosen.dry_run:
            return _say_plan(
                plan,
                f"{len(plan.work.open):,} notebooks to execute; nothing is sent over the network",
            )
        n_jobs = chosen.concurrency or max(1, n_cores() // 2)
        how = rehearsal.RehearsalOptions(
            chosen.rehearse_s,
            # The kernels share the machine's memory, so that none of them makes the system end another one.
            KernelLimits(memory_bytes=most_memory() // n_jobs),
            n_jobs,
        )
        return _done(
            chosen, folder, plan, rehearsal.rehearsing(plan, notebooks, how)
        )


def _of_local(chosen: argparse.Namespace, folder: DataFolder) -> RunReport:
    _once(chosen)
    module = local_detector(chosen.detector)
    detector = domain.Detector(module.NAME, module.TITLE, module.KIND)
    # Its options hold the versions that shape its answers: after an update it is another run.
    plan = _planned(chosen, folder, detector, module.options(), None)
    if chosen.dry_run:
        return _say_plan(
            plan,
            f"{len(plan.work.open):,} instances to check; nothing is sent over the network",
        )
    at_once = chosen.concurrency or n_cores()
    with cluster_for(chosen, len(plan.work.open), at_once) as cluster:
        worker = (
            in_processes(plan, at_once)
            if cluster is None
            else on_cluster(plan, cluster)
        )
        return _done(chosen, folder, plan, worker)


def _of_model(chosen: argparse.Namespace, folder: DataFolder) -> RunReport:
    template = template_named(chosen.template, domain.Setting(chosen.setting))
    with asked_model(chosen, is_fake=chosen.detector == FAKE) as asked:
        detector = domain.Detector(
            slug(asked.endpoint.model),
            asked.endpoint.model,
            domain.DetectorKind.LLM,
        )
        plan = _planned(
            chosen,
            folder,
            detector,
            options_of(asked, template, is_fake=chosen.detector == FAKE),
            template,
        )
        if chosen.batch:
            return _of_batch(chosen, folder, plan, asked)
        # Questions of a batch that nobody has read yet would be paid for twice.
        if (
            plan.work.open
            and (waiting := files.batch_file(folder, plan.job.job)).exists()
        ):
            raise DetectorError(
                f"The job {plan.job.job} waits for a batch, which may hold these questions.",
                remedy=f"Repeat the command with --batch; to give the batch up, delete {waiting}.",
            )
        sent = ask_models.estimate(asked, len(plan.work.open), plan.open_tokens)
        if chosen.dry_run:
            return _say_plan(plan, estimate_words(sent), sent._asdict())
        tell(estimate_words(sent))
        return _done(chosen, folder, plan, predicting(plan, asked))


def _of_batch(
    chosen: argparse.Namespace,
    folder: DataFolder,
    plan: detect.JobPlan,
    asked: ask_models.AskingOptions,
) -> RunReport:
    # Loaded only here: a command imports what it needs, so that `--help` and other verbs start at once.
    from crane_core.pipeline.detection.batch import BatchWorker

    worker = BatchWorker(folder, plan, asked, tell)
    # Questions of a batch that waits at the provider are paid for already and not part of the estimate.
    to_ask = worker.unsubmitted()
    sent = ask_models.estimate(
        asked,
        len(to_ask),
        sum(plan.inputs[name].n_tokens for name, _ in to_ask),
    )
    if chosen.dry_run:
        return _say_plan(plan, estimate_words(sent), sent._asdict())
    tell(estimate_words(sent))
    return _done(chosen, folder, plan, worker, settle=worker.settle)


def _of_cascade(chosen: argparse.Namespace, folder: DataFolder) -> RunReport:
    template = template_named(chosen.template, domain.Setting(chosen.setting))
    with asked_model(chosen, is_fake=False) as asked:
        options = cascade.cascade_options(
            options_of(asked, template, is_fake=False),
            domain.Setting(chosen.setting),
        )
        plan = _planned(
            chosen,
            folder,
            cascade.cascade_with(asked.endpoint.model),
            options,
            template,
        )
        tell(
            f"the rules check {len(plan.inputs):,} instances; nothing is sent over the network"
        )
        with stop_on_interrupt() as stop:
            of_rules = cascade.settled(
                plan, min(chosen.concurrency or n_cores(), n_cores()), stop
            )
            if stop.is_set():
                # What the rules had no time to settle must not be sent to the model, which costs money.
                raise KeyboardInterrupt
        to_ask = cascade.open_questions(plan, of_rules)
        sent = ask_models.estimate(
            asked,
            len(to_ask),
            sum(plan.inputs[name].n_tokens for name, _ in to_ask),
        )
        if chosen.dry_run:
            words = "\n".join(
                [*cascade.settled_words(of_rules), estimate_words(sent)]
            )
            return _say_plan(
                plan, words, sent._asdict() | {"first": of_rules.to_json()}
            )
        tell(
            "\n".join([*cascade.settled_words(of_rules), estimate_words(sent)])
        )
        return _done(
            chosen,
            folder,
            plan,
            cascade.cascading(plan, of_rules, predicting(plan, asked)),
            of_rules,
        )


@contextmanager
def asked_model(
    chosen: argparse.Namespace, *, is_fake: bool
) -> Iterator[ask_models.AskingOptions]:
    """The model that the arguments name; a fake one is served for as long as it is needed. Raises DetectorError."""
    if not is_fake:
        yield _asking(chosen, *_endpoint(chosen))
        return
    if chosen.model or chosen.base_url or chosen.key_env or chosen.endpoint:
        raise DetectorError(
            "The fake model has a fixed name and its own server.",
            remedy="Omit --model, --base-url, --key-env and --endpoint.",
        )
    with fake_server(
        FakePlan(seed=chosen.seed or 0, latency_s=FAKE_LATENCY_S)
    ) as base_url:
        endpoint = resolve(MODEL, base_url, **_how(chosen))
        # The price is a true zero, not an unknown one, so that caps in USD can be tried without a key.
        yield _asking(chosen, endpoint, Price(0.0, 0.0, OWN_SERVER))


def _endpoint(chosen: argparse.Namespace) -> tuple[Endpoint, Price | None]:
    """Where the arguments say that a model is, and what is stated of its price there."""
    how = _how(chosen)
    if chosen.endpoint is None:
        return resolve(
            chosen.model or "", chosen.base_url, key_env=chosen.key_env, **how
        ), None
    if chosen.base_url or chosen.key_env:
        raise DetectorError(
            "A named endpoint already has an address and a key.",
            remedy="Omit --base-url and --key-env.",
        )
    return named_endpoint(chosen.endpoint, chosen.model or "", **how)


def _how(chosen: argparse.Namespace) -> dict[str, Any]:
    """What shapes each request. Raises DetectorError if it holds a secret: it is stored with the job."""
    extra = dict(chosen.extra_body or {})
    if chosen.reasoning_effort:
        extra["reasoning_effort"] = chosen.reasoning_effort
    # Judges and repairs have no such option: nothing is computed of their tokens.
    if getattr(chosen, "logprobs", False):
        extra[LOGPROBS] = True
    text = json.dumps(extra)
    if without_secrets(text) != text:
        raise DetectorError(
            "The extra members of the request hold a key or a password.",
            remedy="Keys come from the environment alone.",
        )
    return {
        "temperature": chosen.temperature,
        "timeout_s": chosen.timeout_s,
        "max_output_tokens": chosen.max_tokens,
        "extra": extra,
    }


def _asking(
    chosen: argparse.Namespace, endpoint: Endpoint, usual: Price | None = None
) -> ask_models.AskingOptions:
    given = given_price(chosen, usual)
    caps = ask_models.Caps(chosen.budget_usd, chosen.budget_tokens)
    concurrency = chosen.concurrency or CONCURRENCY
    return ask_models.asking(
        endpoint,
        concurrency=concurrency,
        given=given,
        caps=caps,
        seed=chosen.seed,
        retries=chosen.retries,
    )


def given_price(
    chosen: argparse.Namespace, usual: Price | None = None
) -> Price | None:
    """The price that the arguments state, else the usual one. Raises DetectorError for half of one."""
    if (chosen.price_in is None) != (chosen.price_out is None):
        raise DetectorError(
            "Only one of the two prices was given.",
            remedy="Give both --price-in and --price-out.",
        )
    if chosen.price_in is None:
        return usual
    return Price(chosen.price_in, chosen.price_out)


def options_of(
    asked: ask_models.AskingOptions, template: Template, *, is_fake: bool
) -> dict[str, object]:
    """What names the job; a server of this process has another address each time."""
    return asked.options(template.name) | (
        {"base_url": OWN_SERVER} if is_fake else {}
    )


def _planned(
    chosen: argparse.Namespace,
    folder: DataFolder,
    detector: domain.Detector,
    options: dict[str, object],
    template: Template | None,
) -> detect.JobPlan:
    """The store is closed again before the work begins, so that the app can be used meanwhile."""
    store = prepare_or_read(folder, tell)
    try:
        examples = _examples(chosen, store, template)
        request = detect.JobRequest(
            detect.known_detector(store, detector),
            domain.Setting(chosen.setting),
            chosen.benchmark,
            options | ({} if examples is None else examples.options),
            # Only models get a text; an analyzer, the rules and a rehearsal answer alike each time, so one
            # run is enough.
            is_prompted=template is not None,
            # Five runs and their majority, as in the paper (section 4.3).
            n_runs=(chosen.runs or domain.PAPER_RUNS)
            if template is not None
            else 1,
            instances=chosen.instances,
            template=template,
            again=chosen.again,
            is_given_both=chosen.detector == CASCADE,
            is_executed=chosen.detector == rehearsal.DETECTOR.detector,
            labels=_labels(chosen),
            sample=_sample(chosen),
            examples=examples,
        )
        return detect.plan_detection(store, folder, request)
    finally:
        store.close()


def _examples(
    chosen: argparse.Namespace, store: Store, template: Template | None
) -> few_shot.FewShot | None:
    """What is shown before each question. Raises DetectorError for a detector that is shown no text."""
    if chosen.examples is None:
        return None
    if template is None:
        raise DetectorError(
            f"{chosen.detector} takes no examples, because it is shown no prompt.",
            remedy="Omit --examples.",
        )
    setting = domain.Setting(chosen.setting)
    found = few_shot.few_shot(
        store, chosen.examples, setting, chosen.benchmark, template
    )
    if found.n_unusable:
        tell(
            f"{found.n_unusable} instances of {MINIBENCH} cannot be shown as {setting}, so they are left out"
        )
    return found


def _labels(chosen: argparse.Namespace) -> dict[str, str]:
    """What the user calls the run. Raises DetectorError if it holds a secret: it is stored with the job."""
    labels = {
        label: getattr(chosen, label)
        for label in files.LABELS
        if getattr(chosen, label) is not None
    }
    if any(without_secrets(text) != text for text in labels.values()):
        raise DetectorError(
            "The name or the note holds a key or a password.",
            remedy="Write another one.",
        )
    return labels


def _say_plan(
    plan: detect.JobPlan, words: str, sent: dict[str, object] | None = None
) -> RunReport:
    skipped = dict(plan.skipped_by_reason)
    n_done = len(plan.work.items) - len(plan.work.open)
    document = {
        "job": plan.job.job,
        "questions": len(plan.work.items),
        "answered": n_done,
        "skipped": skipped,
        "to_send": sent,
    }
    lines = [
        f"job {plan.job.job}: {n_done:,} of {len(plan.work.items):,} questions answered so far",
        words,
    ]
    return RunReport(
        document,
        [
            *lines,
            *(
                f"{n:,} instances skipped: {reason}"
                for reason, n in skipped.items()
            ),
        ],
    )


def _done(
    chosen: argparse.Namespace,
    folder: DataFolder,
    plan: detect.JobPlan,
    worker: Worker,
    of_rules: cascade.Settled | None = None,
    settle: Callable[[], bool] = lambda: False,
) -> RunReport:
    """Run it; the outcome, and what was saved because rules answered first. Again as long as `settle` says so."""
    job, n_open = plan.job, len(plan.work.open)
    if n_open:
        asked = f"{job.detector}, {job.setting}, {job.benchmark}, {n_open:,} open questions"
        note(
            folder,
            at_the_terminal(),
            domain.AuditAction.START_RUN,
            f"run {job.job}",
            asked,
        )
    outcome = told_work(
        folder, plan.work, worker, chosen.concurrency or CONCURRENCY, settle
    )
    rows, printed = _rows(folder, plan.job)
    saved = {"first": of_rules.to_json()} if of_rules else {}
    scored = {
        "rows": score.rows_json(rows),
        "printed": [row._asdict() for row in printed],
    }
    saved_words = (
        [f"  {line}" for line in cascade.settled_words(of_rules)]
        if of_rules
        else []
    )
    return RunReport(
        outcome_json(outcome, plan.skipped_by_reason) | saved | scored,
        [*outcome_words(outcome, plan.skipped_by_reason), *saved_words],
        outcome,
        rows,
        printed,
    )


def told_work(
    folder: DataFolder,
    work: Work,
    worker: Worker,
    at_once: int,
    settle: Callable[[], bool] = lambda: False,
) -> JobOutcome:
    """Do the work and print its progress, until it is done or Ctrl+C is pressed; again as long as `settle` says so.

    People who want to know of its end are notified.
    """
    with end.end_announced(folder, work.job.job, worker) as watched:
        outcome = _told_once(folder, work, watched, at_once)
        # A batch may be followed by one that leaves out the parameter which the endpoint refused.
        while settle():
            outcome = _told_once(folder, work, watched, at_once)
        watched.outcome = outcome
    return outcome


def _told_once(
    folder: DataFolder, work: Work, worker: Worker, at_once: int
) -> JobOutcome:
    last = [0.0]
    tell(
        f"job {work.job.job}: {len(work.items) - len(work.open):,} of {len(work.items):,} questions answered so far"
    )

    def hear(now: JobProgress) -> None:
        # The last line always comes, however soon after the one before, so that the log ends with all counts.
        if (
            time.monotonic() - last[0] >= TOLD_EVERY_S
            or now.n_done == now.n_all
        ):
            last[0] = time.monotonic()
            tell(progress_words(now))

    with stop_on_interrupt() as stop:
        return carry_out(
            folder, work, worker, progress=hear, stop=stop, at_once=at_once
        )


def exit_code(outcome: JobOutcome) -> int:
    """0 where everything was answered; else 1, and the counts have said what is open."""
    if outcome.ended == INTERRUPTED:
        # The command line turns it into the exit status of an interrupted program and says how to resume.
        raise KeyboardInterrupt
    return 1 if outcome.n_open else 0


def _rows(
    folder: DataFolder, job: domain.Job
) -> tuple[list[score.ScoreRow], list[score.PrintedRow]]:
    # Silent: that another process has the database open was told when the job was planned.
    store = prepare_or_read(folder)
    try:
        rows = score.scores(store, job.job)
        return rows, score.printed_beside(store, job.benchmark, rows)
    finally:
        store.close()
