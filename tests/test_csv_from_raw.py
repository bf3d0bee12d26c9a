"""CSV files of Results, Ablations and Agreement made again from the published files, by code that shares nothing.

Read here: the raw replies of the models, the raw reports of the analyzers and two workbooks of the archive. Computed
here with numpy, scipy, statsmodels and scikit-learn. Not made again: minimum detectable differences, bootstrap
intervals of coefficients, GEE (its oracle is statsmodels, in tests/stats), settings of the ablations whose answers the
archive lacks. Claims are made again in test_claims_from_raw.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from crane_core.domain import DetectorKind
from crane_core.pipeline.agreement.agreement import (
    ComparedVerdicts,
    agreement_table,
    common_items,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.judging.judges import labels_with_pooled_judges
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.five_runs import vote_table
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.study.table_cells import StudyTable
from crane_core.storage.store import Store
from crane_core.ui import breakdown_view, data, drops_view, gains_view
from crane_core.ui.ablation_switches import Ablated
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import STUDY, ResultChoice

pytestmark = pytest.mark.corpus
TITLES = {
    "gemini_2_5_flash": "Gemini 2.5 Flash",
    "Qwen_2_5_32B_Instruct": "Qwen2.5-32B-Instruct",
    "gpt_5": "GPT-5",
    "pylint": "pylint",
    "pyright": "pyright",
}
KINDS = {"llms": DetectorKind.LLM, "sas": DetectorKind.ANALYZER}
SETTINGS = {
    "crash_detection_code": "code",
    "crash_detection_code_runinfo": "runtime",
}
CREDIT = {"correct": 1.0, "partially correct": 0.5}
GROUPINGS = ["library_group", "root_cause", "crash_type", "stage"]
POLICIES = [(rule, credit) for rule in VoteRule for credit in Credit]
NOTHING_PRINTED = StudyTable("4a", "", "", [])
LIBRARIES = {"tensorflow", "torch", "sklearn", "pandas", "numpy", "NBspecific"}
"""Libraries with their own group; the others are one."""


@pytest.fixture(scope="module")
def archive(root: Path) -> Path:
    path = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not path.is_file():
        pytest.skip(
            "the published archive crane_llm.tar.gz is not beside the checkout"
        )
    return path


@pytest.fixture(scope="module")
def raw(archive: Path) -> pd.DataFrame:
    """One row per detector, setting and instance: votes for a crash of so many runs, people's outcome, case labels.

    An analyzer runs once, and votes for a crash where it reports anything (paper, section 4.2).
    """
    with tarfile.open(archive) as tar:
        files = {name.partition("/")[2]: name for name in tar.getnames()}

        def content(name: str) -> bytes:
            found = tar.extractfile(files[name])
            assert found is not None
            return found.read()

        outcomes = pd.read_excel(
            io.BytesIO(content("results/results_summary.xlsx")),
            sheet_name="Final_evaluation",
            engine="calamine",
        )
        facts = pd.read_excel(
            io.BytesIO(content("results/benchmark_labels.xlsx")),
            sheet_name="Labeled_reviewed",
            engine="calamine",
        ).set_index("nb_name")
        outcomes = outcomes.set_index("instance")
        place = re.compile(
            r"(?P<kind>llms|sas)/\1_outputs/results_raw/(?P<model>[^/]+)/(?P<setting>[^/]+)/(?:[^/]+/)*(?P<id>[^/]+)\.json"
        )
        rows = []
        for name in files:
            if match := place.fullmatch(name):
                answers = json.loads(content(name))
                said = (
                    [answer["detection"] for answer in answers]
                    if match["kind"] == "llms"
                    else [bool(answers)]
                )
                case, _, version = match["id"].rpartition("_")
                outcome = outcomes.loc[
                    match["id"], f"{match['model']}_{match['setting']}"
                ]
                rows.append(
                    {
                        "detector_title": TITLES[match["model"]],
                        "setting": SETTINGS[match["setting"]],
                        "instance": match["id"],
                        "case": case,
                        "truth": version == "reproduced",
                        "kind": KINDS[match["kind"]],
                        "votes": sum(said),
                        "runs": len(said),
                        "outcome": outcome,
                        "library_group": library
                        if (library := case.partition("_")[0]) in LIBRARIES
                        else "other",
                        "crash_type": facts.loc[case, "label_refined_exp_type"],
                        "root_cause": facts.loc[case, "label_root_cause"],
                        "stage": facts.loc[case, "label_ML_pipeline"],
                    }
                )
    return pd.DataFrame(rows).sort_values("instance", ignore_index=True)


@pytest.fixture(scope="module")
def store(
    archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    folder = DataFolder(tmp_path_factory.mktemp("raw"))
    import_paths([archive], folder)
    store = prepare(folder)
    yield store
    store.close()


Csv = dict[str, pd.DataFrame]
Groups = dict[tuple[str, ...], pd.DataFrame]


@pytest.fixture
def csv(store: Store, monkeypatch: pytest.MonkeyPatch) -> Csv:
    """What the pages offer as CSV while they are drawn, by the name of the file, as it is read again."""
    frame = verdict_frame(store)
    monkeypatch.setattr(data, "store", lambda: store)
    monkeypatch.setattr(data, "verdicts", lambda: frame)
    monkeypatch.setattr(data, "answers", lambda: "raw")
    monkeypatch.setattr(
        data,
        "printed_numbers",
        lambda: pd.DataFrame(columns=["publication", "table_id", "column"]),
    )
    taken: Csv = {}

    def take(figure: ChartFigure, **_: object) -> None:
        csv = figure.numbers.to_csv(index=False)
        taken[figure.name] = pd.read_csv(io.StringIO(csv))

    for view in (gains_view, breakdown_view, drops_view):
        monkeypatch.setattr(view, "draw_figure", take)
    monkeypatch.setattr(
        drops_view,
        "tables",
        lambda: dict.fromkeys(drops_view.TABLES, NOTHING_PRINTED),
    )
    monkeypatch.setattr(data, "run_list", lambda: run_list(store, frame))
    st.cache_data.clear()
    st.cache_resource.clear()
    return taken


def counts(raw: pd.DataFrame, rule: VoteRule, credit: Credit) -> pd.DataFrame:
    """tp, fp, tn, fn of each row, which add up to 1."""
    share = {
        VoteRule.MAJORITY: (2 * raw["votes"] > raw["runs"]).astype(float),
        VoteRule.MEAN: raw["votes"] / raw["runs"],
        VoteRule.ALL: (raw["votes"] == raw["runs"]).astype(float),
    }[rule]
    worth = (
        raw["outcome"]
        .map(
            {
                "correct": 1.0,
                "partially correct": 0.5 if credit is Credit.HALF else 0.0,
            }
        )
        .fillna(0.0)
    )
    if credit is Credit.DETECTION:
        worth = pd.Series(1.0, raw.index)
    tp = share * worth * raw["truth"]
    return raw.assign(
        tp=tp,
        fn=raw["truth"] - tp,
        fp=share * ~raw["truth"],
        tn=(1 - share) * ~raw["truth"],
    )


PARTS: dict[str, Callable[[pd.DataFrame], tuple[pd.Series, pd.Series]]] = {
    "Accuracy": lambda of: (
        of["tp"] + of["tn"],
        of["tp"] + of["tn"] + of["fp"] + of["fn"],
    ),
    "Recall": lambda of: (of["tp"], of["tp"] + of["fn"]),
    "Precision": lambda of: (of["tp"], of["tp"] + of["fp"]),
    "F1": lambda of: (2 * of["tp"], 2 * of["tp"] + of["fp"] + of["fn"]),
}


def rate(of: pd.DataFrame, name: str) -> dict[str, float]:
    """The rate with Wilson's interval for the effective sample size by case."""
    part, whole = PARTS[name](of)
    kept = whole > 0
    part, whole, case = part[kept], whole[kept], of["case"][kept]
    if not len(whole):
        return {"value": np.nan, "low": np.nan, "high": np.nan, "n": 0}
    value = part.sum() / whole.sum()
    by_case = (part - value * whole).groupby(case).sum().round(9)
    weight = whole.groupby(case).sum()
    n_cases = len(by_case)
    fewest, most = (
        weight.sum() ** 2 / (weight**2).sum(),
        whole.sum() ** 2 / (whole**2).sum(),
    )
    variance = (
        n_cases / max(n_cases - 1, 1) * (by_case**2).sum() / whole.sum() ** 2
    )
    effective = min(
        max(value * (1 - value) / variance if variance > 0 else fewest, fewest),
        max(most, fewest),
    )
    if n_cases == 1:
        return {"value": value, "low": 0.0, "high": 1.0, "n": len(whole)}
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, n_cases - 1))
    low, high = proportion_confint(
        value * effective, effective, alpha=alpha, method="wilson"
    )
    return {"value": value, "low": low, "high": high, "n": len(whole)}


def change(a: pd.DataFrame, b: pd.DataFrame) -> dict[str, float]:
    """Accuracy b minus a: interval with one imaginary case, exact McNemar, sign flips of whole cases."""
    one, other = (
        PARTS["Accuracy"](of.set_index("instance"))[0] for of in (a, b)
    )
    moved = (other - one).reindex(one.index)
    case = a.set_index("instance")["case"]
    by_case, size = moved.groupby(case).sum(), case.groupby(case).size()
    n, k, difference = len(by_case), len(case) / len(size), moved.mean()
    left = n * (by_case - difference * size) / len(case)
    middle = n * difference / (n + 1)
    variance = ((left**2).sum() + n * difference**2 + 1 / max(k, 1)) / (
        n + 1
    ) - middle**2
    reach = (
        stats.t.ppf(0.975, n - 1) * sqrt(variance / (n + 1))
        if n > 1
        else np.inf
    )
    gained, lost = int((moved > 0).sum()), int((moved < 0).sum())
    return {
        "difference": difference,
        "low": max(min(middle - reach, difference), -1),
        "high": min(max(middle + reach, difference), 1),
        "gained": gained,
        "lost": lost,
        "mcnemar": stats.binomtest(gained, gained + lost).pvalue
        if gained + lost
        else 1.0,
        "by_case": flips(by_case),
    }


def flips(sums: pd.Series) -> float:
    """The share of all sign patterns whose sum is as far from 0, counted sum by sum in tenths of a vote."""
    steps = [round(10 * abs(value)) for value in sums if abs(value) > 1e-9]
    if not steps:
        return 1.0
    chance: dict[int, float] = {0: 1.0}
    for step in steps:
        after: dict[int, float] = defaultdict(float)
        for total, share in chance.items():
            after[total + step] += share / 2
            after[total - step] += share / 2
        chance = after
    observed = abs(round(10 * sums.sum()))
    return min(
        1.0,
        sum(share for total, share in chance.items() if abs(total) >= observed),
    )


def close(found: Any, expected: Any) -> bool:
    return bool(
        np.allclose(
            float(found), float(expected), rtol=0, atol=1e-9, equal_nan=True
        )
    )


def same(row: dict[str, Any], what: object, expected: dict[str, Any]) -> None:
    """Each of these columns of the row has this number."""
    wrong = [
        name for name, value in expected.items() if not close(row[name], value)
    ]
    assert wrong == [], what


def within(moved: dict[str, float], *names: str) -> dict[str, float]:
    return {name: moved[name] for name in names}


def adjusted(mine: dict[str, dict[str, float]], test: str) -> dict[str, float]:
    """Holm's p of a test, by detector."""
    p_values = [one[test] for one in mine.values()]
    return dict(
        zip(mine, multipletests(p_values, method="holm")[1], strict=True)
    )


def in_groups(
    raw: pd.DataFrame, kind: DetectorKind, by: str, credit: Credit
) -> Groups:
    """Counts by group, detector and setting; groups are compared without regard to case."""
    meant = raw[raw["kind"] == kind]
    meant = meant.assign(**{by: meant[by].str.strip().str.lower()})
    rows = counts(meant, VoteRule.MAJORITY, credit)
    return dict(iter(rows.groupby([by, "detector_title", "setting"])))


def are_adjusted_together(table: pd.DataFrame) -> bool:
    p_bh = multipletests(table["p_value"], method="fdr_bh")[1]
    return bool(np.allclose(table["p_bh"], p_bh, rtol=0, atol=1e-9))


@pytest.mark.parametrize("kind", list(KINDS.values()))
@pytest.mark.parametrize(("rule", "credit"), POLICIES)
def test_headline(
    raw: pd.DataFrame,
    csv: Csv,
    rule: VoteRule,
    credit: Credit,
    kind: DetectorKind,
) -> None:
    gains_view.draw_gains(ResultChoice("junobench", STUDY, kind, rule, credit))
    rows = counts(raw[raw["kind"] == kind], rule, credit)
    is_share = rule is VoteRule.MEAN or credit is Credit.HALF
    settings = dict(iter(rows.groupby(["detector_title", "setting"])))
    mine = {
        title: change(settings[title, "code"], settings[title, "runtime"])
        for title, _ in settings
    }
    test = "by_case" if is_share else "mcnemar"
    holm = adjusted(mine, test)
    table = csv["accuracy_gain"]
    assert len(table) == 2 * len(mine)
    for row in table.to_dict("records"):
        title, setting = row["detector_title"], row["setting"]
        moved = mine[title]
        same(row, title, rate(settings[title, setting], "Accuracy"))
        same(row, title, of_change(moved, test) | {"p_holm": holm[title]})
        if not is_share:
            same(row, title, within(moved, "gained", "lost"))


def of_change(moved: dict[str, float], test: str) -> dict[str, float]:
    """Columns of a change where those of a rate stand beside it."""
    return {
        "difference": moved["difference"],
        "low_of_change": moved["low"],
        "high_of_change": moved["high"],
        "p_value": moved[test],
        "p_by_case": moved["by_case"],
    }


@pytest.mark.parametrize("by", GROUPINGS)
@pytest.mark.parametrize("name", ["Accuracy", "Recall", "Precision", "F1"])
@pytest.mark.parametrize("kind", list(KINDS.values()))
def test_breakdown(
    raw: pd.DataFrame, csv: Csv, by: str, name: str, kind: DetectorKind
) -> None:
    chosen = ResultChoice(
        "junobench", STUDY, kind, VoteRule.MAJORITY, Credit.STRICT
    )
    breakdown_view.draw_bars(chosen, by=by, rate=name)
    groups = in_groups(raw, kind, by, Credit.STRICT)
    [table] = csv.values()
    assert len(table) == len(groups)
    for row in table.to_dict("records"):
        key = (row[by].lower(), row["detector_title"])
        same(row, key, rate(groups[(*key, row["setting"])], name))
        if name == "Accuracy":
            moved = change(groups[(*key, "code")], groups[(*key, "runtime")])
            same(row, key, of_change(moved, "mcnemar"))
    if name == "Accuracy":
        assert are_adjusted_together(
            table.drop_duplicates([by, "detector_title"])
        )


@pytest.mark.parametrize("kind", list(KINDS.values()))
def test_drops(raw: pd.DataFrame, csv: Csv, kind: DetectorKind) -> None:
    drops_view.draw_drops(Ablated("junobench", STUDY, str(kind), "Accuracy"))
    rows = counts(raw[raw["kind"] == kind], VoteRule.MAJORITY, Credit.DETECTION)
    settings = dict(iter(rows.groupby(["detector_title", "setting"])))
    mine = {
        title: change(settings[title, "runtime"], settings[title, "code"])
        for title, _ in settings
    }
    holm, by_case = adjusted(mine, "mcnemar"), adjusted(mine, "by_case")
    [table] = csv.values()
    assert len(table) == len(mine)
    for row in table.to_dict("records"):
        title = row["detector_title"]
        moved = mine[title]
        assert (row["setting"], row["reference_setting"]) == ("code", "runtime")
        same(
            row,
            title,
            within(moved, "difference", "low", "high", "gained", "lost"),
        )
        others = {
            "reference": rate(settings[title, "runtime"], "Accuracy")["value"],
            "value": rate(settings[title, "code"], "Accuracy")["value"],
            "p_value": moved["mcnemar"],
            "p_by_case": moved["by_case"],
            "p_holm": holm[title],
            "p_by_case_holm": by_case[title],
        }
        same(row, title, others)


@pytest.mark.parametrize("by", GROUPINGS)
@pytest.mark.parametrize("kind", list(KINDS.values()))
def test_drops_by_group(
    raw: pd.DataFrame, csv: Csv, by: str, kind: DetectorKind
) -> None:
    asked = Ablated("junobench", STUDY, str(kind), "Accuracy")
    drops_view.draw_groups(asked, by=by, setting="code")
    groups = in_groups(raw, kind, by, Credit.DETECTION)
    [table] = csv.values()
    assert len(table) == len(groups) / 2
    for row in table.to_dict("records"):
        key = (row[by].lower(), row["detector_title"])
        moved = change(groups[(*key, "runtime")], groups[(*key, "code")])
        same(row, key, within(moved, "difference", "low", "high"))
        same(
            row,
            key,
            {"p_value": moved["mcnemar"], "p_by_case": moved["by_case"]},
        )
    assert are_adjusted_together(table)


def test_votes(raw: pd.DataFrame, store: Store) -> None:
    frame = verdict_frame(store)
    votes = vote_table(
        frame[
            (frame["experiment"] == STUDY) & (frame["detector_kind"] == "llm")
        ]
    )
    groups = (
        raw[raw["kind"] == DetectorKind.LLM]
        .groupby(["detector_title", "votes"])["truth"]
        .agg(["sum", "size"])
    )
    assert len(votes) == len(groups)
    for row in votes.to_dict("records"):
        n_real, n = groups.loc[(row["detector_title"], row["votes"])]
        assert (row["n_real"], row["n"]) == (n_real, n)
        assert close(row["value"], n_real / n)


def test_agreement_of_people_with_the_judge(
    raw: pd.DataFrame, store: Store, archive: Path, tmp_path: Path
) -> None:
    labels = labels_with_pooled_judges(store, DataFolder(tmp_path))
    judge = "published judge, all repetitions"
    items = common_items(
        labelled_verdicts(labels, verdict_frame(store)),
        ["published human", judge],
        ComparedVerdicts.DIAGNOSES,
    )
    table = agreement_table(items).set_index("coefficient")["value"]
    with tarfile.open(archive) as tar:
        name = next(
            name
            for name in tar.getnames()
            if name.endswith("/results_parsed_summary_llms.xlsx")
        )
        found = tar.extractfile(name)
        assert found is not None
        said = pd.read_excel(
            io.BytesIO(found.read()), engine="calamine"
        ).set_index("instance")
    models = {title: model for model, title in TITLES.items()}
    settings = {setting: name for name, setting in SETTINGS.items()}
    crashes = raw[
        raw["truth"] & (raw["votes"] >= 3) & (raw["kind"] == DetectorKind.LLM)
    ]
    pairs = [
        (
            row["outcome"],
            str(
                said.loc[
                    row["instance"],
                    f"{models[row['detector_title']]}_{settings[row['setting']]}",
                ]
            ),
        )
        for row in crashes.to_dict("records")
    ]
    scale = ["correct", "partially correct", "reasoning wrong"]
    kept = [(a, b) for a, b in pairs if a in scale and b in scale]
    people, judges = zip(*kept, strict=True)
    assert len(kept) == len(items.facts)
    assert close(
        table["Cohen's kappa"], cohen_kappa_score(people, judges, labels=scale)
    )
    linear = cohen_kappa_score(people, judges, labels=scale, weights="linear")
    assert close(table["Cohen's kappa, linear weights"], linear)
    assert close(table["Percent agreement"], np.mean([a == b for a, b in kept]))
