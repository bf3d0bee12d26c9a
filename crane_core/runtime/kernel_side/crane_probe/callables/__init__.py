"""What functions, methods, classes and modules say of themselves: signature, docstring, names they use."""
