"""LightGBM: only which arguments its functions, classes and methods take."""
