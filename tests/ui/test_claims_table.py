"""The paper's claims as the page shows them: what does not hold first, numbers with their units, names of detectors."""

import pandas as pd

from crane_core.ui.study_view import claims_table

COLUMNS = ["claim", "place", "stated", "unit", "exact", "interval", "verdict", "why"]  # fmt: skip
ROWS = [
    ["notebooks", "abstract", "222", "count", "222", "", "holds", ""],
    ["gain", "5.1", "-3.1", "pp", "-3.15", "-4.0 to 1.0 (gpt-5)", "contradicted", "found by gpt-5, gpt-5-mini <b>"],
    ["share", "5.2", "", "percent", "", "", "within noise", ""],
]  # fmt: skip


def test_what_is_contradicted_comes_first_and_reads_as_text() -> None:
    rows = pd.DataFrame(ROWS, columns=COLUMNS)
    shown = claims_table(rows, {"gpt-5": "GPT-5"})
    assert shown["Claim"].tolist() == ["gain", "share", "notebooks"]
    assert shown["Stated"].tolist() == ["−3.1 pp", "", "222"]
    assert shown["From the data"].tolist() == ["−3.15 pp", "", "222"]
    first = shown.iloc[0]
    assert first["95% interval, unadjusted"] == "−4.0 to 1.0 (GPT-5)"
    assert first["Verdict"].endswith(
        "contradicted</b>: found by GPT-5, gpt-5-mini &lt;b&gt;"
    )
