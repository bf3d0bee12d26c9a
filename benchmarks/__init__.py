"""Speed against peers and limits: `make bench` runs every module here whose name starts with a letter. No tests."""
