"""The card of an exported dataset: its configs, columns, owners and omissions."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

MEANING = {
    "benchmarks": "where cases come from, with licence and address if known",
    "cases": "a crash and its fix: library, root cause, exception, crash type, pipeline stage",
    "instances": "the two notebooks of a case; `reproduced` crashes, `fixed` does not",
    "cells": "code cells in order of execution, with their role",
    "kernel_states": "kernel state before the target cell, as JSON",
    "prompts": "the exact inputs that detectors were shown",
    "detectors": "LLMs, static analyzers, rules",
    "verdicts": "every answer: does this detector, with this input, in this run, predict a crash?",
    "labels": "labels by annotators and LLM judges, of verdicts (run_index 0) or single runs",
    "printed_numbers": "printed cells of published tables",
    "statistics": "each statistic of a study or run: value, n, interval, method, test, p, adjusted p, family, seed",
}
_ORIGIN = """## Origin and licences

There is no single licence, because the parts have different authors. Facts of the published study come from
PELAB-LiU/crane_llm (BSD-3-Clause), PELAB-LiU/JunoBench_construct (MIT) and the benchmark JunoBench (CC-BY-4.0, Hugging
Face: PELAB-LiU/JunoBench); cite them. `minibench` and `statistics` were made by Crane Workbench (MIT). For other
benchmarks ask the person who imported them.
"""
_WITHOUT = "Texts of notebooks, messages, prompts and reasoning are not included, because they belong to their authors."
_WITH = "Texts of notebooks, messages, prompts and reasoning are included under the terms of their authors."


def card(
    n_rows: Mapping[str, int],
    schemas: Mapping[str, pa.Schema],
    known: Iterable[Mapping[str, Any]],
    *,
    with_texts: bool,
) -> str:
    """The README.md; rows and schema by config, `known` as `storage.cases.benchmarks` lists them."""
    lines = "\n".join(
        f"| {name} | {n:,} | {MEANING[name]} |" for name, n in n_rows.items()
    )
    whose = "\n".join(
        f"- {_plain(one['title'])}: {one['n_cases']:,} cases, licence {_plain(one['licence'] or 'not stated')}"
        for one in known
    )
    return (
        f"---\n{_head(schemas)}\n---\n\n# Crash prediction in notebooks\n\n"
        f"Written by Crane Workbench; `load_dataset(FOLDER, CONFIG)` reads it, and so does `crane_core import`.\n\n"
        f"{_WITH if with_texts else _WITHOUT}\n\n"
        f"| config | rows | one row is |\n|---|---|---|\n{lines}\n\n{_ORIGIN}\n{whose}\n"
    )


def _head(schemas: Mapping[str, pa.Schema]) -> str:
    """What the Hub and `load_dataset` read: the place of each config and the type of each column, by `datasets`."""
    # Imported here because it takes two seconds, which no other command should wait.
    from datasets import DatasetInfo, Features
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    configs = [
        {
            "config_name": name,
            "data_files": [{"split": "train", "path": f"{name}/*.parquet"}],
        }
        for name in schemas
    ]
    head = DatasetCardData(
        license="other", license_name="several", configs=configs
    )
    DatasetInfosDict(
        {
            name: DatasetInfo(
                config_name=name, features=Features.from_arrow_schema(schema)
            )
            for name, schema in schemas.items()
        }
    ).to_dataset_card_data(head)
    return head.to_yaml().strip()


def _plain(text: object) -> str:
    """An untrusted name on one line, without Markdown or HTML syntax."""
    return "".join(
        letter
        for letter in " ".join(str(text).split())[:200]
        if letter not in "<>[]`|*_\\"
    )
