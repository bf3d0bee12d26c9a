"""Speed, size and rates against peers and limits: each module whose name starts with a letter is one. No tests."""
