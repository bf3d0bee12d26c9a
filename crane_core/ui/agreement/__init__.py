"""The parts of the Agreement page, one per question."""
