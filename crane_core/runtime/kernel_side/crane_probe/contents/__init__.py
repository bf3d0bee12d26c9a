"""What arrays, sequences, dicts and datasets of any library hold: range, kinds, samples."""
