"""The paper whose study the app shows: authors, address and citation."""

from __future__ import annotations

TITLE = "Runtime-Augmented LLMs for Crash Detection and Diagnosis in ML Notebooks"
AUTHORS = ("Yiran Wang", "José Antonio Hernández López", "Ulf Nilsson", "Dániel Varró")
YEAR = 2026
ARXIV = "2602.18537"
ADDRESS = f"https://arxiv.org/abs/{ARXIV}"
BIBTEX = f"""@misc{{wang{YEAR}crane,
  title         = {{{TITLE}}},
  author        = {{{" and ".join(AUTHORS)}}},
  year          = {{{YEAR}}},
  eprint        = {{{ARXIV}}},
  archivePrefix = {{arXiv}}
}}"""
