"""Readers of files, one file a format; the others are parts that they share."""
