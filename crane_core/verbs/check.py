"""`check`: will the target cell of this notebook crash?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.detectors.registry import Prediction
from crane_core.domain import JsonObject, Setting
from crane_core.errors import CraneError, DetectorError, NotebookError
from crane_core.live.verdict import predicted
from crane_core.llm.endpoint import Endpoint, configured_endpoint
from crane_core.pipeline.own_notebooks.attach import attached
from crane_core.pipeline.own_notebooks.check import (
    ALLOWED,
    CheckedNotebook,
    execution_forbidden,
    findings,
    read_notebook,
    run_up,
    to_send,
    unsure,
    verdict,
)
from crane_core.pipeline.own_notebooks.value_origins import (
    evidence,
    with_origins,
)
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.installs import left_out_words, n_installs
from crane_core.runtime.isolation import best, isolation_words
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import NotebookPlan
from crane_core.runtime.rehearsal import LONGEST_S, USUAL_S
from crane_core.runtime.running import kernel_named, running_kernels
from crane_core.terminal import give, give_either, one_line, tell, tell_error

if TYPE_CHECKING:
    from crane_core.pipeline.own_notebooks.ask_one import QuestionOutcome

NAME = "check"
HELP = "predict whether the target cell of a notebook will crash, and why: with rules, and with a model if one is set"
MORE = """One notebook that could be checked ends with 0. Several are checked one after the other, with a
verdict each, and end with 1 if one of them could not be checked. With --exit-code, 3 says that a crash
is predicted for any of them. --json of one notebook is its verdict; of several it is
{"notebooks": [...], "predicted_crashes": N, "failed": N}, where each entry is a verdict, or "notebook"
with the "error" that kept it from being checked."""
ONLY_READS = True
EXAMPLE = """python -m crane_core check trip.ipynb
         python -m crane_core check trip.ipynb --target 4 --model qwen3 --base-url http://127.0.0.1:11434/v1 --json
         python -m crane_core check trip.ipynb tour.ipynb --exit-code
         python -m crane_core check --attach trip.ipynb
         python -m crane_core check trip.ipynb --rehearse"""
PREDICTED_CRASH = 3
"""Exit code with --exit-code; 1 and 2 are errors and wrong usage, as with every verb."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `check` takes: notebooks or a running kernel, how cells are run, and a model."""
    add(
        verb,
        option(
            "notebooks NOTEBOOK",
            "an .ipynb file, or several; its folder is the kernel's",
            arguments.path,
            nargs="*",
        ),
        option(
            "--target N",
            "this code cell, counted from 0 (default: the first with an error output, else the last; with --attach the"
            " one after the last that ran)",
            arguments.code_cell,
        ),
        flag(
            "--json",
            "print verdict, findings and costs as JSON to stdout; `crashes` is true, or null where nothing is certain",
        ),
        flag(
            "--exit-code",
            f"end with {PREDICTED_CRASH} where the rules predict a crash, with 0 where they predict nothing certain",
        ),
        option(
            "--rehearse SECONDS",
            "also run the target, in a copy of the kernel that is dropped: no network, files, programs or GPU, and"
            f" SECONDS at most (without a number: {USUAL_S:g})",
            arguments.number(0, LONGEST_S, above=True),
            nargs="?",
            const=USUAL_S,
        ),
    )
    _add_kernel(
        verb.add_argument_group(
            "the kernel", "in which the cells before the target run"
        )
    )
    add_isolation(verb)
    add(
        verb.add_argument_group(
            "a model", "that is asked too; nothing is sent without one"
        ),
        option(
            "--model M",
            "its name at the endpoint (default: CRANE_MODEL, else none)",
        ),
        option(
            "--base-url U",
            "of an OpenAI-compatible endpoint (default: CRANE_BASE_URL)",
        ),
        option("--key-env NAME", arguments.KEY_ENV_HELP),
        option(
            "--setting S",
            f"what the model is shown (default {Setting.RUNTIME_PLUS}): {', '.join(Setting)}",
            choices=[str(setting) for setting in Setting],
            default=str(Setting.RUNTIME_PLUS),
        ),
    )


def _add_kernel(kernel: argparse._ArgumentGroup) -> None:
    add(
        kernel.add_mutually_exclusive_group(),
        option(
            "--python PATH",
            "the interpreter to run; it must have ipykernel",
            arguments.name,
        ),
        option("--kernel NAME", "an installed kernelspec", arguments.name),
        option(
            "--attach ID",
            "look at a kernel that runs already, and run nothing: its id, connection file or notebook; without ID,"
            " list them",
            arguments.path_or_name,
            nargs="?",
            const=True,
        ),
    )
    usual = KernelLimits().cell_s
    add(
        kernel,
        option(
            "--timeout-s S",
            f"for each cell before it (default {usual:g})",
            arguments.seconds,
            default=usual,
        ),
        flag("--keep-going", "continue past cells that raise before it"),
    )


def add_isolation(verb: argparse.ArgumentParser) -> None:
    """The flags that say how far a notebook is kept apart."""
    add(
        verb.add_argument_group("isolation"),
        flag(
            "--isolate",
            "for notebooks of others: hide your keys, files and network as far as this machine can (bubblewrap)",
        ),
        flag(
            "--allow-install",
            "run lines such as `%%pip install` too, which are left out otherwise",
        ),
        flag(
            "--allow-network",
            "with --isolate: let the notebook use the network",
        ),
    )


def isolated(chosen: argparse.Namespace, limits: KernelLimits) -> KernelLimits:
    """The limits with what those flags say."""
    limits = limits._replace(installs=chosen.allow_install)
    if not chosen.isolate:
        return limits
    limits = limits._replace(isolation=best(), network=chosen.allow_network)
    tell(isolation_words(limits.isolation, network=limits.network))
    return limits


def tell_left_out(plan: NotebookPlan, chosen: argparse.Namespace) -> None:
    """Say that lines which install packages are not run, if there are any."""
    n = (
        0
        if chosen.allow_install
        else n_installs(cell.source for cell in plan.executed)
    )
    if n:
        tell(f"{left_out_words(n)}; --allow-install runs them")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Predict for each notebook whether its target crashes, and print line, reason, evidence and remedy.

    Returns 0; 1 if one of several notebooks could not be checked; 3 with --exit-code if a crash is predicted.
    Raises NotebookError if the only notebook cannot be read or run, DetectorError if the model does not answer.
    """
    if chosen.attach is True:
        _list(as_json=chosen.json)
        return 0
    _check_attached(chosen)
    # Before any cell runs: a missing key should not cost the minutes that the cells take.
    endpoint = configured_endpoint(
        chosen.model, chosen.base_url, key_env=chosen.key_env
    )
    if len(chosen.notebooks) > 1:
        return _several(chosen, endpoint)
    notebook = chosen.notebooks[0] if chosen.notebooks else None
    checked = _seen(chosen, notebook)
    said = verdict(checked)
    try:
        asked = None if endpoint is None else _asked(checked, endpoint, chosen)
    # The rules have answered, and the cells may have run for minutes: their verdict is printed before the
    # error.
    except DetectorError:
        _give(chosen, checked, said, None)
        raise
    _give(chosen, checked, said, asked)
    return PREDICTED_CRASH if chosen.exit_code and said.crashes else 0


def _check_attached(chosen: argparse.Namespace) -> None:
    """Raises NotebookError if --attach, the notebooks and the other options do not fit together."""
    if chosen.attach is None and not chosen.notebooks:
        raise NotebookError(
            "No notebook is named.",
            remedy="Name one: `check NOTEBOOK`, or `check --attach ID`.",
        )
    if chosen.attach is not None and (chosen.isolate or chosen.keep_going):
        raise NotebookError(
            "With --attach no cell is run.",
            remedy="Leave out --isolate and --keep-going.",
        )
    is_about_one = chosen.target is not None or chosen.attach is not None
    if is_about_one and len(chosen.notebooks) > 1:
        single = "--target" if chosen.target is not None else "--attach"
        raise NotebookError(
            f"{single} is about one notebook.",
            remedy=f"Name one, or leave out {single}.",
        )


def _several(chosen: argparse.Namespace, endpoint: Endpoint | None) -> int:
    """A verdict for each notebook; one that cannot be checked keeps no other from it."""
    # A notebook that two patterns of the shell name is run once.
    told = [
        _one_of_several(chosen, notebook, endpoint)
        for notebook in dict.fromkeys(chosen.notebooks)
    ]
    n_failed = sum("error" in entry for entry in told)
    n_crashes = sum(entry.get("crashes") is True for entry in told)
    not_checked = f", {n_failed:,} not checked" if n_failed else ""
    give_either(
        {"notebooks": told, "predicted_crashes": n_crashes, "failed": n_failed},
        f"{len(told):,} notebooks: {n_crashes:,} with a predicted crash{not_checked}",
        as_json=chosen.json,
        indent=None,
    )
    if n_failed:
        return 1
    return PREDICTED_CRASH if chosen.exit_code and n_crashes else 0


def _one_of_several(
    chosen: argparse.Namespace, notebook: Path, endpoint: Endpoint | None
) -> JsonObject:
    """What JSON says of one notebook; for people it is printed at once."""
    try:
        checked = _seen(chosen, notebook)
        said = verdict(checked)
        # A model that cannot be asked leaves the rules' verdict; the notebook counts as failed.
        asked, refused = _asked_or_refused(checked, endpoint, chosen)
    except CraneError as error:
        tell_error(error)
        return {"notebook": str(notebook), "error": str(error)}
    if not chosen.json:
        give(in_words(checked, said, asked))
    told = as_json(checked, said, asked)
    return told | ({"error": str(refused)} if refused else {})


def _asked_or_refused(
    checked: CheckedNotebook,
    endpoint: Endpoint | None,
    chosen: argparse.Namespace,
) -> tuple[QuestionOutcome | None, DetectorError | None]:
    """What the model says, or why it says nothing; neither where no model is set."""
    if endpoint is None:
        return None, None
    try:
        return _asked(checked, endpoint, chosen), None
    except DetectorError as error:
        tell_error(error)
        return None, error


def _list(*, as_json: bool) -> None:
    """The kernels that run, for people or as JSON."""
    running = running_kernels()
    found = [
        {
            "id": kernel.id,
            "notebook": kernel.notebook and str(kernel.notebook),
            "file": str(kernel.file),
        }
        for kernel in running
    ]
    lines = [
        f"{one_line(kernel.id)}  {one_line(str(kernel.notebook or 'no notebook named'))}"
        for kernel in running
    ]
    words = "\n".join(lines or ["No kernel runs."])
    give_either({"kernels": found}, words, as_json=as_json, indent=None)


def _seen(chosen: argparse.Namespace, notebook: Path | None) -> CheckedNotebook:
    """The notebook with what its kernel holds; of a kernel that runs already, or of a fresh one."""
    if chosen.attach is not None:
        kernel = kernel_named(chosen.attach)
        return attached(
            kernel, notebook, chosen.target, rehearse_s=_rehearse_s(chosen)
        )
    assert notebook is not None
    checked = read_notebook(notebook, chosen.target)
    if execution_forbidden(os.environ):
        tell(f"{ALLOWED} forbids running notebooks: only the code is checked")
        return checked
    tell(f"Running {_cells(checked)} before the target of {notebook.name}")
    tell_left_out(checked.plan, chosen)
    limits = isolated(chosen, KernelLimits(cell_s=chosen.timeout_s))
    return run_up(
        checked,
        python=chosen.python,
        kernel=chosen.kernel,
        limits=limits,
        keep_going=chosen.keep_going,
        rehearse_s=chosen.rehearse,
    )


def _rehearse_s(chosen: argparse.Namespace) -> float | None:
    """Raises NotebookError if the target may not run."""
    if chosen.rehearse is not None and execution_forbidden(os.environ):
        raise NotebookError(
            f"{ALLOWED} forbids running notebooks.",
            remedy="Leave out --rehearse.",
        )
    seconds: float | None = chosen.rehearse
    return seconds


def _give(
    chosen: argparse.Namespace,
    checked: CheckedNotebook,
    said: Prediction,
    asked: QuestionOutcome | None,
) -> None:
    document, words = (
        as_json(checked, said, asked),
        in_words(checked, said, asked),
    )
    give_either(document, words, as_json=chosen.json, indent=None)


def _cells(checked: CheckedNotebook) -> str:
    n = len(checked.plan.executed)
    return "1 cell" if n == 1 else f"{n:,} cells"


def _asked(
    checked: CheckedNotebook, endpoint: Endpoint, chosen: argparse.Namespace
) -> QuestionOutcome:
    from crane_core.pipeline.own_notebooks.ask_one import ask_one

    # Without a state only the code can be shown (the paper's -RT).
    setting = Setting(chosen.setting) if checked.state else Setting.CODE
    sent = to_send(checked, setting)
    tokens = sent.tokens
    tell(f"Asking {endpoint.model}: {tokens.n:,} tokens ({tokens.kind})")
    return ask_one(sent, endpoint)


def as_json(
    checked: CheckedNotebook, said: Prediction, asked: QuestionOutcome | None
) -> JsonObject:
    """The verdicts as members of one JSON object: paths as strings, times in seconds.

    `crashes` is True or None, never False, because the rules do not say that a cell is safe.
    """
    ran = checked.state is not None
    return {
        "notebook": str(checked.path),
        "target": checked.plan.target.index,
        "executed": ran,
        "attached": checked.is_attached,
        "seconds_before": checked.seconds_before,
        # Not false: the rules report certain crashes and approve nothing.
        "crashes": said.crashes or None,
        "predicted": predicted(crashes=said.crashes),
        "diagnosis": said.reasoning,
        "findings": with_origins(
            findings(said), checked, is_live=checked.is_attached
        ),
        "unsure": unsure(said),
        "rehearsal": checked.rehearsal and checked.rehearsal.to_json(),
        "model": asked and asked.as_json(),
    }


def in_words(
    checked: CheckedNotebook, said: Prediction, asked: QuestionOutcome | None
) -> str:
    """The verdicts, for people to read."""
    target = f"code cell {checked.plan.target.index} of {checked.path.name}"
    if said.crashes:
        lines = [f"{target} will certainly crash"]
        for finding in with_origins(
            findings(said), checked, is_live=checked.is_attached
        ):
            reason = f"{finding['exception']}: {finding['message']}"
            lines += [
                f"  line      {finding['code_line']}",
                f"  reason    {one_line(reason)}",
                f"  evidence  {one_line(evidence(finding))}",
                f"  remedy    {finding['remedy']}",
            ]
    else:
        lines = [
            f"{target}: no certain crash",
            "  The rules report only certain crashes; they never say that a cell is safe.",
        ]
    lines += [f"  unsure    {one_line(sentence)}" for sentence in unsure(said)]
    if checked.seconds_before is not None:
        lines.append(
            f"  {_cells(checked)} ran before it; a crash here would cost {checked.seconds_before:.3f} s of re-execution"
        )
    return "\n".join(
        [*lines, *_rehearsed(checked), *(asked.in_words() if asked else [])]
    )


def _rehearsed(checked: CheckedNotebook) -> list[str]:
    """What the target came to in a copy, if it ran there."""
    told = checked.rehearsal
    if told is None:
        return []
    return [
        one_line(told.head),
        *(f"  {name:<9} {one_line(text)}" for name, text in told.facts),
    ]
