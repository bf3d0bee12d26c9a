"""Dates as people state them: a day or a month, and what is neither."""

from __future__ import annotations

from datetime import date

import pytest

from crane_core.stated_date import stated_date


def test_a_month_is_all_of_its_days() -> None:
    month = stated_date(" 2024-02 ")
    assert (month.first, month.last) == (date(2024, 2, 1), date(2024, 2, 29))
    assert stated_date("2024-03-01").is_after(month)
    assert not stated_date("2024-02-29").is_after(month)
    assert not month.is_after(month)
    assert month.text == "2024-02"


@pytest.mark.parametrize(
    "text",
    ["", "2024", "2024-13", "2024-02-30", "1 May 2024", "٢٠٢٤-٠٢", "0000-01"],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a date"):
        stated_date(text)
