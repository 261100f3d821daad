"""FERNN: networks whose trained weights are a formula, and the search that trains many of them."""
