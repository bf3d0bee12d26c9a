"""Every pair as a page: its facts, the answers about both versions, labels; texts only where they may be shown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from crane_core.crash_place import traceback_text
from crane_core.pipeline.cases.pairs import natural_order
from crane_core.pipeline.rows import as_rows
from crane_core.site.blocks import folded, heading, links, paragraph, table
from crane_core.site.material import Collected
from crane_core.storage import cases as stored
from crane_core.ui.pair_code import code_and_state_html
from crane_core.ui.pair_facts import asked_rows, facts_html, raised_html
from crane_core.ui.pair_panel import answers_html, verdicts_html
from crane_core.ui.words import count

FOLDER = "pairs"
NO_TEXTS = (
    "These pages leave out notebook code, runtime states, messages and texts of answers, because they belong to their "
    "authors."
)
_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]+")
_TEXTS = ("reasoning", "diagnostics")


class ListedPair(NamedTuple):
    """A case and the file that is its page, within the site."""

    benchmark: str
    case: dict[str, object]
    file: str


def listed_pairs(collected: Collected) -> list[ListedPair]:
    """Every case of every benchmark, in natural order; file names are unique, whatever the cases' names."""
    cursor = collected.material.store.cursor()
    found: dict[str, ListedPair] = {}
    for benchmark in stored.benchmarks(cursor)["benchmark"]:
        for case in as_rows(natural_order(stored.case_list(cursor, benchmark))):
            stem = (
                _UNUSUAL.sub("_", f"{benchmark}-{case['case_id']}")[:80].strip(
                    "."
                )
                or "case"
            )
            # Two names that differ by case alone are one file on some machines.
            name, number = stem.lower(), 1
            while name in found:
                number += 1
                name = f"{stem.lower()}-{number}"
            found[name] = ListedPair(
                str(benchmark), case, f"{FOLDER}/{name}.html"
            )
    return list(found.values())


def pairs_blocks(
    collected: Collected, pairs: list[ListedPair]
) -> Iterator[Markup]:
    """The list, by benchmark."""
    if not collected.with_texts:
        yield paragraph(NO_TEXTS, "cw-dim")
    head = ("Case", "Library", "Root cause", "Exception", "Crash type", "Stage")
    columns = (
        "case_id",
        "library",
        "root_cause",
        "exception",
        "crash_type",
        "stage",
    )
    titles = stored.benchmarks(collected.material.store.cursor()).set_index(
        "benchmark"
    )["title"]
    for benchmark in dict.fromkeys(pair.benchmark for pair in pairs):
        mine = [pair for pair in pairs if pair.benchmark == benchmark]
        yield heading(f"{titles[benchmark]}: {count(len(mine))} pairs")
        rows = [[pair.case[name] or "–" for name in columns] for pair in mine]
        yield table(
            head,
            rows,
            texts=range(len(head)),
            targets=[pair.file for pair in mine],
        )


def pair_blocks(
    collected: Collected,
    pair: ListedPair,
    before: ListedPair | None,
    after: ListedPair | None,
) -> list[Markup]:
    """One pair; its neighbours are linked."""
    cursor, case_id = (
        collected.material.store.cursor(),
        str(pair.case["case_id"]),
    )
    case = stored.case(cursor, pair.benchmark, case_id) or {}
    verdicts = collected.material.verdicts
    verdicts = verdicts[
        (verdicts["benchmark"] == pair.benchmark)
        & (verdicts["case_id"] == case_id)
    ]
    runs = stored.runs(cursor, pair.benchmark, case_id)
    if not collected.with_texts:
        runs = runs.assign(**dict.fromkeys(_TEXTS))
    around = (
        [("← " + str(before.case["case_id"]), before.file)] if before else []
    )
    around += [(str(after.case["case_id"]) + " →", after.file)] if after else []
    blocks = [
        links([(words, f"../{file}") for words, file in around]),
        Markup(raised_html(case | {"message": None}) + facts_html(case)),
    ]
    if collected.with_texts:
        blocks += _why(case)
    blocks.append(heading("Predictions", anchor="answers"))
    blocks += _answers(runs, verdicts)
    blocks.append(heading("Code and runtime state", anchor="code"))
    if not collected.with_texts:
        return [*blocks, paragraph(NO_TEXTS)]
    cells = stored.cells(cursor, pair.benchmark, case_id)
    if cells.empty:
        return [
            *blocks,
            paragraph(
                "The code of this case was not loaded when the site was made."
            ),
        ]
    states = stored.kernel_states(cursor, pair.benchmark, case_id)
    return [
        *blocks,
        Markup(
            code_and_state_html(
                cells, states, case["traceback"], case["diagnosis"]
            )
        ),
    ]


def _why(case: dict[str, object]) -> Iterator[Markup]:
    if case["diagnosis"]:
        yield heading("Why it crashes", 3, "why")
        yield paragraph(str(case["diagnosis"]))
    if text := case["traceback"] or case["message"]:
        yield folded(
            "Traceback",
            [
                Markup('<pre class="cw-trace">{}</pre>').format(
                    traceback_text(str(text))[:20_000]
                )
            ],
        )


def _answers(runs: pd.DataFrame, verdicts: pd.DataFrame) -> Iterator[Markup]:
    if runs.empty:
        yield paragraph("No detector has predictions for this case.")
        return
    asked = asked_rows(runs, verdicts)
    yield Markup(verdicts_html(asked))
    if reasons := answers_html([*asked.imported, *asked.local]):
        yield heading("Answers, −RT and +RT", 3, "reasoning")
        yield Markup(reasons)
