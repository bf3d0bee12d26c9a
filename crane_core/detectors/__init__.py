"""Ways of predicting a crash of the target cell, one per file."""
