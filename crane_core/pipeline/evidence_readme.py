"""The README.md of an evidence pack: what lies in it, how the tables are had from it, and what is not in it."""

from __future__ import annotations

from crane_core.pipeline.evidence import PackedSource

_HEAD = """# Evidence pack

Everything that the tables of a Crane Workbench rest on. `python -m crane_core --data DIR import THIS_FOLDER` into an
empty data folder rebuilds them; `manifest.json` lists every file with its sha256, and a pack of which anything was
changed is refused.

- `ledger/`: what detectors, judges and annotators produced, one JSON object per line, in the order of writing. Raw
  replies of models stand in it as they came; answers and labels are read from them when they are loaded.
- `sources/`: what was imported, each with a `source.json` that says from where and when.
- `tables/`: for people to read; nothing is read from here. `report.*` are the study's tables recomputed.
  `statistics.csv` and `statistics.json` hold every statistic that the pages show, one row each: value, unit, n,
  interval with its level and method, test, p, adjusted p with its family, seed; `statistics_*.tex` the same by kind.
"""


def readme(sources: tuple[PackedSource, ...], open_campaigns: tuple[str, ...]) -> str:
    """The text; `open_campaigns` are those whose annotators must not see the pack."""
    left_out = [source for source in sources if not source.is_included]
    parts = [_HEAD]
    if left_out:
        lines = "\n".join(f"- {source.name} ({source.kind}): sha256 `{source.sha256}`" for source in left_out)
        parts.append(
            f"\n## Not in the pack\n\nOthers publish these; `crane_core fetch` or `import` brings them.\n\n{lines}\n"
        )
    if open_campaigns:
        names = ", ".join(open_campaigns)
        parts.append(
            f"\n## Not for annotators\n\nThese campaigns are open, and the pack tells what they hide: {names}.\n"
        )
    return "".join(parts)
