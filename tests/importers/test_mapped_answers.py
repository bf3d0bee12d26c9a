"""Files of other evaluation tools become runs through a mapping; what a row does not state is told with its paths."""

from __future__ import annotations

import csv
import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import Detector, LoadProblem, Run, Setting
from crane_core.errors import SourceError
from crane_core.importers.answer_maps.answer_map import (
    MapError,
    answer_map,
    completed,
    map_document,
    map_toml,
    missing_fields,
    ready_maps,
)
from crane_core.importers.answer_maps.member_path import value_at
from crane_core.importers.mapped_answers import KIND, proposed_map
from crane_core.importers.registry import importer_for
from crane_core.pipeline.loading.load import import_paths, rebuild
from crane_core.pipeline.loading.mapped import beside_map
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.run_list import run_list
from crane_core.storage.store import open_store

from .conftest import TreeOf, of

CRASH = '{"reasoning": "column b is missing", "detection": true}'
SAFE = 'So:\n```json\n{"reasoning": "fine", "detection": false}\n```'
ABOUT = {
    "instance": "pandas_1_reproduced",
    "setting": "runtime",
    "benchmark": "minibench",
}
OTHER = ABOUT | {"instance": "pandas_1_fixed"}


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(*rows: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def promptfoo_result(about: dict[str, str], output: Any) -> dict[str, Any]:
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "vars": about,
        "provider": {"id": "openai:gpt-5", "label": ""},
        "prompt": {"raw": "Will it crash?", "label": "p"},
        "response": {
            "output": output,
            "tokenUsage": {"prompt": 200, "completion": 11, "total": 211},
        },
        "latencyMs": 1500,
        "cost": 0.002,
        # promptfoo writes a failed assertion here, although the model answered.
        "error": "Expected output to contain x",
        "success": False,
    }


def promptfoo(*results: dict[str, Any]) -> str:
    return json.dumps(
        {"evalId": "e", "results": {"version": 3, "results": results}}
    )


FILES = {
    "promptfoo.json": promptfoo(
        promptfoo_result(ABOUT, CRASH),
        promptfoo_result(ABOUT, {"reasoning": "", "detection": True}),
        promptfoo_result(OTHER, SAFE),
    ),
    "promptfoo.jsonl": lines(
        promptfoo_result(ABOUT, CRASH),
        promptfoo_result(ABOUT, CRASH),
        promptfoo_result(OTHER, SAFE),
    ),
    "promptfoo.csv": table(
        ABOUT | {"[openai:gpt-5] p": f"[PASS] {CRASH}"},
        ABOUT | {"[openai:gpt-5] p": f"[FAIL] {CRASH}"},
        OTHER | {"[openai:gpt-5] p": SAFE},
    ),
    "samples_crane.jsonl": lines(
        {
            "doc_id": 0,
            "doc": ABOUT,
            "resps": [[CRASH, CRASH]],
            "filtered_resps": [CRASH],
            "model": "openai:gpt-5",
            "arguments": {"gen_args_0": {"arg_0": "Will it crash?"}},
        },
        {
            "doc_id": 0,
            "doc": ABOUT,
            "resps": [[CRASH, CRASH]],
            "filtered_resps": ["a second filter"],
            "model": "openai:gpt-5",
        },
        {"doc_id": 1, "doc": OTHER, "resps": [[SAFE]], "model": "openai:gpt-5"},
    ),
    "langfuse.csv": table(
        *(
            {
                "traceId": number,
                "input": "Will it crash?",
                "output": output,
                "model": "openai:gpt-5",
                "metadata": json.dumps(about),
                "latency": "1.5",
                "totalCost": "0.002",
            }
            for number, (about, output) in enumerate(
                [(ABOUT, CRASH), (ABOUT, CRASH), (OTHER, SAFE)]
            )
        )
    ),
    "weave.jsonl": lines(
        *(
            {
                "id": "c",
                "op_name": "weave:///lab/crane/op/predict:1",
                "inputs": {"example": about, "model_name": "openai:gpt-5"},
                "output": {"output": output, "model_latency": 1.5},
            }
            for about, output in [(ABOUT, CRASH), (ABOUT, CRASH), (OTHER, SAFE)]
        )
    ),
    "openai_evals.jsonl": lines(
        {"spec": {"completion_fns": ["openai:gpt-5"], "eval_name": "crane"}},
        *(
            {
                "run_id": "r",
                "event_id": number,
                "sample_id": f"crane.{number}",
                "type": kind,
                "data": {"sampled": [output], "metadata": about},
            }
            for number, (kind, about, output) in enumerate(
                [
                    ("sampling", ABOUT, CRASH),
                    ("match", ABOUT, CRASH),
                    ("sampling", ABOUT, CRASH),
                    ("sampling", OTHER, SAFE),
                ]
            )
        ),
        {"final_report": {"accuracy": 1.0}},
    ),
    "openai_items.json": json.dumps(
        {
            "object": "list",
            "has_more": False,
            "data": [
                {
                    "datasource_item": about,
                    "sample": {
                        "model": "openai:gpt-5",
                        "output": [{"role": "assistant", "content": output}],
                    },
                }
                for about, output in [
                    (ABOUT, CRASH),
                    (ABOUT, CRASH),
                    (OTHER, SAFE),
                ]
            ],
        }
    ),
    "phoenix.json": json.dumps(
        [
            {
                "example_id": "x",
                "repetition_number": repetition,
                "input": about | {"detector": "openai:gpt-5"},
                "reference_output": {},
                "output": output,
                "latency_ms": 1500.0,
            }
            for repetition, about, output in [
                (1, ABOUT, CRASH),
                (2, ABOUT, CRASH),
                (1, OTHER, SAFE),
            ]
        ]
    ),
    "spans.csv": table(
        *(
            {
                "context.span_id": "s",
                "span_kind": kind,
                "attributes.llm.model_name": "openai:gpt-5",
                "attributes.metadata": json.dumps(about),
                "attributes.output.value": output,
            }
            for kind, about, output in [
                ("LLM", ABOUT, CRASH),
                ("CHAIN", ABOUT, CRASH),
                ("LLM", ABOUT, CRASH),
                ("LLM", OTHER, SAFE),
            ]
        )
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_what_each_tool_writes_is_read_without_an_option(
    tree_of: TreeOf, name: str
) -> None:
    tree = tree_of({name: FILES[name]})
    importer = importer_for(tree)
    assert importer.KIND == KIND
    records = list(importer.read(tree))
    assert of(records, LoadProblem) == []
    assert [
        (
            run.benchmark,
            run.instance_id,
            run.setting,
            run.run_index,
            run.crashes,
        )
        for run in of(records, Run)
    ] == [
        ("minibench", "pandas_1_reproduced", Setting.RUNTIME, 1, True),
        ("minibench", "pandas_1_reproduced", Setting.RUNTIME, 2, True),
        ("minibench", "pandas_1_fixed", Setting.RUNTIME, 1, False),
    ]
    [detector] = of(records, Detector)
    assert detector.title == "openai:gpt-5"
    assert of(records, Run)[0].reasoning == "column b is missing"


def test_tokens_seconds_cost_and_prompt_come_with_an_answer(
    tree_of: TreeOf,
) -> None:
    tree = tree_of({"promptfoo.json": FILES["promptfoo.json"]})
    run = of(importer_for(tree).read(tree), Run)[0]
    took = (run.input_tokens, run.output_tokens, run.seconds, run.usd)
    assert took == (200, 11, 1.5, 0.002)
    assert run.prompt_sha256 == sha256(b"Will it crash?").hexdigest()


def mapped(tree_of: TreeOf, content: str, toml: str) -> list[Any]:
    tree = tree_of({"answers.jsonl": content, "map.toml": toml})
    importer = importer_for(tree)
    assert importer.KIND == KIND
    return list(importer.read(tree))


MAP = """
instance = "id"
detector = { value = "ours" }
setting = { path = "shown", words = { all = "runtime", little = "code" } }
crashes = { path = "said", words = { boom = true, ok = false } }
index = { path = "epoch", plus = 1 }
seconds = { path = "ms", times = 0.001 }
invalid = "withdrawn"
"""
ROW = {"id": "a_1_fixed", "shown": "all", "said": "ok", "epoch": 0, "ms": 40}


def test_words_constants_and_units_of_a_mapping(tree_of: TreeOf) -> None:
    [run] = of(mapped(tree_of, lines(ROW), MAP), Run)
    assert (run.setting, run.crashes, run.run_index) == ("runtime", False, 1)
    assert (run.detector, run.seconds) == ("ours", pytest.approx(0.04))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": None}, "it has no instance (at id)"),
        ({"id": "a_1"}, "instance must end in _reproduced or _fixed"),
        ({"said": "perhaps"}, "crashes is 'perhaps', which is none of the"),
        ({"shown": "more"}, "setting is 'more', which is none of the words"),
        ({"epoch": 0.5}, "index must be an integer of 1 or more"),
        ({"ms": "fast"}, "seconds is 'fast', not a number"),
        ({"ms": -5}, "seconds must be a number from 0"),
        ({"withdrawn": "typo in the key"}, "its author invalidated it"),
    ],
)
def test_a_row_that_cannot_be_read_is_left_out_counted_and_told(
    tree_of: TreeOf, change: dict[str, Any], why: str
) -> None:
    bad = ROW | change
    records = mapped(tree_of, lines(ROW | {"epoch": 9}, bad, bad), MAP)
    assert len(of(records, Run)) == 1
    [problem] = of(records, LoadProblem)
    assert problem.place == "2 rows, the first: line 2"
    assert why in problem.reason


def test_repeats_are_counted_and_another_prompt_is_no_repeat(
    tree_of: TreeOf,
) -> None:
    toml = (
        'instance = "id"\ncrashes = "said"\nprompt = "asked"\n'
        'detector = { value = "ours" }\nsetting = { value = "code" }\n'
    )
    row = {"id": "a_1_fixed", "said": "False", "asked": "A"}
    records = mapped(tree_of, lines(row, row, row | {"asked": "B"}), toml)
    assert [run.run_index for run in of(records, Run)] == [1, 2]
    [problem] = of(records, LoadProblem)
    assert "its prompt differs from that of the first answer" in problem.reason


def test_a_reply_without_an_answer_is_kept_with_its_reason(
    tree_of: TreeOf,
) -> None:
    toml = (
        'instance = "id"\nreply = "said"\ntrouble = "error"\n'
        'detector = { value = "ours" }\nsetting = { value = "code" }\n'
    )
    row = {"id": "a_1_fixed"}
    content = lines(row | {"said": "no idea"}, row | {"error": "HTTP 500"}, row)
    runs = of(mapped(tree_of, content, toml), Run)
    assert [run.crashes for run in runs] == [None, None, None]
    assert [run.unanswered for run in runs][1:] == [
        "HTTP 500",
        "no answer was given",
    ]


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("x", "file: it is not TOML"),
        ('instanse = "id"', "'instanse': the keys are instance"),
        ("instance = 3", "instance: it must be a path"),
        ('instance = "a[x]"', "is not a path such as vars.instance"),
        ('instance = { paths = "a" }', "'paths' is none of path, value"),
        ("instance = { words = {} }", "it must have either path or value"),
        (
            'instance = { path = "a", pattern = "(" }',
            "the pattern is not a regular expression",
        ),
        ("only = 1", "only: it must be a table of paths"),
    ],
)
def test_a_mapping_with_a_mistake_names_the_key(toml: str, why: str) -> None:
    with pytest.raises(MapError) as refusal:
        answer_map(toml.encode())
    assert why in str(refusal.value)


def test_a_mapping_must_state_what_every_answer_needs(tree_of: TreeOf) -> None:
    [problem] = mapped(tree_of, lines(ROW), 'instance = "id"')
    assert "does not state detector, setting, crashes (or reply)" in (
        problem.reason
    )


def test_every_mapping_that_ships_states_what_is_needed() -> None:
    assert {one.tool for one in ready_maps()} == {
        "promptfoo",
        "lm-evaluation-harness",
        "Langfuse",
        "Weights & Biases Weave",
        "OpenAI Evals",
        "Phoenix",
    }
    for one in ready_maps():
        assert missing_fields(one) == []
        written = map_toml(completed(one.document, {}))
        assert map_document(written.encode()) == one.document


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.dictionaries(st.sampled_from(["tool", "a b"]), TEXTS))
def test_what_is_written_as_toml_is_read_as_it_was(
    words: dict[str, str],
) -> None:
    document = {"crashes": {"path": "a", "words": words}}
    assert map_document(map_toml(document).encode()) == document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[1].c", 5),
        ("a.b[-1].c", 5),
        ("a.b[2]", None),
        ("a.b.c", None),
        ("a.d.e", 7),
        ("t.x.y", 1),
        ("t.x.z", None),
        ("n", None),
    ],
)
def test_paths_walk_objects_lists_dotted_names_and_json_in_texts(
    path: str, value: object
) -> None:
    row = {
        "a": {"b": [0, {"c": 5}], "d.e": 7},
        "t": '{"x": {"y": 1}}',
        "n": None,
    }
    assert value_at(row, path) == value


def test_a_proposal_can_be_used_as_it_is(tree_of: TreeOf) -> None:
    rows = [
        {
            "case": {"id": "pandas_1_reproduced"},
            "shown": "code",
            "model": "m",
            "will_crash": True,
            "explanation": "x",
            "cost": 0.5,
        }
    ]
    proposal = proposed_map(tree_of({"answers.jsonl": lines(*rows)}))
    [run] = of(mapped(tree_of, lines(*rows), proposal), Run)
    assert (run.instance_id, run.setting, run.detector, run.crashes) == (
        "pandas_1_reproduced",
        "code",
        "m",
        True,
    )
    assert (run.reasoning, run.usd) == ("x", 0.5)


def test_a_proposal_keeps_what_ships_and_names_what_is_missing(
    tree_of: TreeOf,
) -> None:
    result = promptfoo_result({"q": "pandas_1_reproduced"}, CRASH)
    proposal = proposed_map(tree_of({"r.json": promptfoo(result)}))
    document = map_document(proposal.encode())
    assert document["instance"] == "vars.q"
    assert document["rows"] == "results.results"
    assert "# setting = " in proposal and "setting" not in document
    hostile = proposed_map(
        tree_of({"r.jsonl": lines({"\x1b[31m\n= 1": "\x1b]0;x\x07" * 99})})
    )
    assert "\x1b" not in hostile and map_document(hostile.encode()) == {}


def test_parquet_is_read_without_its_nested_columns(
    tree_of: TreeOf, tmp_path: Path
) -> None:
    columns = {
        "id": ["a_1_fixed"],
        "said": [False],
        "nested": [[{"x": 1}]],
    }
    pq.write_table(pa.table(columns), tmp_path / "answers.parquet")
    data = (tmp_path / "answers.parquet").read_bytes()
    toml = (
        'instance = "id"\ncrashes = "said"\n'
        'detector = { value = "ours" }\nsetting = { value = "code" }\n'
    )
    tree = tree_of({"answers.parquet": data, "map.toml": toml})
    [run] = of(importer_for(tree).read(tree), Run)
    assert run.crashes is False


@pytest.mark.slow
def test_a_file_and_its_mapping_are_one_source_that_a_rebuild_reads_alike(
    folder: DataFolder, tmp_path: Path
) -> None:
    row = {k: v for k, v in ABOUT.items() if k != "setting"}
    file = tmp_path / "results.json"
    file.write_text(promptfoo(promptfoo_result(row, CRASH)))
    with pytest.raises(SourceError) as refusal:
        import_paths([file], folder)
    assert "it has no setting (at vars.setting" in str(refusal.value)
    assert "import FILE --propose-map" in refusal.value.remedy
    with beside_map(file, None, {"setting": "code"}) as paths:
        entry = import_paths(paths, folder)
    assert entry.kind == KIND
    rebuild(folder)
    store = open_store(folder.database)
    listed = run_list(store, verdict_frame(store))
    [mine] = listed[listed["detector"] == "openai-gpt-5"].to_dict("records")
    store.close()
    assert (mine["setting"], mine["input_tokens"], mine["usd"]) == (
        "code",
        200,
        0.002,
    )
    assert not mine["is_job"]
