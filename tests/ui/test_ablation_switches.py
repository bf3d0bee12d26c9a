"""What the switches of the ablations say of runs that they leave out."""

from crane_core.ui.drops_words import left_out_words


def test_runs_that_are_left_out_are_counted() -> None:
    assert left_out_words(1).startswith("1 own run is left out: ")
    assert left_out_words(1200).startswith("1,200 own runs are left out: ")
