"""What the list of cases says of patterns: of which experiment each is, where there are several."""

from __future__ import annotations

from crane_core.pipeline.pairs import Pattern
from crane_core.ui.case_list import pattern_words

PATTERNS = ((Pattern.FLIP, ("a", "c")), (Pattern.CHANGED, ("a",)), (Pattern.HELPED, ("a",)))


def test_patterns_name_their_experiments_by_number() -> None:
    assert pattern_words(PATTERNS, ["a", "b", "c"]) == "flips (1, 3), helped (1)"


def test_of_one_experiment_no_number_is_needed() -> None:
    assert pattern_words(((Pattern.FLIP, ("a",)), (Pattern.ALARM, ("a",))), ["a"]) == "flips, alarm"
    assert pattern_words((), ["a"]) == ""
