"""LLM judges run over verdicts, and verdicts with the diagnoses that a chosen annotator judged."""
