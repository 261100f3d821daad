"""Exact search: behaviours packed in machine words, every formula of a space scored, and what that proves."""
