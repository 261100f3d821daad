"""How fast and how well the exact search works, beside others."""
