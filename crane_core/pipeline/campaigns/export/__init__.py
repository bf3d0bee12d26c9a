"""A campaign as files for other tools (a file here that has FORM is one way), and a campaign drawn again from them."""
