"""Any notebook, of no benchmark: will its next cell crash, what is its kernel's state, what would a model say."""
