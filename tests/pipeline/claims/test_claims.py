"""The claims of the paper's text against the published answers: which hold, which do not, which cannot be tested."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.campaigns.label_frame import COLUMNS, KEY
from crane_core.pipeline.claims.changes import (
    Conditions,
    MissingAnswersError,
    contrast,
)
from crane_core.pipeline.claims.claims import (
    CheckedClaim,
    checked_claims,
    interval_words,
    loaded_from,
    loaded_in,
    published_claims,
)
from crane_core.pipeline.claims.formats import (
    HEADER,
    render_claims,
    verdict_counts,
)
from crane_core.pipeline.claims.quantities import (
    ARCHIVE,
    LATER,
    SECOND_EVALUATOR,
    Loaded,
)
from crane_core.pipeline.claims.terms import read_contrasts, read_fields
from crane_core.pipeline.claims.verdicts import ClaimKind, ClaimVerdict
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.results.measures import (
    Credit,
    VoteRule,
    change_table,
    gain_table,
)
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.measured_tables import complete_rows
from crane_core.pipeline.study.printed_counts import (
    COLUMN_SIGNS,
    TABLES,
    printed_counts,
)
from crane_core.pipeline.study.table_cells import PERCENT
from crane_core.pipeline.study.table_formats import Format
from crane_core.pipeline.study.table_scores import (
    STUDY,
    STUDY_LLMS,
    detected,
    truth,
)
from crane_core.rounding import rounded
from crane_core.site.claims import claims_blocks
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

CLAIMS = published_claims()
GEMINI, QWEN, GPT_5 = STUDY_LLMS


@pytest.fixture(scope="module")
def loaded(embedded_store: Store, prepared_folder: DataFolder) -> Loaded:
    return loaded_in(embedded_store, prepared_folder)


@pytest.fixture(scope="module")
def checked(loaded: Loaded) -> dict[str, CheckedClaim]:
    return {one.claim.id: one for one in checked_claims(loaded, CLAIMS)}


def about(
    checked: dict[str, CheckedClaim], quantity: str, of: str
) -> CheckedClaim:
    """The last claim of this quantity: those in words come after those with a number."""
    return [
        one
        for one in checked.values()
        if one.claim.quantity == quantity and one.claim.of == of
    ][-1]


def test_every_claim_is_a_row_with_a_name_of_its_own() -> None:
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) > 100
    assert all(
        claim.claim and claim.place and claim.unit and claim.quantity
        for claim in CLAIMS
    )
    without_number = {
        ClaimKind.RISES,
        ClaimKind.FALLS,
        ClaimKind.DOES_NOT_RISE,
        ClaimKind.SIMILAR,
    }
    assert all(
        (claim.kind in without_number) == (claim.stated == "")
        for claim in CLAIMS
    )


def test_every_claim_has_a_verdict_from_the_embedded_data(
    checked: dict[str, CheckedClaim],
) -> None:
    for one in checked.values():
        assert (
            bool(one.estimates) == (one.decisive is not None) == bool(one.basis)
        ), one
        assert one.why or one.verdict is ClaimVerdict.HOLDS, one
    assert sum(verdict_counts(list(checked.values())).values()) == len(CLAIMS)


@pytest.mark.parametrize(
    ("of", "stated", "exact", "verdict"),
    [
        (
            f"rate=F1 detector={GEMINI}",
            "+8.1",
            "8.04",
            ClaimVerdict.ROUNDS_DIFFERENTLY,
        ),
        (
            f"rate=Accuracy detector={QWEN}",
            "+9.4",
            "9.46",
            ClaimVerdict.ROUNDS_DIFFERENTLY,
        ),
        (
            f"rate=Accuracy score=detection from=runtime to=runtime-R detector={GEMINI}",
            "-1.4",
            str(Fraction(-135, 100)),
            ClaimVerdict.HOLDS,
        ),
        (
            f"rate=F1 score=detection from=runtime to=runtime+docs detector={GPT_5}",
            "-0.9",
            "-1.10",
            ClaimVerdict.CONTRADICTED,
        ),
        (
            f"rate=Recall detector={QWEN}",
            "+5.4",
            "5.41",
            ClaimVerdict.WITHIN_NOISE,
        ),
        (
            f"rate=Precision detector={QWEN}",
            "+16.3",
            "16.31",
            ClaimVerdict.HOLDS,
        ),
    ],
)
def test_known_differences(
    checked: dict[str, CheckedClaim],
    of: str,
    stated: str,
    exact: str,
    verdict: ClaimVerdict,
) -> None:
    """Of Gemini without representation the printed cells differ by 1.3 (73.4 - 72.1), the counts by 3 of 222: 1.35."""
    one = about(checked, "change", of)
    assert one.claim.stated == stated
    assert one.decisive is not None
    assert rounded(one.decisive.value, 2) == Fraction(exact)
    assert one.verdict is verdict


def test_claims_in_words(checked: dict[str, CheckedClaim]) -> None:
    qwen_first = f"detector={QWEN} vs detector={GEMINI}|{GPT_5}"
    f1 = about(checked, "change", f"rate=F1 {qwen_first}")
    assert (f1.verdict, "not observed: vs gpt-5 (1 of 2)" in f1.why) == (
        ClaimVerdict.WITHIN_NOISE,
        True,
    )
    assert (
        about(checked, "change", f"rate=Accuracy {qwen_first}").verdict
        is ClaimVerdict.WITHIN_NOISE
    )
    assert (
        about(checked, "change", "rate=Accuracy detector=each").verdict
        is ClaimVerdict.HOLDS
    )
    pronounced = about(
        checked, "change", "rate=Accuracy detector=each vs score=detection"
    )
    assert pronounced.verdict is ClaimVerdict.WITHIN_NOISE
    assert [float(one.value) for one in pronounced.estimates] == pytest.approx(
        [300 / 222, 300 / 222, 700 / 222]
    )


def test_a_maximum_has_no_interval(checked: dict[str, CheckedClaim]) -> None:
    largest = [
        one
        for one in checked.values()
        if one.claim.quantity == "largest change"
    ]
    assert len(largest) == 5
    for one in largest:
        assert one.decisive is not None
        assert (interval_words(one), one.decisive.has_interval) == ("", False)
        assert "has no ordinary interval" in one.why


def test_what_does_not_rise_needs_a_bound(
    checked: dict[str, CheckedClaim],
) -> None:
    """Of 15 cases an interval reaches 15 points, and without the answers there is none."""
    told = {
        name: one.verdict
        for name, one in checked.items()
        if one.claim.kind is ClaimKind.DOES_NOT_RISE
    }
    noise = dict.fromkeys(("5.2-6", "5.2-9"), ClaimVerdict.WITHIN_NOISE)
    assert told == noise | {"5.4-3": ClaimVerdict.NOT_TESTABLE}


@pytest.mark.parametrize(
    ("name", "verdict", "why"),
    [
        (
            "6.4-7",
            ClaimVerdict.CONTRADICTED,
            "52 of them save time, and the 5 that save most make up 52% of the sum",
        ),
        (
            "6.1-6",
            ClaimVerdict.CONTRADICTED,
            "it is 1; found by gemini-2.5-flash (and a crash of the fixed version too)",
        ),
        (
            "6.4-6",
            ClaimVerdict.CONTRADICTED,
            "it is 2; found by qwen-2.5-32b-instruct (and a crash of the fixed version",
        ),
        ("5.3-23", ClaimVerdict.NOT_TESTABLE, "the signs are as stated"),
        (
            "5.2-26",
            ClaimVerdict.WITHIN_NOISE,
            "a difference of 5 pp is not excluded",
        ),
        ("5.2-27", ClaimVerdict.HOLDS, ""),
        ("6.4-8", ClaimVerdict.HOLDS, "one recorded query"),
    ],
)
def test_claims_about_time_source_code_and_categories(
    checked: dict[str, CheckedClaim], name: str, verdict: ClaimVerdict, why: str
) -> None:
    assert (checked[name].verdict, why in checked[name].why) == (verdict, True)


def test_the_time_of_the_median_crash_by_hand(
    checked: dict[str, CheckedClaim],
) -> None:
    times = pd.read_csv(embedded()["published"] / "times.csv").dropna()
    saved = (times["seconds_before"] - times["seconds_of_query"]).sort_values()
    assert checked["6.4-7"].decisive is not None
    assert float(checked["6.4-7"].decisive.value) == saved.iloc[55] < 0
    assert (len(saved), (saved > 0).sum()) == (111, 52)
    assert saved.iloc[-5:].sum() / saved.sum() == pytest.approx(
        0.5246, abs=5e-5
    )


def test_every_face_says_that_intervals_are_unadjusted(
    checked: dict[str, CheckedClaim],
) -> None:
    both = [checked["5.1-1"], checked["5.2-14"]]
    for fmt in (Format.MD, Format.JSON, Format.LATEX):
        assert "Intervals are unadjusted" in render_claims(both, fmt)
    rows = list(csv.DictReader(io.StringIO(render_claims(both, Format.CSV))))
    assert [(bool(row["interval"]), row["adjustment"]) for row in rows] == [
        (True, "none"),
        (False, ""),
    ]
    assert "Intervals are unadjusted" in str(list(claims_blocks(both)))


def test_changes_and_intervals_are_those_of_the_results_page(
    loaded: Loaded,
) -> None:
    study = loaded.verdicts[loaded.verdicts["experiment"] == STUDY]
    for rate in ("Accuracy", "Recall", "F1", "Precision"):
        gains = gain_table(
            study, rule=VoteRule.MAJORITY, credit=Credit.STRICT, rate=rate
        ).set_index("detector")
        for asked in read_contrasts(f"rate={rate} detector=each"):
            found = contrast(loaded.conditions, asked.name, asked.terms)
            expected = (
                gains.loc[asked.name, ["difference", "low", "high"]].to_numpy(
                    dtype=float
                )
                * PERCENT
            )
            assert (float(found.value), found.low, found.high) == pytest.approx(
                tuple(expected)
            )


def test_changes_of_a_group_are_those_of_figure_5(loaded: Loaded) -> None:
    study = loaded.verdicts[loaded.verdicts["experiment"] == STUDY]
    table = change_table(
        study,
        by="root_cause",
        rate="Recall",
        rule=VoteRule.MAJORITY,
        credit=Credit.STRICT,
    )
    table = table.set_index(["root_cause", "detector"])
    (asked,) = read_contrasts(
        f"rate=Recall 'root_cause=API misuse' detector={GPT_5}"
    )
    found = contrast(loaded.conditions, asked.name, asked.terms)
    expected = (
        table.loc[
            ("API misuse", GPT_5), ["difference", "low", "high"]
        ].to_numpy(dtype=float)
        * PERCENT
    )
    assert (float(found.value), found.low, found.high) == pytest.approx(
        tuple(expected)
    )


def test_without_answers_to_test_it_a_claim_says_what_to_load(
    loaded: Loaded, embedded_store: Store
) -> None:
    none = loaded.verdicts.head(0)
    empty = loaded_from(
        embedded_store,
        none,
        printed_numbers(embedded_store).head(0),
        loaded.labels.head(0),
    )
    for one in checked_claims(
        empty, [claim for claim in CLAIMS if claim.quantity != "times"]
    ):
        assert one.verdict is ClaimVerdict.NOT_TESTABLE
        assert one.claim.quantity == "not published" or one.why in (
            ARCHIVE,
            LATER,
        ), one


def test_the_archive_answers_all_but_what_the_later_release_holds(
    study_store: Store,
    crane_llm_archive: Path,
    tmp_path: Path,
    checked: dict[str, CheckedClaim],
) -> None:
    with_texts = checked_claims(
        loaded_in(study_store, DataFolder(tmp_path)), CLAIMS
    )
    untested = [one for one in with_texts if not one.estimates]
    assert {
        one.why for one in untested if one.claim.quantity != "not published"
    } == {LATER}
    assert {one.claim.quantity for one in untested} == {
        "kappa",
        "tokens",
        "predicted",
        "not published",
    }
    answered = [
        one
        for one in with_texts
        if one.estimates and not checked[one.claim.id].estimates
    ]
    assert {one.claim.quantity for one in answered} == {"state", "code lines"}
    assert {one.verdict for one in answered} == {ClaimVerdict.HOLDS}
    without = {
        one.claim.id: one.verdict for one in with_texts if one not in answered
    }
    assert without == {name: checked[name].verdict for name in without}


def test_a_later_release_brings_intervals(
    loaded: Loaded, embedded_store: Store
) -> None:
    """Invented answers to the setting without values, for every instance: those of the runtime setting."""
    runtime = loaded.verdicts.query(
        "detector == @GPT_5 and setting == 'runtime' and experiment == @STUDY"
    )
    later = runtime.assign(experiment="crane-llm-2026", setting="runtime-V")
    verdicts = pd.concat([loaded.verdicts, later], ignore_index=True)
    claims = [
        claim
        for claim in CLAIMS
        if "to=runtime-V" in claim.of and f"detector={GPT_5}" in claim.of
    ]
    simple = [claim for claim in claims if "vs" not in claim.of]
    again = loaded_from(
        embedded_store, verdicts, printed_numbers(embedded_store), loaded.labels
    )
    found = checked_claims(again, simple)
    assert found
    for one in found:
        assert (one.verdict, one.basis) == (
            ClaimVerdict.CONTRADICTED,
            "answers",
        )
        assert one.decisive is not None
        assert one.decisive.value == 0
        assert one.decisive.has_interval


def test_kappa_is_that_of_the_verdicts_both_evaluators_labelled(
    loaded: Loaded, embedded_store: Store
) -> None:
    """Labels of an invented second evaluator: the first one's, but for one of three diagnoses."""
    study = loaded.verdicts[
        (loaded.verdicts["experiment"] == STUDY)
        & loaded.verdicts["detector"].isin(STUDY_LLMS)
    ]
    asked = study[truth(study) & (detected(study) == 1)]
    chosen = pd.concat(
        [
            asked[asked["human"] == word].head(12)
            for word in ("correct", "wrong")
        ]
    )
    second = [
        "wrong" if i % 3 == 0 else word
        for i, word in enumerate(chosen["human"])
    ]
    said = {PUBLISHED_HUMAN: chosen["human"].tolist(), SECOND_EVALUATOR: second}
    rows = [
        chosen[KEY].assign(
            annotator=name,
            kind="human",
            label=words,
            campaign=None,
            provenance=None,
            why=None,
            weight=1.0,
        )
        for name, words in said.items()
    ]
    again = loaded_from(
        embedded_store,
        loaded.verdicts,
        printed_numbers(embedded_store),
        pd.concat(rows, ignore_index=True)[COLUMNS],
    )
    claims = [claim for claim in CLAIMS if claim.quantity == "kappa"]
    found = checked_claims(again, claims)
    # 12 correct of which 4 changed, 12 wrong: observed 20/24; expected 1/2 (8/24) + 1/2 (16/24) = 1/2
    assert found[0].decisive is not None
    assert float(found[0].decisive.value) == pytest.approx(
        (20 / 24 - 1 / 2) / (1 / 2)
    )
    assert [one.verdict for one in found] == [
        ClaimVerdict.CONTRADICTED,
        ClaimVerdict.WITHIN_NOISE,
    ]


def test_printed_cells_name_the_counts(
    loaded: Loaded, embedded_store: Store
) -> None:
    """Of all 15 settings of table 4 one solution; where the answers are available, theirs."""
    numbers = printed_numbers(embedded_store)
    for detector in STUDY_LLMS:
        title = str(
            loaded.verdicts.loc[
                loaded.verdicts["detector"] == detector, "detector_title"
            ].iloc[0]
        )
        for setting in COLUMN_SIGNS:
            counts = printed_counts(
                numbers, title, setting, n_crashing=111, n_fixed=111
            )
            assert counts is not None
            rows = complete_rows(loaded.verdicts, detector, setting)
            if rows is not None:
                said, crashes = detected(rows) == 1, truth(rows)
                assert counts[:2] == (
                    int((said & crashes).sum()),
                    int((said & ~crashes).sum()),
                )
            else:
                assert setting not in (Setting.CODE, Setting.RUNTIME)


def test_the_paper_drops_a_final_zero(
    loaded: Loaded, embedded_store: Store
) -> None:
    """Every whole percentage of tables 2 is x.0 by the answers, which is why "82%" of table 4 is read as 82.0%."""
    numbers = printed_numbers(embedded_store).query(
        "publication == 'paper' and table_id in ['2a', '2b']"
    )
    whole = numbers[~numbers["printed"].str.contains(".", regex=False)]
    assert len(whole) >= 4
    pairs = loaded.verdicts.drop_duplicates("detector")
    detector_of = dict(
        zip(pairs["detector_title"], pairs["detector"], strict=True)
    )
    for row in as_rows(whole):
        rate, sign = row["column"].split(" ")
        score = "end-to-end" if row["table_id"] == "2a" else "detection"
        setting = {"(-RT)": "code", "(+RT)": "runtime"}[sign]
        ratio = loaded.conditions.ratio(
            rate, score, detector_of[row["row"]], setting
        )
        assert ratio is not None
        assert round(PERCENT * ratio.value, 1) == float(
            row["printed"].removesuffix("%")
        )


def test_cells_that_name_no_counts_give_none(embedded_store: Store) -> None:
    numbers = printed_numbers(embedded_store)
    vague = numbers.assign(
        printed=numbers["printed"].where(
            ~numbers["table_id"].isin(TABLES), "12.3%"
        )
    )
    assert (
        printed_counts(
            vague, "GPT-5", Setting.RUNTIME_DOCS, n_crashing=111, n_fixed=111
        )
        is None
    )
    assert (
        printed_counts(
            numbers, "GPT-5", Setting.RUNTIME_PLUS, n_crashing=111, n_fixed=111
        )
        is None
    )
    conditions = Conditions(verdict_frame(embedded_store), vague)
    (asked,) = read_contrasts(
        f"rate=F1 score=detection from=runtime to=runtime+docs detector={GPT_5}"
    )
    with pytest.raises(MissingAnswersError):
        contrast(conditions, "", asked.terms)


def test_a_text_names_its_estimates() -> None:
    (mean,) = read_contrasts("rate=F1 detector=mean vs score=detection")
    assert len(mean.terms) == 12
    assert sum(term.weight for term in mean.terms) == 0
    assert {abs(term.weight) for term in mean.terms} == {Fraction(1, 3)}
    names = [
        asked.name
        for asked in read_contrasts(
            "rate=F1 library_group=torch|numpy detector=gpt-5 vs rate=Recall|Accuracy"
        )
    ]
    assert names == [
        "torch vs Recall",
        "torch vs Accuracy",
        "numpy vs Recall",
        "numpy vs Accuracy",
    ]
    assert read_fields("a=1 'b=x y'") == {"a": "1", "b": "x y"}
    with pytest.raises(ValueError, match="is not name=value"):
        read_fields("a=1 b")


@pytest.mark.parametrize("fmt", list(Format))
def test_every_format_has_every_claim(
    fmt: Format, checked: dict[str, CheckedClaim]
) -> None:
    text = render_claims(list(checked.values()), fmt)
    counts: dict[Format, Callable[[str], int]] = {
        Format.MD: lambda t: (
            len([line for line in t.splitlines() if line.startswith("| ")]) - 2
        ),
        Format.CSV: lambda t: len(list(csv.reader(io.StringIO(t)))) - 1,
        Format.JSON: lambda t: len(json.loads(t)["claims"]),
        Format.LATEX: lambda t: len(
            [
                line
                for line in t.splitlines()
                if line.startswith(("abstract &", "section "))
            ]
        ),
    }
    assert counts[fmt](text) == len(CLAIMS)


def test_json_has_numbers_and_markdown_words(
    checked: dict[str, CheckedClaim],
) -> None:
    one = about(checked, "change", f"rate=F1 detector={GEMINI}")
    record = json.loads(render_claims([one], Format.JSON))["claims"][0]
    assert record["exact"] == pytest.approx(8.042, abs=1e-3)
    assert record["interval"][0] < record["exact"] < record["interval"][1]
    assert (record["stated"], record["verdict"]) == (
        "+8.1",
        "rounds differently",
    )
    assert "| +8.1 | pp | 8.04 |" in render_claims([one], Format.MD)
    assert HEADER[-3:] == ("from", "why", "adjustment")
    piped = replace(one, why="a | b")
    assert "a \\| b" in render_claims([piped], Format.MD)
