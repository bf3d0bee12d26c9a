"""Two label sets that are not the study's: with a fourth label, and two labels that the study does not have."""

from __future__ import annotations

import re
from pathlib import Path

from crane_core.annotation.label_check import labels_from_toml

DOCUMENT = Path(__file__).parents[1] / "docs" / "lead" / "campaign.md"
(FOUR_TEXT,) = re.findall(
    r"```toml\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL
)
TWO_TEXT = """
name = "sound or not"
scale = "nominal"

[[labels]]
code = "sound"
word = "sound"
sign = "+"
key = "y"
colour = "#0067a3"
colour_dark = "#62b5ea"
credit = 1.0

[[labels]]
code = "unsound"
word = "un<b>sound"
sign = "−"
key = "x"
colour = "#8d4a7c"
colour_dark = "#d69ac6"
credit = 0.0
reasons = ["invented"]

[[reasons]]
code = "invented"
words = "invented & wrong"
key = "1"
"""
FOUR, TWO = labels_from_toml(FOUR_TEXT), labels_from_toml(TWO_TEXT)
