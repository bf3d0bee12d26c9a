"""Labels beside their verdicts: each in the row of its own verdict, whatever the order of either frame."""

from __future__ import annotations

import numpy as np

from crane_core.pipeline.agreement.labelled import NONE, labelled_verdicts
from crane_core.pipeline.campaigns.label_frame import KEY
from tests.pipeline.agreement.test_judges_beside import labels, verdicts

SAID = {
    "ana": ["correct", None, "wrong"],
    "ben": [None, "wrong", "partial", "correct"],
}


def words_of(shuffled: int | None = None) -> dict[str, dict[str, str]]:
    """Annotator to instance to label, from frames in the order of this seed."""
    frames = [labels(SAID), verdicts()]
    if shuffled is not None:
        frames = [one.sample(frac=1, random_state=shuffled) for one in frames]
    labelled = labelled_verdicts(*frames)
    instances = labelled.verdicts["instance_id"]
    return {
        who: {
            str(instances[row]): str(labelled.words[place])
            for row, place in enumerate(places)
            if place != NONE
        }
        for who, places in zip(SAID, labelled.said([*SAID]).T, strict=True)
    }


def test_each_label_stands_in_the_row_of_its_verdict() -> None:
    expected = {
        who: {
            f"c{case}_reproduced": label
            for case, label in enumerate(said)
            if label is not None
        }
        for who, said in SAID.items()
    }
    assert words_of() == words_of(3) == words_of(4) == expected


def test_labels_of_other_verdicts_and_annotators_without_labels_are_left_out() -> (
    None
):
    frame = labels(SAID)
    elsewhere = frame.assign(benchmark="yours")
    labelled = labelled_verdicts(elsewhere, verdicts())
    assert (labelled.said([*SAID]) == NONE).all()
    known = labelled_verdicts(frame, verdicts())
    assert (known.said(["nobody"]) == NONE).all()
    assert not known.verdicts.duplicated(KEY).any()


def test_words_become_places_on_a_scale_or_numbers_and_none_stays_none() -> (
    None
):
    labelled = labelled_verdicts(labels(SAID), verdicts())
    said = labelled.said(["ana"])[:6:2, 0]
    assert labelled.as_places(["wrong", "correct"])[said].tolist() == [
        1,
        NONE,
        0,
    ]
    numbers = labelled.as_numbers(lambda word: float(len(word)))[said]
    assert np.nan_to_num(numbers, nan=-1).tolist() == [7, -1, 5]
