"""Examples with their answers, shown before a question: instances of minibench, whose outcomes are known.

Knows which example may stand before which target. Refuses one of the target's own case, and one with the same library
and the same root cause: the answer would be half given.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from crane_core.domain import JsonObject, Setting, Version
from crane_core.errors import DetectorError, PromptError
from crane_core.pipeline.detection.prompt import prompt_of_instance
from crane_core.pipeline.verification.where import MINIBENCH
from crane_core.prompts.reply import CONFIDENCE
from crane_core.prompts.template import HASH_LENGTH, INPUT_LINE, Template
from crane_core.storage import cases, jobs
from crane_core.storage.store import Store

MOST_EXAMPLES = 8
"""Most kinds of crash in minibench have one case, and examples cost tokens in each question."""
NOTHING_FAILS = "No step of the target cell fails."
"""Minibench says why a notebook crashes; that the fixed one runs needs no reason."""


class ShownExample(NamedTuple):
    """An instance of minibench as it is shown: input and answer. library and root_cause are those of its case."""

    case_id: str
    library: str | None
    root_cause: str | None
    crashes: bool
    text: str


@dataclass(frozen=True, slots=True)
class FewShot:
    """The examples of a run. `pool`: all that its setting can show, in the order in which they are taken.

    n_unusable: instances of minibench that the setting cannot show. known: `storage.jobs.cases_of_instances` of the
    run's benchmark.
    """

    n: int
    pool: tuple[ShownExample, ...]
    n_unusable: int
    benchmark: str
    known: pd.DataFrame

    @property
    def options(self) -> JsonObject:
        """What shapes answers: other examples make another run."""
        texts = json.dumps([example.text for example in self.pool])
        digest = hashlib.sha256(texts.encode()).hexdigest()[:HASH_LENGTH]
        return {
            "examples": {
                "n": self.n,
                "of": MINIBENCH,
                "pool": f"{len(self.pool)}-{digest}",
            }
        }

    def before(self, template: Template, instance_id: str) -> Template:
        """The template with examples that this instance may be shown. Raises PromptError if there are too few."""
        row = self.known[self.known["instance_id"] == instance_id].iloc[0]
        fitting = [
            example for example in self.pool if not self._is_near(example, row)
        ]
        # In turns, so that no answer is more frequent than the other, whatever was left out.
        crashing = [example for example in fitting if example.crashes]
        fixed = [example for example in fitting if not example.crashes]
        in_turns = [
            example
            for pair in zip(crashing, fixed, strict=False)
            for example in pair
        ]
        if len(in_turns) < self.n:
            raise PromptError(
                f"Only {len(in_turns)} examples are of another kind than {instance_id}.",
                remedy="Show fewer: --examples.",
            )
        shown = "\n".join(
            f"----- example {number} -----\n{example.text}"
            for number, example in enumerate(in_turns[: self.n], start=1)
        )
        return Template(
            f"{template.name} with {self.n} examples",
            template.text.replace(INPUT_LINE, f"{shown}\n{INPUT_LINE}", 1),
        )

    def _is_near(self, example: ShownExample, row: pd.Series) -> bool:
        is_of_case = (
            self.benchmark == MINIBENCH and example.case_id == row["case_id"]
        )
        # Without labels nothing can be compared, and only the case itself is left out.
        is_of_kind = (
            example.library is not None
            and example.root_cause is not None
            and example.library == row["library"]
            and example.root_cause == row["root_cause"]
        )
        return is_of_case or is_of_kind


def few_shot(
    store: Store, n: int, setting: Setting, benchmark: str, template: Template
) -> FewShot:
    """The examples of a run in this setting. Raises DetectorError for a template that cannot take them."""
    if INPUT_LINE not in template.text:
        raise DetectorError(
            f"The template {template.name} does not say where examples go.",
            remedy=f"Put the line {INPUT_LINE.strip()} before the input.",
        )
    if f'"{CONFIDENCE}"' in template.text:
        raise DetectorError(
            "The examples state no confidence, which this template asks for.",
            remedy="Omit --examples, or use another template.",
        )
    cursor = store.cursor()
    pool: list[ShownExample] = []
    n_unusable = 0
    for place, case_id in enumerate(_ordered_cases(store)):
        about = cases.case(cursor, MINIBENCH, case_id) or {}
        version = (Version.REPRODUCED, Version.FIXED)[place % 2]
        try:
            text = _text(store, case_id, version, setting, about["diagnosis"])
        except PromptError:
            n_unusable += 1
            continue
        pool.append(
            ShownExample(
                case_id,
                about["library"],
                about["root_cause"],
                version is Version.REPRODUCED,
                text,
            )
        )
    known = jobs.cases_of_instances(cursor, benchmark)
    return FewShot(n, tuple(pool), n_unusable, benchmark, known)


def _ordered_cases(store: Store) -> list[str]:
    """By digest: the order of names would begin with one library."""
    known = jobs.cases_of_instances(store.cursor(), MINIBENCH)
    return sorted(
        known["case_id"].unique(),
        key=lambda case_id: hashlib.sha256(case_id.encode()).digest(),
    )


def _text(
    store: Store,
    case_id: str,
    version: Version,
    setting: Setting,
    diagnosis: str,
) -> str:
    written = prompt_of_instance(
        store, f"{case_id}_{version}", setting, benchmark=MINIBENCH
    )
    crashes = version is Version.REPRODUCED
    answer = {
        "reasoning": diagnosis if crashes else NOTHING_FAILS,
        "detection": crashes,
    }
    said = json.dumps(answer, ensure_ascii=False)
    return f"{written.body.rstrip()}\n----- its answer -----\n{said}\n"
