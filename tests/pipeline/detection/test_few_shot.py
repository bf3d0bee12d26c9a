"""Examples before a question: of other cases and kinds than the target, balanced, and part of what names the run."""

from __future__ import annotations

import pytest

from crane_core.domain import Setting
from crane_core.errors import DetectorError, PromptError
from crane_core.pipeline.detection.few_shot import (
    MOST_EXAMPLES,
    FewShot,
    few_shot,
)
from crane_core.prompts.template import (
    INPUT_LINE,
    PLACEHOLDER,
    Template,
    Wording,
    template_for,
)
from crane_core.storage.store import Store

OURS = template_for(Setting.CODE)


def examples(store: Store, n: int, benchmark: str = "minibench") -> FewShot:
    return few_shot(store, n, Setting.CODE, benchmark, OURS)


@pytest.mark.parametrize("benchmark", ["minibench", "junobench"])
def test_no_target_meets_its_case_or_its_kind(
    embedded_store: Store, benchmark: str
) -> None:
    shots = examples(embedded_store, MOST_EXAMPLES, benchmark)
    assert (len(shots.pool), shots.n_unusable) == (40, 0)
    for row in shots.known.itertuples():
        text = shots.before(OURS, row.instance_id).text
        shown = [example for example in shots.pool if example.text in text]
        assert len(shown) == MOST_EXAMPLES
        assert sum(example.crashes for example in shown) == MOST_EXAMPLES / 2
        kinds = {(example.library, example.root_cause) for example in shown}
        assert (row.library, row.root_cause) not in kinds
        if benchmark == "minibench":
            assert row.case_id not in {example.case_id for example in shown}


@pytest.mark.parametrize("wording", [Wording.PROTOCOL, Wording.INPUT_FIRST])
def test_examples_stand_before_the_input_with_their_answers(
    embedded_store: Store, wording: Wording
) -> None:
    words = template_for(Setting.CODE, wording)
    found = examples(embedded_store, 3).before(words, "numpy_1_fixed")
    assert found.name == f"{words.name} with 3 examples"
    before, after = found.text.split(INPUT_LINE)
    assert before.count("----- its answer -----\n") == 3
    assert before.count('"detection": true') >= 2
    assert before.count('"reasoning": "No step of the target cell fails."') == 1
    assert after.startswith(PLACEHOLDER) and found.text.count(PLACEHOLDER) == 1


def test_examples_are_part_of_what_names_a_run(embedded_store: Store) -> None:
    two, three = (examples(embedded_store, n).options for n in (2, 3))
    of_runtime = few_shot(
        embedded_store, 2, Setting.RUNTIME, "minibench", OURS
    ).options
    assert two == examples(embedded_store, 2).options
    assert two["examples"]["n"] == 2 and two != three and two != of_runtime


def test_too_few_examples_skip_the_instance_with_the_reason(
    embedded_store: Store,
) -> None:
    shots = examples(embedded_store, 4)
    [few] = [FewShot(4, shots.pool[:2], 0, "minibench", shots.known)]
    with pytest.raises(PromptError, match="examples are of another kind"):
        few.before(OURS, "numpy_1_fixed")


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (Template("mine-1", f"Q: {PLACEHOLDER}"), "where examples go"),
        (
            template_for(Setting.CODE, Wording.WITH_CONFIDENCE),
            "state no confidence",
        ),
    ],
)
def test_a_template_that_cannot_take_examples_is_refused(
    embedded_store: Store, template: Template, why: str
) -> None:
    with pytest.raises(DetectorError, match=why):
        few_shot(embedded_store, 1, Setting.CODE, "minibench", template)
