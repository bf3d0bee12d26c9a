"""The bar beside the menu: search, the link of what is shown, and the glossary."""
