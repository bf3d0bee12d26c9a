"""What the publication states beside ours: each cell of its tables, and the estimates behind each claim of its text."""

from collections.abc import Iterator

from crane_core.pipeline.claims.claims import (
    checked_claims,
    loaded_from,
    published_claims,
)
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.study.study_tables import study_tables

ABLATIONS = {"4a": "categories", "4b": "documentation", "5": "tokens"}
"""Tables that the page Ablations shows, by its sections."""
CLAIM_METHOD = "95% interval of the quantity, by case where it is one of instances, unadjusted"


def tables(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """One per cell; statistic is its column, group its row, in the unit that the table prints."""
    for table in study_tables(material.verdicts, material.numbers).values():
        is_ablation = table.id in ABLATIONS
        for cell in table.cells:
            of = exported_statistic.ExportedStatistic(
                "Ablations" if is_ablation else "Results",
                ABLATIONS.get(table.id, "tables"),
                cell.column,
                by=f"table {table.id}",
                group=cell.row,
                stated=cell.printed,
                note=str(cell.status),
                n=cell.n,
            )
            ours = None if cell.ours is None else float(cell.ours)
            yield of.measured(ours, unit=cell.unit)


def claims(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every claim its estimates; one row without a value where nothing that is loaded determines one."""
    loaded = loaded_from(
        material.store, material.verdicts, material.numbers, material.labels
    )
    for checked in checked_claims(loaded, published_claims()):
        claim = checked.claim
        of = exported_statistic.ExportedStatistic(
            "Results",
            "claims",
            claim.claim,
            by="claim",
            group=claim.id,
            stated=claim.stated or None,
            note=": ".join(filter(None, [str(checked.verdict), checked.why])),
        )
        if not checked.estimates:
            yield of._replace(unit=claim.unit)
        for one in checked.estimates:
            named = of._replace(
                group=", ".join(filter(None, [claim.id, one.name]))
            )
            yield named.measured(
                float(one.value),
                one.low,
                one.high,
                unit=claim.unit,
                method=CLAIM_METHOD,
            )


KINDS = {"claims": claims, "tables": tables}
