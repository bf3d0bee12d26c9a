"""What people write about cases, answers and labels: tags, comments with mentions, corrected diagnoses."""
