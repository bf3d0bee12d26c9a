"""`doctor`: what is installed, loaded, missing and contradictory, with what to do."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from crane_core.pipeline.examine import Examination, examine
from crane_core.pipeline.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, tell

NAME = "doctor"
HELP = "what is installed, loaded, missing, contradictory; what to do"
EXAMPLE = "python -m crane_core doctor"
SHOWN = 30


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="everything as JSON on stdout")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    store = prepare_or_read(folder, tell)
    found = examine(store, folder)
    store.close()
    give(json.dumps(asdict(found), indent=1, default=str) if chosen.json else _in_words(found, folder))
    return 0


def _in_words(found: Examination, folder: DataFolder) -> str:
    parts = [
        ("Installed", [f"{name} {version}" for name, version in found.versions.items()]),
        (f"Loaded in {folder.path}", [f"{n:,} {table.replace('_', ' ')}" for table, n in found.counts.items()]),
        ("Sources", [f"{s['source_id']}  {s['kind']}  {s['name']}, {s['n_problems']} problems" for s in found.sources]),
        ("To know", [f"{f.what}. {f.remedy}".rstrip() for f in found.findings]),
        ("Load problems", _limited([f"{p['kind']}: {p['path']}, {p['place']}: {p['reason']}" for p in found.problems])),
        (
            "Votes that the human outcomes contradict",
            _limited(
                [
                    f"{c['instance_id']}, {c['detector']}, {c['setting']}: {c['n_crash']} of "
                    f"{c['n_crash'] + c['n_safe']} runs say crash, people said {c['human']} ({c['why']})"
                    for c in found.contradictions
                ]
            ),
        ),
    ]
    return "\n".join("\n".join([title, *(f"  {line}" for line in lines or ["none"])]) for title, lines in parts)


def _limited(lines: list[str]) -> list[str]:
    rest = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"… and {rest:,} more: see `doctor --json` or the Data page"] if rest > 0 else [])
