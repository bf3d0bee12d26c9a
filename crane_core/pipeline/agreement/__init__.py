"""How far labels agree, between annotators and with LLM judges, and what a judge's labels change."""
