"""The whole site into a folder: findings first, then a page per question, a page per pair, the statistics as files."""

from collections.abc import Callable, Iterator
from pathlib import Path

from markupsafe import Markup

from crane_core.pipeline.claims.claims import CheckedClaim
from crane_core.pipeline.export import leaderboard_formats, statistic_formats
from crane_core.pipeline.export.all_statistics import all_statistics
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_formats import Format
from crane_core.site.ablations import ablations_blocks
from crane_core.site.agreement import agreement_blocks, headline
from crane_core.site.blocks import (
    heading,
    links,
    page,
    paragraph,
    points,
    table,
)
from crane_core.site.claims import checked, claims_blocks, count_words
from crane_core.site.material import Collected
from crane_core.site.pairs import (
    FOLDER,
    ListedPair,
    listed_pairs,
    pair_blocks,
    pairs_blocks,
)
from crane_core.site.results import findings, results_blocks, title_of
from crane_core.storage.cases import benchmarks
from crane_core.ui.words import count

FILES = (
    ("Statistics, CSV", "statistics.csv"),
    ("Statistics, JSON", "statistics.json"),
)
BOARD_FILES = {
    "leaderboard.csv": Format.CSV,
    "leaderboard.md": Format.MD,
    "leaderboard.tex": Format.LATEX,
}


def write_site(
    material: Material,
    out: Path,
    *,
    with_texts: bool,
    progress: Callable[[str], None] = lambda _: None,
) -> int:
    """Write the site into `out`, whole or not at all; the number of files. Raises SourceError if `out` is taken."""
    with fresh_folder(out) as fresh:
        collected = Collected(
            material, all_statistics(material, progress), with_texts
        )
        pairs = listed_pairs(collected)
        (fresh / FOLDER).mkdir()
        progress(f"Pages: {count(len(pairs))} pairs")
        n_files = 0
        for name, text in _files(collected, pairs):
            (fresh / name).write_text(text, "utf-8")
            n_files += 1
        return n_files


def _files(
    collected: Collected, pairs: list[ListedPair]
) -> Iterator[tuple[str, str]]:
    claims = checked(collected.material)
    yield (
        "index.html",
        page("index", "Findings", list(_index(collected, claims, pairs))),
    )
    yield (
        "results.html",
        page("results", "Results", list(results_blocks(collected))),
    )
    yield (
        "ablations.html",
        page("ablations", "Ablations", list(ablations_blocks(collected))),
    )
    yield (
        "claims.html",
        page(
            "claims", "The paper's claims, checked", list(claims_blocks(claims))
        ),
    )
    yield (
        "agreement.html",
        page("agreement", "Agreement", list(agreement_blocks(collected))),
    )
    yield (
        "pairs.html",
        page("pairs", "Pairs", list(pairs_blocks(collected, pairs))),
    )
    for place, pair in enumerate(pairs):
        before = pairs[place - 1] if place else None
        after = pairs[place + 1] if place + 1 < len(pairs) else None
        blocks = pair_blocks(collected, pair, before, after)
        yield (
            pair.file,
            page("pairs", str(pair.case["case_id"]), blocks, root="../"),
        )
    yield FILES[0][1], statistic_formats.statistics_csv(collected.found)
    yield FILES[1][1], statistic_formats.statistics_json(collected.found)
    boards = collected.boards
    for name, form in BOARD_FILES.items():
        yield (
            name,
            leaderboard_formats.render_boards(boards, form, collected.titles),
        )


def _index(
    collected: Collected, claims: list[CheckedClaim], pairs: list[ListedPair]
) -> Iterator[Markup]:
    yield paragraph(
        "How well do detectors predict the crash of the next notebook cell, with and without runtime state?"
    )
    for judging in collected.material.judgings:
        if judging.is_main and (found := findings(collected, judging)):
            yield heading(title_of(judging), 3)
            yield points(found)
    yield heading("The paper's claims", 3)
    yield points(count_words(claims))
    said = headline(collected)
    yield heading("Agreement", 3)
    yield paragraph(
        f"{said}." if said else "No two annotators have labels in common."
    )
    yield heading("Underlying data", 3)
    known = benchmarks(collected.material.store.cursor())
    rows = [
        (
            row["title"],
            count(row["n_cases"]),
            count(row["n_instances"]),
            row["licence"] or "–",
            row["url"] or "–",
        )
        for row in as_rows(known)
    ]
    yield table(
        ("Benchmark", "Cases", "Notebooks", "Licence", "Address"),
        rows,
        texts=(0, 3, 4),
    )
    n_rows = sum(len(rows) for rows in collected.found.values())
    yield paragraph(
        f"{count(len(pairs))} pairs; {count(n_rows)} statistics with n, interval, test and method as files:"
    )
    yield links([*FILES, *((name, name) for name in BOARD_FILES)])
