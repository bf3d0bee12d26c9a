"""The embedded tables of the published study: same as the archives give, complete, in the known vocabularies."""

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "data" / "published"
ARCHIVES = ROOT.parent / "shared" / "upstream"
DERIVED = (
    "cases.csv",
    "detections.csv",
    "input_tokens.csv",
    "outcomes.csv",
    "skipped.csv",
    "workbook_numbers.csv",
)
RUNS = [f"run_{index}" for index in range(1, 6)]
LLMS = ["gemini-2.5-flash", "gpt-5", "qwen-2.5-32b-instruct"]

ROOT_CAUSES = {
    "API misuse": 45,
    "data confusion": 25,
    "NB specific": 20,
    "implementation error": 18,
    "ML model confusion": 2,
    "library cause": 1,
}
STAGES = {
    "training": 31,
    "data preparation": 30,
    "evaluation/prediction": 21,
    "data visualization": 20,
    "model construction": 9,
}
EXCEPTIONS = {
    "valueerror": 37,
    "typeerror": 20,
    "nameerror": 13,
    "keyerror": 11,
    "runtimeerror": 9,
    "attributeerror": 8,
    "indexerror": 7,
    "invalidargumenterror": 4,
    "notfittederror": 1,
    "axiserror": 1,
}
CRASH_TYPES = {
    "invalid argument": 21,
    "tensor shape mismatch": 16,
    "key error": 11,
    "value error": 11,
    "variable not found": 10,
    "index error": 8,
    "attribute error": 8,
    "data value violation": 7,
    "unsupported broadcast": 5,
    "type error": 4,
    "module not found": 3,
    "runtime error": 3,
    "feature name mismatch": 2,
    "io error": 1,
    "model initialization error": 1,
}
LIBRARIES = dict.fromkeys(
    ("pandas", "numpy", "sklearn", "torch", "tensorflow"), 15
) | {
    "NBspecific": 20,
    "matplotlib": 6,
    "seaborn": 6,
    "statsmodels": 2,
    "lightgbm": 1,
    "torchvision": 1,
}


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / name, dtype=str, keep_default_na=False)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "published_make", PUBLISHED / "make.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(
    not ARCHIVES.is_dir(),
    reason="the published archives are not beside this checkout",
)
def test_the_archives_give_the_same_bytes(tmp_path: Path) -> None:
    generator().make(ARCHIVES, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(DERIVED)
    for name in DERIVED:
        assert (tmp_path / name).read_bytes() == (
            PUBLISHED / name
        ).read_bytes(), name


@pytest.mark.parametrize(
    "path", sorted(PUBLISHED.glob("*.csv")), ids=lambda path: path.name
)
def test_files_are_utf8_with_line_feeds_and_no_duplicate_row(
    path: Path,
) -> None:
    content = path.read_bytes()
    assert b"\r" not in content
    lines = content.decode("utf-8").splitlines()
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ("library", LIBRARIES),
        ("root_cause", ROOT_CAUSES),
        ("stage", STAGES),
        ("exception", EXCEPTIONS),
        ("crash_type", CRASH_TYPES),
    ],
)
def test_111_cases_in_the_benchmarks_vocabularies(
    column: str, counts: dict[str, int]
) -> None:
    assert Counter(table("cases.csv")[column]) == counts
    assert sum(counts.values()) == 111


def test_every_detector_and_setting_has_every_instance() -> None:
    instances = {
        f"{case}_{version}"
        for case in table("cases.csv")["case_id"]
        for version in ("reproduced", "fixed")
    }
    assert len(instances) == 222
    study = table("detections.csv").query("experiment == 'crane-llm-2025-10'")
    groups = {
        key: set(rows["instance"])
        for key, rows in study.groupby(["detector", "setting"])
    }
    assert len(groups) == 10
    assert all(found == instances for found in groups.values())


def test_6660_llm_answers_and_one_run_per_analyzer() -> None:
    study = table("detections.csv").query("experiment == 'crane-llm-2025-10'")
    llms = study[study["detector"].isin(LLMS)]
    analyzers = study[study["detector"].isin(["pylint", "pyright"])]
    assert len(llms) == 6 * 222
    assert Counter(llms[RUNS].to_numpy().ravel()).keys() == {"0", "1"}
    assert llms[RUNS].size == 6660
    assert set(analyzers["run_1"]) == {"0", "1"}
    assert set(analyzers[RUNS[1:]].to_numpy().ravel()) == {""}


def test_analyzers_report_in_the_known_number_of_files() -> None:
    analyzers = table("detections.csv").query(
        "detector in ['pylint', 'pyright'] and run_1 == '1'"
    )
    found = Counter(
        zip(analyzers["detector"], analyzers["setting"], strict=True)
    )
    assert found == {
        ("pylint", "code"): 41,
        ("pylint", "runtime"): 40,
        ("pyright", "code"): 125,
        ("pyright", "runtime"): 130,
    }


def test_junobench_llm_has_two_unreadable_replies_and_three_skipped_cases() -> (
    None
):
    replies = table("detections.csv").query(
        "experiment == 'junobench-construct'"
    )
    assert len(replies) == 216
    unread = replies[(replies[RUNS] == "").any(axis=1)]
    assert sorted(unread["instance"]) == [
        "sklearn_3_fixed",
        "torch_4_reproduced",
    ]
    assert int((replies[RUNS] == "").to_numpy().sum()) == 2
    skipped = table("skipped.csv")
    assert {name.rpartition("_")[0] for name in skipped["instance"]} == {
        "numpy_7",
        "numpy_8",
        "torch_6",
    }
    assert not set(skipped["instance"]) & set(replies["instance"])


def test_outcomes_use_our_labels_and_fixed_instances_only_two_of_them() -> None:
    outcomes = table("outcomes.csv")
    assert len(outcomes) == 2220
    assert set(outcomes["label"]) == {
        "correct",
        "partial",
        "wrong",
        "misdetected",
    }
    fixed = outcomes[outcomes["instance"].str.endswith("_fixed")]
    assert set(fixed["label"]) == {"correct", "misdetected"}


def test_numbers_are_one_cell_each_in_known_units() -> None:
    numbers = pd.concat(
        [table(path.name) for path in sorted(PUBLISHED.glob("*_numbers.csv"))]
    )
    assert not numbers.duplicated(
        ["publication", "table_id", "row", "column"]
    ).any()
    assert set(numbers["unit"]) == {"count", "percent", "share", "tokens"}
    assert numbers["printed"].str.fullmatch(r"\d+(\.\d+)?%?").all()
    assert (
        numbers["printed"].str.endswith("%") == (numbers["unit"] == "percent")
    ).all()
    sizes = numbers.groupby("table_id").size().to_dict()
    paper = {"1": 21, "2a": 24, "2b": 24, "3": 18, "4a": 24, "4b": 12, "5": 8}
    assert sizes == paper | {
        "libraries": 624,
        "analyzers": 407,
        "junobench-llms": 96,
    }


def test_typed_totals_are_the_sums_of_their_rows() -> None:
    readme = table("readme_numbers.csv").assign(
        printed=lambda frame: frame["printed"].astype(int)
    )
    readme[["title", "group"]] = readme["row"].str.split(", ", expand=True)
    is_total = readme["group"] == "total"
    sums = readme[~is_total].groupby(["title", "column"])["printed"].sum()
    assert (
        sums.to_dict()
        == readme[is_total].set_index(["title", "column"])["printed"].to_dict()
    )
    strata = (
        table("paper_numbers.csv")
        .query("table_id == '1'")
        .pivot(index="row", columns="column", values="printed")
    )
    whole = strata[["Applicable cases", "Sampled cases"]].astype(int)
    assert whole.drop("Total").sum().equals(whole.loc["Total"])
