"""Templates: ours are named by their content and say the protocol; others' are taken exactly as they are."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from crane_core.domain import Label, Setting
from crane_core.errors import PromptError
from crane_core.prompts.judge_reply import LABELS, judge_reply_schema
from crane_core.prompts.reply import reply_schema
from crane_core.prompts.template import (
    FOLDER,
    HASH_LENGTH,
    PLACEHOLDER,
    Wording,
    content_hash,
    template_for,
    template_for_judge,
    template_from,
    template_named,
)


def test_every_template_is_named_by_its_content() -> None:
    paths = sorted(FOLDER.iterdir())
    assert [path.suffix for path in paths] == [".txt"] * 14
    for path in paths:
        assert path.stem.rpartition("-")[2] == content_hash(path.read_bytes())
        assert len(path.stem.rpartition("-")[2]) == HASH_LENGTH


@pytest.mark.parametrize("setting", Setting)
def test_our_protocol_says_what_listing_1_says(setting: Setting) -> None:
    text = template_for(setting).text
    assert text.count(PLACEHOLDER) == 1
    assert "step by step" in text
    assert "exactly one JSON object" in text
    assert "one or two sentences" in text
    assert "true only if you are certain" in text
    assert [
        name for name in reply_schema()["properties"] if f'"{name}"' in text
    ] == [
        "reasoning",
        "detection",
    ]
    assert ("runtime information" in text) == (setting is not Setting.CODE)


KINDS = (Setting.CODE, Setting.RUNTIME)


@pytest.mark.parametrize("setting", KINDS)
def test_a_variant_changes_one_thing_of_the_protocol(setting: Setting) -> None:
    lines = {
        wording: template_for(setting, wording).text.splitlines()
        for wording in Wording
    }
    protocol = lines[Wording.PROTOCOL]
    changed = {
        wording: [line for line in of if line and line not in protocol]
        for wording, of in lines.items()
    }
    assert changed[Wording.INPUT_FIRST] == [
        "----- end of input -----",
        "You are given, above this line:",
    ]
    assert changed[Wording.WITHOUT_CERTAINTY] == [
        '- "detection": true if the target cell crashes; false if it does not.'
    ]
    [form, rule] = changed[Wording.WITH_CONFIDENCE]
    assert '"confidence": number' in form and "from 0 to 100" in rule
    kept = [line for line in lines[Wording.PARAPHRASE] if line in protocol]
    assert set(kept) == {
        "",
        '{"reasoning": string, "detection": boolean}',
        "----- input -----",
        PLACEHOLDER,
    }


@pytest.mark.parametrize("wording", Wording)
@pytest.mark.parametrize("setting", KINDS)
def test_the_schema_states_what_the_wording_states(
    wording: Wording, setting: Setting
) -> None:
    template = template_for(setting, wording)
    schema = reply_schema(template)
    jsonschema.Draft202012Validator.check_schema(schema)
    members = schema["properties"]
    has_rule = "certain" in members["detection"]["description"]
    assert has_rule == (wording is not Wording.WITHOUT_CERTAINTY)
    assert ("confidence" in members) == (wording is Wording.WITH_CONFIDENCE)
    assert schema["required"] == list(members)
    assert template.text.count(PLACEHOLDER) == 1


def test_a_template_is_named_by_a_wording_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "paraphrase"
    path.write_text("mine {{body}}")
    assert template_named(None, Setting.CODE) == template_for(Setting.CODE)
    ours = template_named(Path("paraphrase"), Setting.CODE)
    assert ours == template_for(Setting.CODE, Wording.PARAPHRASE)
    assert template_named(path, Setting.CODE).text == "mine {{body}}"


def test_the_judge_is_told_every_label_it_may_give_and_no_other() -> None:
    text = template_for_judge().text
    assert text.count(PLACEHOLDER) == 1
    schema = judge_reply_schema()["properties"]
    assert [name for name in schema if f'"{name}": string' in text] == [
        "explanation",
        "label",
    ]
    assert schema["label"]["enum"] == [str(label) for label in LABELS]
    assert all(f'- "{label}": ' in text for label in LABELS)
    assert str(Label.MISDETECTED) not in text


def test_both_protocols_differ_in_the_runtime_information_alone() -> None:
    code, runtime = (
        template_for(setting).text.splitlines()
        for setting in (Setting.CODE, Setting.RUNTIME)
    )
    assert [
        line for line in runtime if "runtime information" not in line
    ] == code


def test_a_template_of_others_is_taken_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "theirs.txt"
    path.write_bytes("\ufeffA {json}\r\n{{body}}\r\nend".encode())
    template = template_from(path)
    assert template.around("B\n") == "\ufeffA {json}\r\nB\n\r\nend"
    assert template.name == f"theirs-{content_hash(path.read_bytes())}"


def test_what_the_body_holds_is_not_filled_in_again(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("<{{body}}>")
    assert template_from(path).around("x = '{{body}}'") == "<x = '{{body}}'>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no placeholder", "contains {{body}} 0 times"),
        (b"{{body}} and {{body}}", "contains {{body}} 2 times"),
        (b"\xff{{body}}", "is not UTF-8 text"),
        (b"x" * 200_001 + b"{{body}}", "larger than 200,000 bytes"),
    ],
)
def test_an_unusable_template_is_refused_with_a_remedy(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(data)
    with pytest.raises(PromptError) as refusal:
        template_from(path)
    assert reason in str(refusal.value)
    assert refusal.value.remedy


def test_a_missing_template_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        PromptError,
        match=r"cannot be read: No such file or directory. Check the path",
    ):
        template_from(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("reply", "is_valid"),
    [
        ({"reasoning": "x is 3.", "detection": False}, True),
        ({"reasoning": "x is 3.", "detection": "false"}, False),
        ({"detection": True}, False),
        ({"reasoning": "", "detection": True, "confidence": 1}, False),
    ],
)
def test_the_schema_takes_the_form_that_is_asked_for(
    reply: dict[str, object], *, is_valid: bool
) -> None:
    jsonschema.Draft202012Validator.check_schema(reply_schema())
    assert (
        jsonschema.Draft202012Validator(reply_schema()).is_valid(reply)
        == is_valid
    )
