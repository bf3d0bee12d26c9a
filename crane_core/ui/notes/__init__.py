"""Tags, comments and corrected diagnoses on the pages of cases."""
