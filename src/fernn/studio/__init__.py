"""The studio: a local page on which rules are learned, looked at and changed. `serving.serve` runs it."""
