"""`plan`: what a study asks, written and registered before it runs; `report --plans` shows its result."""

import argparse
import hashlib
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.errors import PlanError
from crane_core.given_path import read_given_text
from crane_core.pipeline.audit import at_the_terminal
from crane_core.pipeline.fresh_folder import write_new_file
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import evaluate, plan_findings, study_plan
from crane_core.terminal import tell

NAME = "plan"
HELP = "write a plan of a study (new) and register it before the run (register); `report --plans` compares"
EXAMPLE = """python -m crane_core plan new study.toml
         python -m crane_core plan register study.toml --name runtime-state"""
NEW, REGISTER = "new", "register"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what is done with which file, and the name of a plan."""
    add(
        verb,
        option(
            "act",
            "new: write a plan to begin with; register: keep a plan in the ledger",
            choices=[NEW, REGISTER],
        ),
        option("file FILE", "the plan, a TOML file", arguments.path),
        option(
            "--name NAME",
            "what the registered plan is called (default: the name of the file)",
            arguments.name,
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Write a plan to begin with, or register one and tell its digest; returns 0. Raises PlanError."""
    file: Path = chosen.file
    if chosen.act == NEW:
        write_new_file(file, study_plan.TEMPLATE, PlanError)
        tell(f"{file}: change it, then `plan register {file.name}`")
        return 0
    text = read_given_text(
        file,
        4 * study_plan.MOST_LETTERS,
        PlanError,
        "`crane plan new FILE` writes a plan to begin with.",
    )
    plan = study_plan.plan_from(text)
    store = prepare_or_read(folder, tell)
    try:
        n = plan_findings.n_answered(plan, evaluate.verdict_frame(store))
    finally:
        store.close()
    name = chosen.name or file.stem
    study_plan.register(folder, name, text, n, at_the_terminal())
    before = (
        "before its first answer"
        if not n
        else f"when {n:,} of its answers were loaded"
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    n_questions = len(plan.questions)
    questions = "1 question" if n_questions == 1 else f"{n_questions} questions"
    tell(f"registered {name} {before}: {questions}, sha256 {digest}")
    return 0
