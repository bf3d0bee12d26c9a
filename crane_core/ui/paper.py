"""The paper whose study the app shows, and how it is cited."""

PAPER_TITLE = (
    "Runtime-Augmented LLMs for Crash Detection and Diagnosis in ML Notebooks"
)
PAPER_AUTHORS = (
    "Yiran Wang",
    "José Antonio Hernández López",
    "Ulf Nilsson",
    "Dániel Varró",
)
PAPER_YEAR = 2026
PAPER_ARXIV = "2602.18537"
PAPER_ADDRESS = f"https://arxiv.org/abs/{PAPER_ARXIV}"
PAPER_BIBTEX = f"""@misc{{wang{PAPER_YEAR}crane,
  title         = {{{PAPER_TITLE}}},
  author        = {{{" and ".join(PAPER_AUTHORS)}}},
  year          = {{{PAPER_YEAR}}},
  eprint        = {{{PAPER_ARXIV}}},
  archivePrefix = {{arXiv}}
}}"""
_FAMILY_NAME = PAPER_AUTHORS[0].rpartition(" ")[2]
PAPER_CITED = f"{_FAMILY_NAME} et al., {PAPER_YEAR}, arXiv:{PAPER_ARXIV}"
"""Within a caption."""
