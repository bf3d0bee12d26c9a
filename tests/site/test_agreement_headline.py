"""The first sentence of the site's Agreement: what the app's title says of the pair that it begins with."""

from __future__ import annotations

from typing import Any, cast

from crane_core.pipeline.agreement.agreement import KAPPA, ComparedVerdicts
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.site.agreement import headline
from crane_core.site.material import Collected


def collected(**numbers: Any) -> Collected:
    kappa = ExportedStatistic(
        "Agreement",
        "coefficients",
        KAPPA,
        runs=str(ComparedVerdicts.DIAGNOSES),
        judged_by="ana and ben",
        n=30,
        n_cases=20,
    )._replace(**numbers)
    return Collected(cast(Any, None), {"agreement": [kappa]}, False)


def test_the_interval_decides_what_it_says() -> None:
    less = headline(collected(value=-0.29, low=-0.41, high=-0.12))
    assert less == (
        "ana and ben agree less often than by chance: kappa −0.29 (95% −0.41 to −0.12), over 30 diagnoses of 20 cases"
    )
    none = headline(collected(value=0.1, low=-0.1, high=0.3))
    assert none is not None
    assert none.startswith("No evidence that ana and ben agree more often")


def test_without_a_pair_there_is_no_sentence() -> None:
    assert headline(Collected(cast(Any, None), {}, False)) is None
