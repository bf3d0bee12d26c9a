"""Answers what a kernel's magics ask, as JSON lines: the probe's code, verdicts of the rules, prompts, a model's reply.

Runs as a separate process beside the kernel and ends with it. Refuses to run any code of the notebook.
"""

import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from crane_core.detectors.rules import asking
from crane_core.detectors.rules.family import all_rules
from crane_core.domain import Cell, KernelState, Setting
from crane_core.errors import CraneError, NotebookError
from crane_core.live.fixes import fixes_told
from crane_core.live.reply import SET_ONE
from crane_core.llm.endpoint import Endpoint, configured_endpoint
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks import (
    check,
    prompt_of_notebook,
    value_origins,
)
from crane_core.pipeline.own_notebooks.fixing import cells_of_history
from crane_core.repair.crash_site import CrashSite
from crane_core.repair.proposals import checked as allowed
from crane_core.repair.proposals import proposals
from crane_core.runtime.kernel_side import kernel_requests
from crane_core.runtime.kernel_side.crane_surrogates import operations
from crane_core.runtime.live_history import Ran, request
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.probe_source import OUR_MAGIC, modules_for
from crane_core.runtime.rehearsal import rehearsal_of

NAME = "notebook"
_wanted: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
"""Libraries that the kernel has imported."""


def main() -> None:
    """Answer the questions on standard input, a line of JSON each, until it ends."""
    # What the first question needs, before somebody waits for it: the rules loaded, the probe compiled.
    all_rules()
    _judge({"ran": [], "target": "", "state": {"variables": {}}})
    _needed()
    threading.Thread(target=_load_libraries, daemon=True).start()
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "load":
            _wanted.put(order["imported"])
            continue
        try:
            answer = DOES[order["do"]](order)
        except CraneError as error:
            answer = {"refused": str(error.args[0]), "remedy": error.remedy}
        _say(order, answer)


def _say(order: Mapping[str, Any], words: Mapping[str, Any]) -> None:
    """One line, which tells the order that it belongs to."""
    sys.stdout.write(json.dumps({**words, "id": order.get("id")}) + "\n")
    sys.stdout.flush()


def _load_libraries() -> None:
    """Load what the kernel has imported in the processes beside it, while no question waits for an answer."""
    asking.start_beside()
    loaded: set[str] = set()
    while True:
        new = [each for each in _wanted.get() if each not in loaded]
        asking.load(new)
        loaded.update(new)


def _probe(order: Mapping[str, Any]) -> Mapping[str, Any]:
    """The names of the probe's modules, of those that every look needs, and of the libraries that may be asked.

    With `module`, the one of that name.
    """
    modules = modules_for(order["magic"])
    if "module" in order:
        return modules[order["module"]]
    return {
        "names": list(modules),
        "needed": _needed(),
        "libraries": sorted(operations.BOUND),
    }


@cache
def _needed() -> tuple[str, ...]:
    """What is loaded to look at a kernel in which nothing has run."""
    loaded: dict[str, Any] = {}
    kernel_requests.inspect_state(
        {}, modules_for(OUR_MAGIC), request([], "print()"), loaded
    )
    return tuple(loaded)


def _cell_of_file(order: Mapping[str, Any]) -> dict[str, Any]:
    """The source of a code cell (counted from 0) of a notebook file."""
    return {
        "source": read_plan(Path(order["path"]), order["target"]).target.source
    }


def _judge(order: Mapping[str, Any]) -> dict[str, Any]:
    started = time.perf_counter()
    _wanted.put(order.get("imported", []))
    checked = _checked(order)
    with asking.asking_with(
        asking.HURRIED if order.get("is_hurried") else asking.WAITING,
        _progress(order),
    ) as asked:
        said = check.verdict(checked)
    told = check.findings(said)
    if any(finding["exception"] == "NameError" for finding in told):
        checked = replace(checked, not_run=_not_run(order))
    found = value_origins.with_origins(told, checked, is_live=True)
    seconds = time.perf_counter() - started
    return {
        "crashes": said.crashes or None,
        "findings": found,
        "unsure": check.unsure(said),
        "asked": list(asked),
        "seconds": seconds,
    }


def _not_run(order: Mapping[str, Any]) -> tuple[CodeCell, ...]:
    """The cells of the saved notebook that the kernel has not run; none where its file is not known or not readable."""
    plan = _file_plan(order)
    if plan is None:
        return ()
    return value_origins.not_run(
        plan.cells, [cell["source"] for cell in order["ran"]], order["target"]
    )


def _file_plan(order: Mapping[str, Any]) -> NotebookPlan | None:
    """The saved notebook; None where its file is not known or not readable."""
    if not order.get("path"):
        return None
    try:
        return read_plan(Path(order["path"]), None)
    except NotebookError:
        return None


def _progress(order: Mapping[str, Any]) -> Callable[[str], None]:
    """Tells who waits for the answer which library is asked."""
    return lambda library: _say(order, {"asking": library})


def _prompt(order: Mapping[str, Any]) -> dict[str, Any]:
    """The exact text that a model would be sent, secrets redacted, and to whom: None where no model is set."""
    endpoint = configured_endpoint(order.get("model"), order.get("base_url"))
    sent = _written(order)
    tokens = sent.tokens
    return {
        "text": sent.prompt.text,
        "tokens": tokens.n,
        "kind": tokens.kind,
        "model": endpoint and endpoint.model,
        "base_url": endpoint and endpoint.base_url,
    }


def _ask(order: Mapping[str, Any]) -> dict[str, Any]:
    from crane_core.pipeline.own_notebooks.ask_one import ask_one

    return ask_one(_written(order), _endpoint(order)).as_json()


def _fix(order: Mapping[str, Any]) -> dict[str, Any]:
    """Fixes of the rules for a crash of the target, or with `by` set to "model" those of a model."""
    checked = _checked(order)
    plan = _file_plan(order)
    cells = () if plan is None else plan.cells
    site = CrashSite(
        order["source"],
        rehearsal_of(order["crash"]),
        prompt_of_notebook.captured_state(order["state"], NAME),
        cells_of_history(
            cells, [Ran(**cell) for cell in order["ran"]], checked.plan.target
        ),
        _place_of(order["target"], cells),
    )
    if order["by"] == "rules":
        return fixes_told(proposals(site))
    from crane_core.pipeline.own_notebooks.ask_for_fixes import fix_asker

    asker = fix_asker(checked.cells, _endpoint(order), order["candidates"])
    return fixes_told(allowed(site, asker(site)))


def _place_of(target: str, cells: Sequence[CodeCell]) -> int | None:
    """The target's number among the code cells of the file; None where the file does not have it yet."""
    return next(
        (
            cell.index
            for cell in cells
            if value_origins.without_magic(cell.source) == target.strip()
        ),
        None,
    )


DOES: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "probe": _probe,
    "cell": _cell_of_file,
    "judge": _judge,
    "prompt": _prompt,
    "ask": _ask,
    "fix": _fix,
}


def _endpoint(order: Mapping[str, Any]) -> Endpoint:
    endpoint = configured_endpoint(
        order.get("model"), order.get("base_url"), folder=_folder()
    )
    if endpoint is None:
        raise CraneError(
            "No model is set.",
            remedy=f"{SET_ONE}.",
        )
    return endpoint


def _folder() -> Path | None:
    """The kernel's folder, whose `.env` counts: this process works in another one."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else None


def _written(order: Mapping[str, Any]) -> prompt_of_notebook.WrittenPrompt:
    return check.to_send(_checked(order), Setting.RUNTIME_PLUS)


def _checked(order: Mapping[str, Any]) -> check.CheckedNotebook:
    """What was seen in the kernel, in the form of a notebook that was run up to its target."""
    ran = [
        CodeCell(place, cell["source"], cell["number"], None)
        for place, cell in enumerate(order["ran"])
    ]
    target = CodeCell(len(ran), order["target"], None, None)
    plan = NotebookPlan(NAME, [*ran, target], ran, target)
    cells: tuple[Cell, ...] = tuple(
        prompt_of_notebook.planned_cells(plan, NAME)
    )
    state: KernelState = prompt_of_notebook.captured_state(order["state"], NAME)
    return check.CheckedNotebook(Path(NAME), plan, cells, state)


if __name__ == "__main__":
    main()
