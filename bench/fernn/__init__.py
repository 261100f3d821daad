"""How well and how fast FERNN learns: measured, and written as docs/fernn.md and bench/fernn.json."""
