"""What libraries do with values, one family of rules per file; a file here that has RULES is one."""
