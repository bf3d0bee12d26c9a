"""`check`: will the target cell of this notebook crash?"""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crane_core import arguments, terminal
from crane_core.arguments import add, flag, option
from crane_core.detectors.registry import Prediction
from crane_core.domain import JsonObject, Setting
from crane_core.errors import CraneError, DetectorError, NotebookError
from crane_core.live.verdict import predicted
from crane_core.llm.endpoint import Endpoint, configured_endpoint
from crane_core.pipeline.own_notebooks import (
    attach,
    check,
    fix_words,
    notebook_edit,
    value_origins,
)
from crane_core.pipeline.own_notebooks.ask_for_fixes import fix_asker
from crane_core.pipeline.own_notebooks.attach import attached
from crane_core.pipeline.own_notebooks.fixing import run_up_and_fix
from crane_core.pipeline.own_notebooks.whole import report_forms, selection
from crane_core.pipeline.own_notebooks.whole.cell_results import n_with_crash
from crane_core.pipeline.own_notebooks.whole.check_whole import (
    WholeOptions,
    check_whole,
)
from crane_core.pipeline.places import DataFolder
from crane_core.repair.fix import MOST_CANDIDATES, USUAL_CANDIDATES
from crane_core.runtime.installs import left_out_words, n_installs
from crane_core.runtime.isolation import best, isolation_words
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import NotebookPlan
from crane_core.runtime.rehearsal import LONGEST_S, USUAL_S, RehearsalEnd
from crane_core.runtime.remote import address
from crane_core.runtime.running import kernel_named, running_kernels

if TYPE_CHECKING:
    from crane_core.pipeline.own_notebooks.ask_one import QuestionOutcome

NAME = "check"
HELP = "predict whether the target cell of a notebook will crash, and why: with rules, and with a model if one is set"
MORE = """One notebook that could be checked ends with 0. Several are checked one after the other, with a
verdict each, and end with 1 if one of them could not be checked. With --exit-code, 3 says that a crash
is predicted for any of them, or that a target crashed in its copy. --json of one notebook is its verdict;
of several it is {"notebooks": [...], "predicted_crashes": N, "rehearsed_crashes": N, "failed": N}, where
each entry is a verdict, or "notebook" with the "error" that kept it from being checked.
With --all every code cell is predicted and then executed, from top to bottom. It ends with 1 where a
cell crashes, a crash is predicted, or a notebook could not be checked; with --exit-code 3 is for crashes
and 1 for what could not be checked. Without NOTEBOOK, the targets of .crane.toml are checked."""
ONLY_READS = True
EXAMPLE = """python -m crane_core check trip.ipynb
         python -m crane_core check trip.ipynb --target 4 --model qwen3 --base-url http://127.0.0.1:11434/v1 --json
         python -m crane_core check trip.ipynb tour.ipynb --exit-code
         python -m crane_core check --attach trip.ipynb
         python -m crane_core check --attach 'https://jupyter.example/user/ana/#trip.ipynb'
         python -m crane_core check trip.ipynb --rehearse 10
         python -m crane_core check trip.ipynb --fix
         python -m crane_core check trip.ipynb --predict-only
         python -m crane_core check notebooks --all --format junit
         python -m crane_core check --all --no-run --changed-since origin/main"""
FOUND_CRASH = 3
"""Exit code with --exit-code; 1 and 2 are errors and wrong usage, as with every verb."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `check` takes: notebooks or a running kernel, how cells are run, and a model."""
    add(
        verb,
        option(
            "notebooks NOTEBOOK",
            "an .ipynb file, or several; its folder is the kernel's; with --all folders and patterns too",
            arguments.notebook,
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
            f"end with {FOUND_CRASH} where the rules predict a crash or the target crashed in its copy, else with 0",
        ),
    )
    add(
        verb.add_mutually_exclusive_group(),
        option(
            "--rehearse SECONDS",
            "run the target for SECONDS at most, in a copy of the kernel that is dropped: no network, files, programs"
            f" or GPU. Without the option {USUAL_S:g} s, with --attach not at all. Given, it also runs the cells once"
            " more in a second kernel where the copy lacks threads",
            arguments.number(0, LONGEST_S, above=True),
            nargs="?",
            const=USUAL_S,
        ),
        flag("--predict-only", "do not run the target, not even in a copy"),
    )
    add(
        verb.add_argument_group(
            "a fix", "of a target that crashed in its copy"
        ),
        flag(
            "--fix",
            "print a diff of what runs through in a copy: by the rules, else by a model where one is set",
        ),
        flag(
            "--write",
            "with --fix: also write the first fix to the notebook; outputs and other cells stay as they are",
        ),
        option(
            "--candidates K",
            f"with --fix: how many cells a model proposes where no rule has a fix (default {USUAL_CANDIDATES})",
            arguments.integer(1, MOST_CANDIDATES),
            default=USUAL_CANDIDATES,
        ),
    )
    _add_whole(
        verb.add_argument_group(
            "whole notebooks", "every code cell, from top to bottom"
        )
    )
    _add_kernel(
        verb.add_argument_group(
            "the kernel", "in which the cells before the target run"
        )
    )
    _add_server(
        verb.add_argument_group(
            "a Jupyter server", "behind --attach URL; needs the extra remote"
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


def _add_whole(whole: argparse._ArgumentGroup) -> None:
    add(
        whole,
        flag(
            "--all",
            "predict each code cell, then execute it, in one kernel; one with the tag raises-exception may raise",
        ),
        flag("--no-run", "with --all: predict from the code alone"),
        option(
            "--format F",
            f"with --all: how the results are written (default: text): {', '.join(report_forms.REPORTS)}",
            choices=list(report_forms.REPORTS),
        ),
        option(
            "--report FILE",
            "with --all: write the results to this file too, by its ending: "
            f"{', '.join(report_forms.ENDINGS)}; repeatable",
            arguments.path,
            action="append",
            default=[],
        ),
        option(
            "--changed-since REF",
            "with --all: only notebooks that git says have changed since this branch left REF, and new ones",
            arguments.name,
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
            " list them. URL#KERNEL is one of a Jupyter server, by its id or its notebook's path there",
            arguments.kernel,
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


def _add_server(server: argparse._ArgumentGroup) -> None:
    add(
        server,
        option(
            "--token-file FILE",
            "a file with its token or password (default: CRANE_JUPYTER_TOKEN, else a prompt where there is a terminal)",
            arguments.path,
        ),
        option(
            "--ca-file FILE",
            "certificates in PEM of the authority behind https, beside the known ones",
            arguments.path,
        ),
        flag(
            "--insecure",
            "accept any certificate: who stands between can read the token",
        ),
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
    terminal.tell(isolation_words(limits.isolation, network=limits.network))
    return limits


def tell_left_out(plan: NotebookPlan, chosen: argparse.Namespace) -> None:
    """Say what is not run, by tag or language, and that lines which install packages are not."""
    if plan.marked:
        terminal.tell(f"By tags and languages: {'; '.join(plan.marked)}")
    n = (
        0
        if chosen.allow_install
        else n_installs(cell.source for cell in plan.executed)
    )
    if n:
        terminal.tell(f"{left_out_words(n)}; --allow-install runs them")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Predict for each notebook whether its target crashes, and print line, reason, evidence and remedy.

    Returns 0; 1 if one of several notebooks could not be checked; 3 with --exit-code if a crash is predicted or
    rehearsed.
    Raises NotebookError if the only notebook cannot be read or run, DetectorError if the model does not answer.
    """
    if chosen.attach is True:
        _list(as_json=chosen.json)
        return 0
    _check_fix(chosen)
    if chosen.all:
        return _whole(chosen)
    _check_attached(chosen)
    # Before any cell runs: a missing key should not cost the minutes that the cells take.
    endpoint = configured_endpoint(
        chosen.model, chosen.base_url, key_env=chosen.key_env
    )
    if len(chosen.notebooks) > 1:
        return _several(chosen, endpoint)
    notebook = chosen.notebooks[0] if chosen.notebooks else None
    checked = _seen(chosen, notebook, endpoint)
    said = check.verdict(checked)
    try:
        asked = None if endpoint is None else _asked(checked, endpoint, chosen)
    # The rules have answered, and the cells may have run for minutes: their verdict is printed before the
    # error.
    except DetectorError:
        _give(chosen, checked, said, None)
        raise
    _give(chosen, checked, said, asked)
    _write(chosen, checked)
    crashes = said.crashes or _crashed_in_copy(checked)
    return FOUND_CRASH if chosen.exit_code and crashes else 0


def _check_attached(chosen: argparse.Namespace) -> None:
    """Raises NotebookError if --attach, the notebooks and the other options do not fit together."""
    for given, name in (
        (chosen.no_run, "--no-run"),
        (chosen.format, "--format"),
        (chosen.report, "--report"),
        (chosen.changed_since, "--changed-since"),
    ):
        if given:
            raise NotebookError(
                f"{name} is for whole notebooks.", remedy="Add --all."
            )
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
    is_elsewhere = chosen.attach is not None and address.is_address(
        chosen.attach
    )
    if not is_elsewhere and (
        chosen.token_file or chosen.ca_file or chosen.insecure
    ):
        raise NotebookError(
            "--token-file, --ca-file and --insecure are for a Jupyter server.",
            remedy="Name one: check --attach URL#KERNEL.",
        )
    is_about_one = chosen.target is not None or chosen.attach is not None
    if is_about_one and len(chosen.notebooks) > 1:
        single = "--target" if chosen.target is not None else "--attach"
        raise NotebookError(
            f"{single} is about one notebook.",
            remedy=f"Name one, or leave out {single}.",
        )


def _check_fix(chosen: argparse.Namespace) -> None:
    """Raises NotebookError if --fix or --write does not fit the other options."""
    if chosen.write and not chosen.fix:
        raise NotebookError(
            "--write writes a fix, and none is looked for.",
            remedy="Add --fix.",
        )
    if chosen.write and chosen.attach is not None:
        raise NotebookError(
            "With --attach the notebook is open elsewhere, and no file is changed.",
            remedy="Leave out --write, or use %%crane fix in the notebook.",
        )
    if not chosen.fix:
        return
    if chosen.all:
        raise NotebookError(
            "--fix is about one target.", remedy="Leave out --all."
        )
    if chosen.predict_only:
        raise NotebookError(
            "--fix runs the target in a copy, which --predict-only leaves out.",
            remedy="Leave out one of them.",
        )
    # Also raises where no notebook may run.
    _rehearse_s(chosen)


def _whole(chosen: argparse.Namespace) -> int:
    """Check every cell of the chosen notebooks, and write one report of all of them."""
    about_one_cell = (
        ("--attach", chosen.attach),
        ("--target", chosen.target),
        ("--rehearse", chosen.rehearse),
        ("--predict-only", chosen.predict_only),
        ("--model", chosen.model),
        ("--fix", chosen.fix),
    )
    for name, given in about_one_cell:
        if given not in (None, False):
            raise NotebookError(
                f"{name} is about one cell, and --all about every cell.",
                remedy=f"Leave out {name}; --no-run executes nothing.",
            )
    for file in chosen.report:
        # Before any notebook runs: an unknown ending should not cost the minutes that they take.
        report_forms.form_of(file)
    notebooks = selection.chosen_notebooks(
        chosen.notebooks, selection.read_config(Path()), chosen.changed_since
    )
    is_forbidden = check.execution_forbidden(os.environ)
    if is_forbidden and not chosen.no_run:
        terminal.tell(
            f"{check.ALLOWED} forbids running notebooks: only the code is checked"
        )
    limits = KernelLimits(cell_s=chosen.timeout_s)
    options = WholeOptions(
        runs=not (chosen.no_run or is_forbidden),
        keep_going=chosen.keep_going,
        python=chosen.python,
        kernel=chosen.kernel,
        limits=isolated(chosen, limits),
    )
    results = []
    for notebook in notebooks:
        terminal.tell(f"Checking {notebook}")
        result = check_whole(notebook, options)
        sources = [cell.cell.source for cell in result.cells]
        if options.runs and not chosen.allow_install and n_installs(sources):
            terminal.tell(left_out_words(n_installs(sources)))
        results.append(result)
    for file in chosen.report:
        file.write_text(
            terminal.plain(report_forms.form_of(file)(results)) + "\n", "utf-8"
        )
    write = report_forms.REPORTS[
        chosen.format or ("json" if chosen.json else "text")
    ]
    terminal.give(write(results))
    if chosen.exit_code and n_with_crash(results):
        return FOUND_CRASH
    return int(any(result.problems for result in results))


def _several(chosen: argparse.Namespace, endpoint: Endpoint | None) -> int:
    """A verdict for each notebook; one that cannot be checked keeps no other from it."""
    # A notebook that two patterns of the shell name is run once.
    told = [
        _one_of_several(chosen, notebook, endpoint)
        for notebook in dict.fromkeys(chosen.notebooks)
    ]
    n_failed = sum("error" in entry for entry in told)
    n_predicted = sum(entry.get("crashes") is True for entry in told)
    n_rehearsed = sum(_is_crash(entry.get("rehearsal")) for entry in told)
    rehearsed = f", {n_rehearsed:,} crashed in a copy" if n_rehearsed else ""
    not_checked = f", {n_failed:,} not checked" if n_failed else ""
    terminal.give_either(
        {
            "notebooks": told,
            "predicted_crashes": n_predicted,
            "rehearsed_crashes": n_rehearsed,
            "failed": n_failed,
        },
        f"{len(told):,} notebooks: {n_predicted:,} with a predicted crash{rehearsed}{not_checked}",
        as_json=chosen.json,
        indent=None,
    )
    if n_failed:
        return 1
    n_crashes = n_predicted + n_rehearsed
    return FOUND_CRASH if chosen.exit_code and n_crashes else 0


def _is_crash(rehearsal: JsonObject | None) -> bool:
    return rehearsal is not None and rehearsal["outcome"] == RehearsalEnd.CRASH


def _crashed_in_copy(checked: check.CheckedNotebook) -> bool:
    told = checked.rehearsal
    return told is not None and told.outcome is RehearsalEnd.CRASH


def _one_of_several(
    chosen: argparse.Namespace, notebook: Path, endpoint: Endpoint | None
) -> JsonObject:
    """What JSON says of one notebook; for people it is printed at once."""
    try:
        checked = _seen(chosen, notebook, endpoint)
        said = check.verdict(checked)
        # A model that cannot be asked leaves the rules' verdict; the notebook counts as failed.
        asked, refused = _asked_or_refused(checked, endpoint, chosen)
        if not chosen.json:
            terminal.give(in_words(checked, said, asked))
        _write(chosen, checked)
    except CraneError as error:
        terminal.tell_error(error)
        return {"notebook": str(notebook), "error": str(error)}
    told = as_json(checked, said, asked)
    return told | ({"error": str(refused)} if refused else {})


def _asked_or_refused(
    checked: check.CheckedNotebook,
    endpoint: Endpoint | None,
    chosen: argparse.Namespace,
) -> tuple[QuestionOutcome | None, DetectorError | None]:
    """What the model says, or why it says nothing; neither where no model is set."""
    if endpoint is None:
        return None, None
    try:
        return _asked(checked, endpoint, chosen), None
    except DetectorError as error:
        terminal.tell_error(error)
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
        f"{terminal.one_line(kernel.id)}  {terminal.one_line(str(kernel.notebook or 'no notebook named'))}"
        for kernel in running
    ]
    words = "\n".join(lines or ["No kernel runs."])
    terminal.give_either(
        {"kernels": found}, words, as_json=as_json, indent=None
    )


def _seen(
    chosen: argparse.Namespace,
    notebook: Path | None,
    endpoint: Endpoint | None,
) -> check.CheckedNotebook:
    """The notebook with what its kernel holds; of a kernel that runs already, or of a fresh one."""
    if chosen.attach is not None:
        return _attached(chosen, notebook)
    assert notebook is not None
    # Before it is read: what changes from here on is noticed when a fix is written.
    known = notebook_edit.digest(notebook) if chosen.write else ""
    checked = replace(
        check.read_notebook(notebook, chosen.target), file_digest=known
    )
    if check.execution_forbidden(os.environ):
        terminal.tell(
            f"{check.ALLOWED} forbids running notebooks: only the code is checked"
        )
        return checked
    terminal.tell(
        f"Running {_cells(checked)} before the target of {notebook.name}"
    )
    tell_left_out(checked.plan, chosen)
    limits = isolated(chosen, KernelLimits(cell_s=chosen.timeout_s))
    run = check.run_up
    if chosen.fix:
        asker = (
            None
            if endpoint is None
            else fix_asker(checked.cells, endpoint, chosen.candidates)
        )
        run = partial(run_up_and_fix, ask_model=asker)
    return run(
        checked,
        python=chosen.python,
        kernel=chosen.kernel,
        limits=limits,
        keep_going=chosen.keep_going,
        rehearse_s=_fresh_s(chosen),
        # Cells may send and write: that they run once more is for who asks for it.
        runs_again=chosen.rehearse is not None,
    )


def _attached(
    chosen: argparse.Namespace, notebook: Path | None
) -> check.CheckedNotebook:
    """The notebook with what the kernel behind --attach holds."""
    rehearse_s = _rehearse_s(chosen)
    if not address.is_address(chosen.attach):
        return attached(
            kernel_named(chosen.attach),
            notebook,
            chosen.target,
            rehearse_s=rehearse_s,
            is_fixed=chosen.fix,
        )
    access = attach.ServerAccess(
        terminal.tell,
        _ask_secret if sys.stdin.isatty() else None,
        token_file=chosen.token_file,
        ca_file=chosen.ca_file,
        is_insecure=chosen.insecure,
    )
    try:
        return attach.attached_elsewhere(
            chosen.attach,
            access,
            notebook,
            chosen.target,
            rehearse_s=rehearse_s,
            is_fixed=chosen.fix,
        )
    except address.ChoiceOfKernelsError as error:
        _give_kernels(error.kernels, as_json=chosen.json)
        raise


def _ask_secret(base: str) -> str:
    # On the terminal itself, so that neither the screen nor stdout holds it.
    return getpass.getpass(f"Token or password of {terminal.one_line(base)}: ")


def _give_kernels(kernels: list[JsonObject], *, as_json: bool) -> None:
    """Those of a server, among which one has to be named."""
    lines = [
        "  ".join(
            terminal.one_line(str(told)) for told in kernel.values() if told
        )
        for kernel in kernels
    ]
    terminal.give_either(
        {"kernels": kernels}, "\n".join(lines), as_json=as_json, indent=None
    )


def _fresh_s(chosen: argparse.Namespace) -> float | None:
    """How long the target may run in a copy of a fresh kernel; None: not at all."""
    if chosen.predict_only:
        return None
    return USUAL_S if chosen.rehearse is None else float(chosen.rehearse)


def _rehearse_s(chosen: argparse.Namespace) -> float | None:
    """Raises NotebookError if the target may not run."""
    runs = chosen.rehearse is not None or chosen.fix
    if runs and check.execution_forbidden(os.environ):
        raise NotebookError(
            f"{check.ALLOWED} forbids running notebooks.",
            remedy="Leave out --rehearse and --fix.",
        )
    if chosen.fix and chosen.rehearse is None:
        return USUAL_S
    seconds: float | None = chosen.rehearse
    return seconds


def _give(
    chosen: argparse.Namespace,
    checked: check.CheckedNotebook,
    said: Prediction,
    asked: QuestionOutcome | None,
) -> None:
    document, words = (
        as_json(checked, said, asked),
        in_words(checked, said, asked),
    )
    terminal.give_either(document, words, as_json=chosen.json, indent=None)


def _write(chosen: argparse.Namespace, checked: check.CheckedNotebook) -> None:
    if chosen.write:
        terminal.tell(notebook_edit.write_first_fix(checked))


def _cells(checked: check.CheckedNotebook) -> str:
    n = len(checked.plan.executed)
    return "1 cell" if n == 1 else f"{n:,} cells"


def _asked(
    checked: check.CheckedNotebook,
    endpoint: Endpoint,
    chosen: argparse.Namespace,
) -> QuestionOutcome:
    from crane_core.pipeline.own_notebooks.ask_one import ask_one

    # Without a state only the code can be shown (the paper's -RT).
    setting = Setting(chosen.setting) if checked.state else Setting.CODE
    sent = check.to_send(checked, setting)
    tokens = sent.tokens
    terminal.tell(
        f"Asking {endpoint.model}: {tokens.n:,} tokens ({tokens.kind})"
    )
    return ask_one(sent, endpoint)


def as_json(
    checked: check.CheckedNotebook,
    said: Prediction,
    asked: QuestionOutcome | None,
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
        "findings": value_origins.with_origins(
            check.findings(said), checked, is_live=checked.is_attached
        ),
        "unsure": check.unsure(said),
        "rehearsal": checked.rehearsal and checked.rehearsal.to_json(),
        **fix_words.fixes_json(checked),
        "model": asked and asked.as_json(),
    }


def in_words(
    checked: check.CheckedNotebook,
    said: Prediction,
    asked: QuestionOutcome | None,
) -> str:
    """The verdicts, for people to read."""
    lines = [
        f"code cell {checked.plan.target.index} of {checked.path.name}",
    ]
    if said.crashes:
        lines.append("predicted: it will certainly crash")
        for finding in value_origins.with_origins(
            check.findings(said), checked, is_live=checked.is_attached
        ):
            reason = f"{finding['exception']}: {finding['message']}"
            lines += [
                f"  line      {finding['code_line']}",
                f"  reason    {terminal.one_line(reason)}",
                f"  evidence  {terminal.one_line(value_origins.evidence(finding))}",
                f"  remedy    {finding['remedy']}",
            ]
    else:
        lines.append(
            "predicted: nothing certain; the rules never say that a cell is safe"
        )
    lines += [
        f"  unsure    {terminal.one_line(sentence)}"
        for sentence in check.unsure(said)
    ]
    if checked.seconds_before is not None:
        lines.append(
            f"  {_cells(checked)} ran before it; a crash here would cost {checked.seconds_before:.3f} s of re-execution"
        )
    return "\n".join(
        [
            *lines,
            *_rehearsed(checked),
            *fix_words.fix_lines(checked),
            *(asked.in_words() if asked else []),
        ]
    )


def _rehearsed(checked: check.CheckedNotebook) -> list[str]:
    """What the target came to in a copy, if it ran there."""
    told = checked.rehearsal
    if told is None:
        return []
    lines = [
        f"rehearsed {told.where}: {terminal.one_line(told.title)}",
        *(
            f"  {name:<9} {terminal.one_line(text)}"
            for name, text in told.facts
        ),
    ]
    if told.lacks_threads and not checked.is_attached:
        lines.append(
            "  remedy    --rehearse runs the cells once more, in a second kernel with its own threads"
        )
    return lines
