"""The scoring of pairs on one NVIDIA card: it says which may be within the bounds, the processor judges these again."""
