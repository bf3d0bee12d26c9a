"""The README.md of an evidence pack: what lies in it, how the tables are had from it, and what is not in it."""

from crane_core.pipeline.export.evidence import PackedSource

_HEAD = """# Evidence pack

All data behind the tables of a Crane Workbench. `python -m crane_core --data DIR import THIS_FOLDER` into an
empty data folder rebuilds them; `manifest.json` lists every file with its sha256, and a changed
pack is refused.

- `ledger/`: what detectors, judges and annotators produced, one JSON object per line, in the order of writing. It holds
  the raw replies of models; answers and labels are read from them when they are loaded.
- `sources/`: imported files, each with a `source.json` that says from where and when.
- `tables/`: for people to read; the program does not read them. `report.*` are the study's tables recomputed.
  `statistics.csv` and `statistics.json` hold every statistic that the pages show, one row each: value, unit, n,
  interval with its level and method, test, p, adjusted p with its family, outcome, seed; `statistics_*.tex` the same
  by kind. Outcome is what the pages say of a comparison: gain, loss, smaller than N points, no evidence, not tested or
  nothing to compare. bound is the smallest effect of interest, p_smaller the adjusted p that the difference is smaller.
  They are those of one study or run at a time: where runs stand under "Beside it" on Results, the page adjusts p for
  all rows that it shows together, and such combinations are not exported.
"""


def readme(
    sources: tuple[PackedSource, ...], open_campaigns: tuple[str, ...]
) -> str:
    """The text; `open_campaigns` are those whose annotators must not see the pack."""
    left_out = [source for source in sources if not source.is_included]
    parts = [_HEAD]
    if left_out:
        lines = "\n".join(
            f"- {source.name} ({source.kind}): sha256 `{source.sha256}`"
            for source in left_out
        )
        parts.append(
            "\n## Not in the pack\n\nThese are published elsewhere; get them with `crane_core fetch` or `import`."
            f"\n\n{lines}\n"
        )
    if open_campaigns:
        names = ", ".join(open_campaigns)
        parts.append(
            f"\n## Not for annotators\n\nThese campaigns are open, and the pack reveals what they hide: {names}.\n"
        )
    return "".join(parts)
