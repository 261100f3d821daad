"""How cost grows, and what a card is worth."""
