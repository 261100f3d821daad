"""How fast fernn is beside others: `python -m bench` measures all and writes docs/benchmarks.md."""
