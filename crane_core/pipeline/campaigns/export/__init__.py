"""A campaign as files for other tools, one form per file, and a campaign drawn again from them."""
