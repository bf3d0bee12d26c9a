"""Our rules' answers on the published states, as they ship: complete, without a false alarm, made again to the byte."""

from __future__ import annotations

import importlib.util
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from crane_core.detectors import rules_detector
from crane_core.domain import Detector
from crane_core.importers.published_detectors import detector_with_id
from crane_core.importers.published_rules import DETECTOR, EXPERIMENT, TABLE
from crane_core.pipeline.results.beside import beside
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.storage.store import Store

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "data" / "published" / TABLE
ARCHIVE = ROOT.parent / "shared" / "upstream" / "crane_llm.tar.gz"


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "rules_on_published", ROOT / "tools" / "rules_on_published.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rules(embedded_store: Store) -> pd.DataFrame:
    frame = verdict_frame(embedded_store)
    return frame[frame["experiment"] == EXPERIMENT]


@pytest.mark.corpus
@pytest.mark.skipif(
    not ARCHIVE.is_file(),
    reason="the published archive is not beside this checkout",
)
@pytest.mark.skipif(
    find_spec("torch") is None,
    reason="torch is asked about shapes, and is not installed",
)
def test_todays_rules_give_the_same_bytes(tmp_path: Path) -> None:
    maker().make(ARCHIVE, tmp_path / TABLE)
    assert (tmp_path / TABLE).read_bytes() == SHIPPED.read_bytes()


def test_the_detector_is_the_one_that_runs_here() -> None:
    assert detector_with_id(DETECTOR) == Detector(
        rules_detector.NAME, rules_detector.TITLE, rules_detector.KIND
    )


def test_every_instance_in_both_settings_and_no_false_alarm(
    rules: pd.DataFrame,
) -> None:
    assert rules.groupby("setting").size().to_dict() == {
        "code": 222,
        "runtime": 222,
    }
    assert rules["human"].isna().all()
    by = ["setting"]
    rates = {
        name: rate_table(
            rules,
            by=by,
            rate=name,
            rule=VoteRule.MAJORITY,
            credit=Credit.DETECTION,
        ).set_index("setting")
        for name in ("Precision", "Recall", "Accuracy")
    }
    found = {
        name: table["part"].astype(int).to_dict()
        for name, table in rates.items()
    }
    assert found["Recall"] == {"code": 22, "runtime": 49}
    assert found["Accuracy"] == {"code": 133, "runtime": 160}
    assert rates["Precision"]["value"].tolist() == [1.0, 1.0]


def test_what_ships_is_class_and_line_alone() -> None:
    lines = pd.read_csv(SHIPPED, dtype=str, keep_default_na=False)
    crashing = lines[lines["crashes"] == "1"]
    assert crashing["exception"].str.fullmatch(r"[A-Z][A-Za-z]+").all()
    assert crashing["line"].str.fullmatch(r"[1-9]\d{0,2}").all()
    assert (
        lines.loc[lines["crashes"] == "0", ["exception", "line"]] == ""
    ).all(axis=None)


def test_they_stand_beside_the_study_and_mix_with_no_one(
    embedded_store: Store, rules: pd.DataFrame
) -> None:
    frame = verdict_frame(embedded_store)
    job = rules.assign(experiment="rules-code-junobench-0123abcd")
    shown = beside(
        pd.concat([frame, job]),
        STUDY,
        ["rules-code-junobench-0123abcd", EXPERIMENT],
    )
    sizes = (
        shown[shown["detector_kind"] == "rules"]
        .groupby("detector_title")
        .size()
        .to_dict()
    )
    assert sizes == {
        "Certain-crash rules": 444,
        "Certain-crash rules (own)": 444,
    }
    assert set(frame.loc[frame["experiment"] == STUDY, "detector_kind"]) == {
        "llm",
        "analyzer",
    }
