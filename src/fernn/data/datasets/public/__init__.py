"""Readers of single public data sets in the formats in which they are published."""
