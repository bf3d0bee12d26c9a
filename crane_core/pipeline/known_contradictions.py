"""The printed cells that their own publication's data contradict. Knows the file that lists them, and nothing else."""

import pandas as pd

from crane_core.pipeline.places import embedded


def known_contradictions() -> pd.DataFrame:
    """table_id, row, column, printed, computed, reason: all text, one row per cell (data/published/SOURCE.md)."""
    return pd.read_csv(embedded()["published"] / "contradictions.csv", dtype=str, keep_default_na=False)
