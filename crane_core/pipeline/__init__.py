"""The story, one verb per file: what happens between a question and its answer."""
