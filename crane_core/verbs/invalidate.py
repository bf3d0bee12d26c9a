"""`invalidate`: single answers taken out of every statistic, with a reason; `restore` brings them back."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.domain import Listed, Setting
from crane_core.errors import StoreError
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.maintenance import invalidate
from crane_core.pipeline.places import DataFolder
from crane_core.storage.invalidated import AnswerKey, answers_of
from crane_core.terminal import tell
from crane_core.verbs.remove import add_by, said_and_loaded, who

NAME = "invalidate"
HELP = "take single answers of a run out of every page, statistic and export, with a reason; `restore` brings them back"
EXAMPLE = (
    "python -m crane_core invalidate gpt-5-runtime-minibench-1a2b3c4d --instance pandas_1_fixed --index 2"
    ' --reason "the notebook was cut off"'
)


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare which answers are invalid, and why."""
    add(
        verb,
        option(
            "run RUN",
            "the run (experiment), as `list run` shows it",
            arguments.name,
        ),
        option(
            "--instance I",
            "the instance that the answer is about",
            arguments.name,
            required=True,
        ),
        option(
            "--index N",
            "which of its repeated answers, from 1 (default: all)",
            arguments.integer(1, arguments.MOST_INDEX),
        ),
        option(
            "--reason TEXT",
            "why, for everybody who sees the run",
            arguments.line(invalidate.LONGEST_REASON),
            required=True,
        ),
        option(
            "--detector D",
            "where the run has several detectors",
            arguments.name,
        ),
        option(
            "--setting S",
            "where the run has several inputs",
            choices=[str(setting) for setting in Setting],
        ),
        option(
            "--benchmark B",
            "where the run has several benchmarks",
            arguments.name,
        ),
    )
    add_by(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Note in the ledger that the answers are invalid, and bring the database up to it.

    Returns 0, or 1 if that is saved but the database cannot show it yet. Raises StoreError if there is no such
    answer, or if answers of several detectors, inputs or benchmarks are meant.
    """
    store = prepare_or_read(folder, tell)
    try:
        found = answers_of(
            store.cursor(),
            chosen.run,
            instance_id=chosen.instance,
            benchmark=chosen.benchmark,
            detector=chosen.detector,
            setting=chosen.setting,
            run_index=chosen.index,
        )
    finally:
        store.close()
    _refuse_several(found)
    names = invalidate.invalidate(folder, found, chosen.reason, by=who(chosen))
    n = len(names)
    words = f"invalidated {n} answer{'s' if n > 1 else ''}; undo:"
    undo = " ".join(f"`restore {Listed.ANSWER} {name}`" for name in names)
    return said_and_loaded(folder, f"{words} {undo}")


def _refuse_several(found: list[AnswerKey]) -> None:
    """Raise StoreError if answers would be taken out that were not thought of."""
    for name in ("benchmark", "detector", "setting"):
        values = sorted({getattr(key, name) for key in found})
        if len(values) > 1:
            raise StoreError(
                f"The run has answers of several about this instance: {name} {', '.join(values)}.",
                remedy=f"Name one with --{name}.",
            )
