"""The claims of the paper's text beside the data: what each is about, its quantity, its verdict."""
