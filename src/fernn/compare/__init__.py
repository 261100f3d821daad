"""Methods beside each other, on the same splits of the same data; and the paper's comparison, made again."""
