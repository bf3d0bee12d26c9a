"""What ran, with how far the runs agree: on what ships, and on a job of the fake model over HTTP."""

from __future__ import annotations

from itertools import combinations

import pytest

from crane_core.cli import main
from crane_core.pipeline.jobs.files import alone, is_held
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.run_list import run_list
from crane_core.storage import answers
from crane_core.storage.store import Store


def test_the_agreement_of_published_runs_is_that_of_their_pairs(
    folder: DataFolder,
) -> None:
    store = prepare(folder)
    table = run_list(store, verdict_frame(store))
    said = (
        store.cursor()
        .execute(
            "SELECT instance_id, list(crashes ORDER BY run_index) FROM runs WHERE detector = 'gpt-5'"
            " AND setting = 'runtime' AND experiment = 'crane-llm-2025-10' GROUP BY 1"
        )
        .fetchall()
    )
    store.close()
    [row] = table[
        (table["detector"] == "gpt-5") & (table["setting"] == "runtime")
    ].to_dict("records")
    pairs = [a == b for _, runs in said for a, b in combinations(runs, 2)]
    assert len(pairs) == 222 * 10
    assert row["agreement"] == pytest.approx(sum(pairs) / len(pairs))
    assert row["low"] < row["agreement"] < row["high"]
    assert row["n_flips"] == sum(len(set(runs)) == 2 for _, runs in said)
    right = [
        (sum(runs) > 2) == name.endswith("_reproduced") for name, runs in said
    ]
    assert row["accuracy"] == pytest.approx(sum(right) / len(right))
    assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]
    assert not row["is_job"]


def test_instances_that_were_never_asked_are_not_counted(
    folder: DataFolder,
) -> None:
    store = prepare(folder)
    table = run_list(store, verdict_frame(store))
    asked = "SELECT count(DISTINCT instance_id) FROM runs WHERE detector = 'mistral-small-3.1' AND run_index > 0"
    [(n_asked,)] = store.cursor().execute(asked).fetchall()
    store.close()
    assert n_asked == 216
    assert table.loc[
        table["detector"] == "mistral-small-3.1", "n_instances"
    ].tolist() == [216]


def test_one_answer_each_agrees_with_nothing(folder: DataFolder) -> None:
    store = prepare(folder)
    table = run_list(store, verdict_frame(store))
    store.close()
    assert table.loc[table["detector"] == "pylint", "agreement"].isna().all()


def test_a_job_stands_first_with_what_it_took(folder: DataFolder) -> None:
    command = [
        "detect",
        "--detector",
        "fake",
        "--setting",
        "runtime",
        "--benchmark",
        "minibench",
    ]
    assert (
        main(
            [
                "--data",
                str(folder.path),
                *command,
                "--instances",
                "pandas_1_*",
                "--runs",
                "3",
            ]
        )
        == 0
    )
    store = prepare(folder)
    first = run_list(store, verdict_frame(store)).to_dict("records")[0]
    run = answers.RunKey(*(first[name] for name in answers.RunKey._fields))
    cursor = store.cursor()
    page = answers.instance_page(
        cursor, run, answers.Only.ALL, page=1, size=10
    ).to_dict("records")
    found = {
        name: answers.answers(cursor, run, name)
        for name in ("pandas_1_fixed", "pandas_1_reproduced")
    }
    place = answers.place_of(cursor, run, "pandas_1_fixed")
    store.close()
    assert first["is_job"] and (first["n_instances"], first["n_answers"]) == (
        2,
        6,
    )
    assert first["input_tokens"] > 0 and first["seconds_median"] > 0
    assert [row["instance_id"] for row in page] == list(found)
    assert place == answers.AnswerPlace(None, "pandas_1_reproduced", 1, 2)
    for row, said in zip(page, found.values(), strict=True):
        assert [answer["run_index"] for answer in said] == [1, 2, 3]
        assert all(answer["has_reply"] for answer in said)
        assert len({answer["prompt_sha256"] for answer in said}) == 1
        assert row["marks"] == " ".join(
            "C" if answer["crashes"] else "·" for answer in said
        )
        assert [answer["truth"] for answer in said] == [row["truth"]] * 3


def test_pages_of_a_run_are_its_instances_once_each_and_filters_say_what_they_mean(
    folder: DataFolder,
) -> None:
    store = prepare(folder)
    cursor = store.cursor()
    run = answers.RunKey("junobench", "crane-llm-2025-10", "gpt-5", "runtime")
    pages = [
        answers.instance_page(cursor, run, answers.Only.ALL, page=n, size=100)
        for n in (1, 2, 3, 4)
    ]
    names = [name for page in pages for name in page["instance_id"]]
    assert [len(page) for page in pages] == [100, 100, 22, 0]
    assert names == sorted(set(names)) and len(names) == 222
    flips = answers.instance_page(
        cursor, run, answers.Only.FLIPS, page=1, size=300
    )
    assert {len(set(marks.split())) for marks in flips["marks"]} == {2}
    wrong = answers.instance_page(
        cursor, run, answers.Only.WRONG, page=1, size=300
    )
    vote = wrong["n_crash"] > wrong["n_safe"]
    assert len(wrong) and (vote != wrong["truth"]).all()
    assert answers.instance_page(
        cursor, run, answers.Only.UNANSWERED, page=1, size=300
    ).empty
    assert answers.reasons(cursor, run) == []
    assert answers.place_of(cursor, run, "no such").place == 0
    mistral = answers.RunKey(
        "junobench", "junobench-construct", "mistral-small-3.1", "code"
    )
    counted = sum(n for _, n in answers.reasons(cursor, mistral))
    store.close()
    assert counted == 2


def test_a_job_is_held_while_a_process_works_on_it(folder: DataFolder) -> None:
    assert not is_held(folder, "fake-code-minibench-1")
    with alone(folder, "fake-code-minibench-1"):
        assert is_held(folder, "fake-code-minibench-1")
        assert not is_held(folder, "fake-code-minibench-2")
    assert not is_held(folder, "fake-code-minibench-1")


def answered_twice(folder: DataFolder) -> tuple[Store, answers.RunKey]:
    """A run of a fake model that answers about every case of pandas twice, and the store that holds it."""
    given = ["--detector=fake", "--setting=code", "--benchmark=minibench"]
    given += ["--instances=pandas_*", "--runs=2"]
    assert main(["--data", str(folder.path), "detect", *given]) == 0
    store = prepare(folder)
    row = run_list(store, verdict_frame(store)).to_dict("records")[0]
    return store, answers.RunKey(
        *(row[name] for name in answers.RunKey._fields)
    )


def test_what_is_wrong_is_what_the_rates_count_as_wrong_ties_too(
    folder: DataFolder,
) -> None:
    store, run = answered_twice(folder)
    listed = answers.instance_page(
        store.cursor(), run, answers.Only.WRONG, page=1, size=300
    )
    counted = store.cursor().execute(
        "SELECT instance_id FROM verdicts WHERE experiment = ? AND NOT is_right ORDER BY 1",
        [run.experiment],
    )
    expected = [name for (name,) in counted.fetchall()]
    store.close()
    assert listed["instance_id"].tolist() == expected
    assert (listed["n_crash"] == listed["n_safe"]).any()


def test_a_search_finds_words_of_reasons_and_of_raw_replies(
    folder: DataFolder,
) -> None:
    store, run = answered_twice(folder)
    cursor = store.cursor()

    def found(words: str, size: int = 300) -> list[dict[str, object]]:
        page = answers.instance_page(
            cursor, run, answers.Only.ALL, page=1, size=size, find=words
        )
        rows: list[dict[str, object]] = page.to_dict("records")
        return rows

    whole = found("")
    by_reason = found("MADE fake")
    # A name of the reply's JSON: the reasoning alone does not hold it.
    by_reply = found('"reasoning"')
    assert [row["instance_id"] for row in by_reason] == [
        row["instance_id"] for row in whole
    ]
    assert {row["n_found"] for row in by_reply} == {2}
    assert all('"reasoning"' in str(row["said"]) for row in by_reply)
    assert found("made nowhere-to-be-found") == []
    assert found("' OR TRUE --") == []
    [one] = found("made", size=1)
    assert (one["n_all"], one["n_found_all"]) == (len(whole), 2 * len(whole))
    assert len(str(one["said"])) <= answers.MAX_SAID
    name = str(whole[1]["instance_id"])
    assert answers.place_of(cursor, run, name, find="made").place == 2
    assert answers.place_of(cursor, run, name, find="nowhere").n == 0
    assert answers.has_texts(cursor, run)
    # The published answers that ship are facts without texts.
    facts = answers.RunKey("junobench", "crane-llm-2025-10", "gpt-5", "code")
    assert not answers.has_texts(cursor, facts)
    store.close()
