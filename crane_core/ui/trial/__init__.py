"""The page that tries one notebook: choosing it, running it up to its target, verdicts, asking a model."""
