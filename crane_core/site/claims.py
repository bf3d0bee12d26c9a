"""The page Claims of the site: what the paper's text states, beside what the data say."""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.pipeline.claims import formats
from crane_core.pipeline.claims.claims import (
    CheckedClaim,
    checked_claims,
    loaded_from,
    published_claims,
)
from crane_core.pipeline.judging.material import Material
from crane_core.site.blocks import paragraph, points, table

SHOWN = {
    "claim": "Claim",
    "verdict": "Verdict",
    "stated": "Stated",
    "exact": "From the data",
    "interval": "95% interval, unadjusted",
    "unit": "Unit",
    "place": "Place in the paper",
    "why": "Why",
}
OUR_WORDS = "The claims are in our own words."


def checked(material: Material) -> list[CheckedClaim]:
    """Every claim with its verdict."""
    loaded = loaded_from(
        material.store, material.verdicts, material.numbers, material.labels
    )
    return checked_claims(loaded, published_claims())


def count_words(claims: list[CheckedClaim]) -> list[str]:
    """How many claims have which verdict."""
    return [
        f"{verdict}: {n}"
        for verdict, n in formats.verdict_counts(claims).items()
        if n
    ]


def claims_blocks(claims: list[CheckedClaim]) -> Iterator[Markup]:
    """The verdicts counted, then every claim."""
    frame = formats.claim_frame(claims)[list(SHOWN)]
    yield points(count_words(claims))
    yield table(
        list(SHOWN.values()),
        frame.to_numpy().tolist(),
        texts=(0, 1, 4, 5, 6, 7),
    )
    yield paragraph(f"{formats.ABOUT} {OUR_WORDS}", "cw-dim")
