"""How cost grows with the data."""
